// Ends what a killed server of ours has left: the processes of its tools. `.servers.json` in the workspace names the processes that run, and each of them has the mark
// of the workspace in its environment, which what it starts inherits.
//
// marked-only: on Linux a process is ended if it is this user's and has the mark. Elsewhere a group is ended if its leader has the number and the start time that are
//   written down. A foreign process that has got the number of an old one lives.
// before-first: this is done before the first process is started, and so before a call is repeated: the old process must not meet the repetition.
import { randomBytes } from 'node:crypto';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isObject, tryParseJson } from '../../core/base/json.ts';
import { signalGroup, startTimeOf } from './supervisor.ts';

/** The variable that has the mark. */
export const MARK = 'BLOCKHOUSE_SERVER';
/** The variable that tells one process of a server, and what it starts, from all others. */
export const OWN_MARK = 'BLOCKHOUSE_SERVER_PROCESS';
const FILE = '.servers.json';
/** How long what is left may take to end by itself. */
const GRACE_MS = 1000;

interface Recorded {
  readonly server: string;
  readonly pid: number;
  readonly startedAt: string;
}

/** The processes of one workspace. */
export class RunningBook {
  readonly #path: string;
  readonly #running = new Map<number, Recorded>();
  #mark = '';
  #opening: Promise<string> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(workspace: string) {
    this.#path = join(workspace, FILE);
  }

  /** Ends what is left, once, and resolves to the mark of the workspace (before-first). */
  open(): Promise<string> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined; // the next call tries again
      throw error;
    });
    return this.#opening;
  }

  async #open(): Promise<string> {
    const { mark, servers } = readBook(await textOf(this.#path));
    if (mark !== undefined) await endAll(() => leftOf(mark, servers));
    this.#mark = mark ?? randomBytes(16).toString('hex');
    await this.#write();
    return this.#mark;
  }

  async add(server: string, pid: number): Promise<void> {
    this.#running.set(pid, { server, pid, startedAt: (await startTimeOf(pid)) ?? '' });
    await this.#write();
  }

  async remove(pid: number): Promise<void> {
    this.#running.delete(pid);
    await this.#write();
  }

  /** One write after the other. */
  #write(): Promise<void> {
    const text = JSON.stringify({ mark: this.#mark, servers: [...this.#running.values()] });
    this.#writing = this.#writing
      .catch(() => undefined) // it was told to who asked for it
      .then(async () => {
        await writeFile(`${this.#path}.tmp`, text, { mode: 0o600 });
        await rename(`${this.#path}.tmp`, this.#path);
      });
    return this.#writing;
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function readBook(text: string): { readonly mark: string | undefined; readonly servers: readonly Recorded[] } {
  const book = tryParseJson(text);
  if (!isObject(book)) return { mark: undefined, servers: [] };
  const { mark, servers } = book;
  const isMark = typeof mark === 'string' && /^[0-9a-f]{32}$/.test(mark);
  const isRecorded = (one: unknown): one is Recorded =>
    isObject(one) && Number.isSafeInteger(one['pid']) && Number(one['pid']) > 1 && typeof one['startedAt'] === 'string' && one['startedAt'] !== '';
  return { mark: isMark ? mark : undefined, servers: Array.isArray(servers) ? servers.filter(isRecorded) : [] };
}

/** What signals one process or one group that is left. */
type Left = (signal: NodeJS.Signals) => void;

/** Ends what a process of a server has started outside of its group, as browsers are. Linux alone: elsewhere nobody can be asked for the variables of a process. */
export async function endStarted(ownMark: string): Promise<void> {
  if (process.platform !== 'linux') return;
  await endAll(async () => (await markedPids(ownMark, OWN_MARK)).map((pid) => (signal) => void signalProcess(pid, signal)));
}

/** First asks, then kills. */
async function endAll(look: () => Promise<readonly Left[]>): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const all = await look();
    if (all.length === 0) return;
    for (const left of all) left(signal);
    for (const until = performance.now() + GRACE_MS; performance.now() < until; await delay(20)) if ((await look()).length === 0) return;
  }
}

/** marked-only. */
async function leftOf(mark: string, servers: readonly Recorded[]): Promise<readonly Left[]> {
  if (process.platform === 'linux') return (await markedPids(mark)).map((pid) => (signal) => void signalProcess(pid, signal));
  const same = await Promise.all(servers.map(async ({ pid, startedAt }) => (await startTimeOf(pid)) === startedAt));
  return servers
    .filter((_, index) => same[index])
    .map(
      ({ pid }) =>
        (signal) =>
          void signalGroup(pid, signal),
    );
}

async function markedPids(mark: string, variable = MARK): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const wanted = `${variable}=${mark}\0`;
  const marked = await Promise.all(pids.map(async (pid) => (await environmentOf(pid)).includes(wanted)));
  return pids.filter((_, index) => marked[index]).map(Number);
}

/** Empty for a process that has ended, or is another user's. */
async function environmentOf(pid: string): Promise<string> {
  try {
    return `${await readFile(`/proc/${pid}/environ`, 'latin1')}\0`;
  } catch {
    return '';
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // it has ended meanwhile
  }
}
