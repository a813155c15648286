// Starts and ends programs of tools. The one place that starts processes.
//
// own-group: each program leads a process group, so that what it starts ends with it.
// in-stages: its input is closed, a second later the group gets SIGTERM, and another second later SIGKILL. What stays in the group after its leader has ended goes
//   the same way, so no process of a server is left.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pipes } from './stdio-transport.ts';

/** How long each stage of an end may take. */
export const STAGE_MS = 1000;
const LOOK_MS = 20;

/** A program to start. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** A program that runs. */
export class ServerProcess {
  readonly pid: number;
  readonly stderr: NonNullable<ChildProcess['stderr']>;
  readonly pipes: Pipes;
  /** How it ended, as a part of a sentence: `ended with code 1`. */
  readonly ended: Promise<string>;
  hasEnded = false;
  #ending: Promise<void> | undefined;

  private constructor(child: ChildProcess, pid: number) {
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null || stderr === null) throw new Error('A program without pipes was started.');
    this.pid = pid;
    this.pipes = { stdin, stdout };
    this.stderr = stderr;
    this.ended = once(child, 'exit').then(([code, signal]) => {
      this.hasEnded = true;
      return signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
    });
    void this.ended.then(() => this.end()); // in-stages: the rest of the group
  }

  /** Rejects with the error of the system, for instance where there is no such command. */
  static async start({ command, args, env, cwd }: Program): Promise<ServerProcess> {
    const child = spawn(command, [...args], { cwd, env: { ...env }, stdio: 'pipe', detached: true, shell: false, windowsHide: true });
    await once(child, 'spawn');
    return new ServerProcess(child, child.pid ?? 0);
  }

  /** Resolves once no process of the group is left. */
  end(): Promise<void> {
    this.#ending ??= this.#endInStages();
    return this.#ending;
  }

  async #endInStages(): Promise<void> {
    this.pipes.stdin.end();
    await Promise.race([this.ended, timeOf(STAGE_MS)]);
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (!signalGroup(this.pid, signal) && this.hasEnded) return;
      if (await this.#isGoneWithin(STAGE_MS)) return;
    }
  }

  async #isGoneWithin(ms: number): Promise<boolean> {
    for (const until = performance.now() + ms; performance.now() < until; ) {
      if (this.hasEnded && !signalGroup(this.pid, 0)) return true;
      await delay(LOOK_MS);
    }
    return false;
  }
}

function timeOf(ms: number): Promise<void> {
  return delay(ms, undefined, { ref: false });
}

/** False if no process of the group is left. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When a process was started, in words that are the same each time; undefined if it does not run. */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux')
    return new Promise((resolve) => execFile('ps', ['-o', 'lstart=', '-p', String(pid)], (_, out) => resolve(out.trim() || undefined)));
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')')).split(' ')[20];
  } catch {
    return undefined; // it has ended
  }
}
