// The lock of a workspace: one server at a time. `<workspace>/.lock` names its process, start time and address.
//
// whole-lock: The lock appears with its whole content, by a hard link that fails when there is a lock already.
// stale-lock: A lock is stale when its process is gone, when another process has its number now, or when it can't be read and is not new.
// claimed-replacement: Only the holder of the claim on a stale lock may replace that lock, and only after it has seen the lock again under the
//   claim. The claim is a lock itself, named after the file that it is about, so a process that dies in between blocks no other.
// own-lock: A lock is rewritten and removed only by the process that it names.
// kept-lock: A deleted lock is put back as long as its process lives, so that no second server starts. A lock that names a process which began later
//   belongs to that process, even if it does not seem to live: a container does not see the processes of other containers.
import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, open, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import { undefinedFor } from '../../base/undefined-for.ts';
import { BlockhouseError } from '../../errors.ts';
import { VERSION } from '../../version.ts';
import { ensureFolder, replaceFile } from './atomic-file.ts';
import { holderIn, isAlive, type LockHolder, processStart } from './lock-holder.ts';
import { READ_SAFELY } from './regular-file.ts';

export type { LockHolder } from './lock-holder.ts';

const NAME = '.lock';
/** A lock that can't be read may still be in the making, on a file system without hard links. */
const SETTLED_MS = 3000;
/** Each try ends with the lock, with its holder, or because another process was quicker. */
const MAX_TRIES = 50;
const PAUSE_MS = 20;
/** Claims on claims. For each level, a process must have died within the same few microseconds. */
const MAX_CLAIMS = 4;
const MAX_BYTES = 16 * 1024;
const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** What a person does whose server finds the workspace taken. */
const CURE = 'stop that server, or choose another folder with --workspace';

interface Found {
  readonly text: string;
  /** Differs from that of another file with the same name; a rename keeps it. */
  readonly identity: string;
  readonly writtenAt: number;
}

/** The lock that this process holds. */
export class WorkspaceLock {
  readonly #workspace: string;
  #holder: LockHolder;
  #released = false;
  readonly #queue = new PQueue({ concurrency: 1 });

  private constructor(workspace: string, holder: LockHolder) {
    this.#workspace = workspace;
    this.#holder = holder;
  }

  /**
   * Takes the workspace for this process, and makes its folder. Throws WORKSPACE_BUSY, which names the holder, and the system's own
   * error where the folder can't be used. `now` in epoch milliseconds.
   */
  static async acquire(
    workspace: string,
    { now = Date.now, cure = CURE }: { readonly now?: () => number; readonly cure?: string } = {},
  ): Promise<WorkspaceLock> {
    const holder = await thisProcess(now);
    await ensureFolder(workspace);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const outcome = await take(workspace, NAME, holder, now, 0);
      if (outcome === 'taken') return new WorkspaceLock(workspace, holder);
      if (outcome !== 'moved') throw busy(workspace, outcome, cure);
      await delay(PAUSE_MS);
    }
    throw new BlockhouseError('WORKSPACE_BUSY', `The lock of the workspace ${workspace} is being written by another process; try again in a few seconds.`);
  }

  /** What the lock says of this process. */
  get holder(): LockHolder {
    return this.#holder;
  }

  /** Writes the server's address into the lock. Throws WORKSPACE_BUSY when the lock is no longer ours. */
  announce(url: string): Promise<void> {
    return this.#queue.add(async () => {
      if (!(await this.#isOurs())) {
        throw new BlockhouseError('WORKSPACE_BUSY', `This server has lost the lock of the workspace ${this.#workspace}; start it again.`);
      }
      const holder = { ...this.#holder, url };
      await replaceFile(join(this.#workspace, NAME), textOf(holder));
      this.#holder = holder;
    });
  }

  /** Puts the lock back when it is gone or outdated. Resolves with the other holder, if it names one. Throws the system's own error. */
  async keep(): Promise<LockHolder | undefined> {
    let other: LockHolder | undefined;
    await this.#queue.add(async () => {
      if (this.#released) return;
      const path = join(this.#workspace, NAME);
      const found = await find(path);
      if (found?.text === textOf(this.#holder)) return;
      const named = found === undefined ? undefined : holderIn(found.text);
      if (named !== undefined && isSame(named, this.#holder)) {
        await replaceFile(path, textOf(this.#holder)); // an older copy of ours, or one that somebody has edited
      } else if (named !== undefined && named.startedAt > this.#holder.startedAt) {
        other = named;
      } else {
        const outcome = await take(this.#workspace, NAME, this.#holder, Date.now, 0);
        if (typeof outcome !== 'string') other = outcome;
      }
    });
    return other;
  }

  /** Removes the lock. Does nothing if the lock is no longer ours, or on a second call. */
  release(): Promise<void> {
    return this.#queue.add(async () => {
      if (!(await this.#isOurs())) return;
      await unlink(join(this.#workspace, NAME));
      this.#released = true;
    });
  }

  async #isOurs(): Promise<boolean> {
    return !this.#released && (await find(join(this.#workspace, NAME)))?.text === textOf(this.#holder);
  }
}

function isSame(one: LockHolder, other: LockHolder): boolean {
  return one.pid === other.pid && one.startedAt === other.startedAt && one.processStart === other.processStart;
}

/** The process that holds the workspace; undefined if there is no lock, if it is damaged, or if its process is gone. */
export async function readLock(workspace: string): Promise<LockHolder | undefined> {
  const found = await find(join(workspace, NAME));
  const holder = found === undefined ? undefined : holderIn(found.text);
  return holder !== undefined && (await isAlive(holder)) ? holder : undefined;
}

/** Does `work` while no other process of this machine does work with the lock `name` in `folder`. Waits without end for a process that lives. Throws the system's own error. */
export async function inTurn<T>(folder: string, name: string, work: () => Promise<T>): Promise<T> {
  const holder = await thisProcess(Date.now);
  while ((await take(folder, name, holder, Date.now, 0)) !== 'taken') await delay(PAUSE_MS);
  try {
    return await work();
  } finally {
    const path = join(folder, name);
    if ((await find(path))?.text === textOf(holder)) await remove(path); // own-lock
  }
}

async function thisProcess(now: () => number): Promise<LockHolder> {
  return { pid: process.pid, startedAt: new Date(now()).toISOString(), processStart: await processStart(process.pid), url: null, version: VERSION };
}

/** 'moved': another process did something in between, so look again. Otherwise the holder. */
type Outcome = 'taken' | 'moved' | LockHolder;

/** One try for the lock `name`, or for the claim of that name. */
async function take(folder: string, name: string, holder: LockHolder, now: () => number, claims: number): Promise<Outcome> {
  const path = join(folder, name);
  const temporary = join(folder, temporaryName(randomBytes(8).toString('hex')));
  try {
    await writeFile(temporary, textOf(holder), { mode: 0o600, flag: 'wx', flush: true });
    if (await linkOnce(temporary, path)) return 'taken'; // whole-lock
    const found = await find(path);
    if (found === undefined) return 'moved';
    const other = holderIn(found.text);
    if (other !== undefined && (await isAlive(other))) return other;
    const isNew = Math.abs(now() - found.writtenAt) < SETTLED_MS;
    if ((other === undefined && isNew) || claims >= MAX_CLAIMS) return 'moved'; // stale-lock
    const claim = temporaryName(createHash('sha256').update(`${name}:${found.identity}`).digest('hex').slice(0, 16));
    if ((await take(folder, claim, holder, now, claims + 1)) !== 'taken') return 'moved';
    return await replaceStale(path, found, temporary, join(folder, claim));
  } finally {
    await remove(temporary);
  }
}

/** claimed-replacement: `claim` is ours. */
async function replaceStale(path: string, stale: Found, temporary: string, claim: string): Promise<Outcome> {
  try {
    if ((await find(path))?.identity !== stale.identity) return 'moved';
    await rename(temporary, path);
    return 'taken';
  } finally {
    await remove(claim);
  }
}

/** False when there is a file at `path`, or `temporary` was swept by a server that has the lock now. */
async function linkOnce(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (!NO_LINKS.has(error.code)) throw error;
      // Without hard links, too, only one process makes the file; its content comes a moment later, and stale-lock waits for it.
      return copyFile(temporary, path, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    return undefinedFor('EEXIST', 'ENOENT')(error as NodeJS.ErrnoException) ?? false;
  }
}

/** Undefined when there is no such file. Throws for anything that is not a regular file: this program did not make it, so a person decides. */
async function find(path: string): Promise<Found | undefined> {
  const file = await open(path, READ_SAFELY).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ELOOP' || error.code === 'ENXIO') throw notALock(path, error);
    return undefinedFor('ENOENT')(error);
  });
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw notALock(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    const text = buffer.toString('utf8', 0, bytesRead);
    return { text, identity: `${stats.dev}:${stats.ino}:${stats.mtimeNs}:${stats.size}:${text}`, writtenAt: Number(stats.mtimeMs) };
  } finally {
    await file.close();
  }
}

function notALock(path: string, cause?: unknown): Error {
  return new Error(`${path} is not a regular file, so it can't be used as the lock of the workspace. Remove it and start again.`, { cause });
}

async function remove(path: string): Promise<void> {
  await unlink(path).catch(undefinedFor('ENOENT'));
}

/** Files with such names are swept when a crash has left one behind. */
function temporaryName(hex: string): string {
  return `.${NAME}.${hex}.tmp`;
}

function textOf(holder: LockHolder): string {
  return `${JSON.stringify(holder)}\n`;
}

function busy(workspace: string, { pid, startedAt, url }: LockHolder, cure: string): BlockhouseError {
  const at = url === null ? '' : ` at ${url}`;
  return new BlockhouseError('WORKSPACE_BUSY', `The workspace ${workspace} is in use by process ${pid} since ${startedAt}${at}; ${cure}.`);
}
