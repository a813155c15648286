// Makes the n-th system call of a kind fail in a running server: strace attached to it, for as long as one round of work takes.
//
// The server has one thread for its files (UV_THREADPOOL_SIZE=1), so that their calls come in one order. That thread also wakes the main one by
// writing eight bytes to an event descriptor; a fault there is none of a file and ends any Node process, so writes are counted by what they go to.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** One system call: the `index`-th of this name (from 1) that `thread` made. */
export interface SeenCall {
  readonly thread: number;
  readonly name: string;
  readonly index: number;
  /** As strace shows it, with the paths of descriptors. */
  readonly line: string;
}

/** `action` as strace takes it: `error=EIO`, `retval=0`, `signal=SIGKILL`. */
export interface Fault {
  readonly call: string;
  readonly action: string;
  readonly index: number;
  /** Only this thread; all when left out, each with a count of its own. */
  readonly thread?: number;
}

export const CALLS = ['openat', 'write', 'fsync', 'rename', 'mkdir', 'unlink'] as const;

/** Only for hangs. */
const END_LIMIT_MS = 5000;

export function hasStrace(): boolean {
  return process.platform === 'linux' && spawnSync('strace', ['-V']).status === 0;
}

export class Injector {
  readonly #child: ChildProcess;
  readonly #log: string;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess, log: string) {
    this.#child = child;
    this.#log = log;
    this.#ended = once(child, 'close');
  }

  /** Resolves once it is attached. Without a fault it only looks. */
  static async attach(pid: number, log: string, fault?: Fault): Promise<Injector> {
    const what =
      fault === undefined ? ['-e', `trace=${CALLS.join()}`] : ['-e', `trace=${fault.call}`, '-e', `inject=${fault.call}:${fault.action}:when=${fault.index}`];
    const whom = fault?.thread === undefined ? ['-f', '-p', String(pid)] : ['-p', String(fault.thread)];
    const child = spawn('strace', ['-y', '-s', '16', '-o', log, ...what, ...whom], { stdio: ['ignore', 'ignore', 'pipe'] });
    const injector = new Injector(child, log);
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('close', () => process.off('exit', kill));
    let text = '';
    for await (const bytes of child.stderr as AsyncIterable<Buffer>) {
      text += bytes.toString();
      if (/attached/.test(text)) break;
      if (/ptrace|Cannot|invalid/i.test(text)) throw new Error(`strace: ${text.trim()}`);
    }
    child.stderr?.resume();
    return injector;
  }

  /** What was seen, in the order of each thread; `injected` are the calls that were made to fail. */
  async detach(isGone: boolean): Promise<{ readonly calls: readonly SeenCall[]; readonly injected: readonly string[] }> {
    // It ends with the server by itself; a signal just then may find it waiting for a thread that is dead.
    if (!isGone) this.#child.kill('SIGINT');
    const limit = new AbortController();
    await Promise.race([this.#ended, delay(END_LIMIT_MS, undefined, { signal: limit.signal }).catch(() => undefined)]);
    limit.abort();
    this.#child.kill('SIGKILL');
    await this.#ended;
    const lines = readFileSync(this.#log, 'utf8').split('\n');
    rmSync(this.#log);
    return { calls: callsOf(lines), injected: lines.filter((line) => line.includes('(INJECTED)')) };
  }
}

function callsOf(lines: readonly string[]): SeenCall[] {
  const counts = new Map<string, number>();
  return lines.flatMap((line) => {
    const [, thread, name] = /^(\d+)\s+(\w+)\(/.exec(line) ?? [];
    if (thread === undefined || name === undefined) return [];
    const index = (counts.get(`${thread} ${name}`) ?? 0) + 1;
    counts.set(`${thread} ${name}`, index);
    return [{ thread: Number(thread), name, index, line }];
  });
}
