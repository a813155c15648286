// What the operating system and the event loop say of a server that is a process of its own.
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './until.ts';

const MIB = 1024 * 1024;

/** Where a server with this home tells its stalls: outside, for it is no writing of the server's own. */
export const stallFileOf = (home: string): string => `${home}.stall.json`;

/** For a server whose stalls shall be watched. */
export function stallEnvironment(home: string): Record<string, string> {
  return { NODE_OPTIONS: `--require ${join(import.meta.dirname, 'stall-watch.cjs')}`, STALL_FILE: stallFileOf(home) };
}

/** How a server is asked for its stalls. */
export interface StallQuestion {
  readonly limitMs?: number;
  /** False leaves its garbage where it is: to collect it takes 50 ms of processor time. */
  readonly collects?: boolean;
}

/** The longest time that work held up the event loop since the last call, in milliseconds; undefined for a server that has ended. Linux only, elsewhere 0. */
export async function worstStallMs(child: ChildProcess, home: string, { limitMs, collects = true }: StallQuestion = {}): Promise<number | undefined> {
  if (process.platform !== 'linux') return 0;
  const file = stallFileOf(home);
  rmSync(file, { force: true });
  if (collects) writeFileSync(`${file}.collect`, '');
  child.kill('SIGUSR2');
  let text = '';
  const isTold = (): boolean => {
    text = readIfThere(file);
    return text.endsWith('}') || child.exitCode !== null || child.signalCode !== null;
  };
  await until('the server has told its stalls', isTold, limitMs);
  return text.endsWith('}') ? (JSON.parse(text) as { worstMs: number }).worstMs : undefined;
}

/** Sockets, pipes and files of a process; Linux only, elsewhere 0. */
export function openFiles(pid: number): number {
  if (process.platform !== 'linux') return 0;
  return linksBelow(`/proc/${pid}/fd`).length;
}

/** What the links in a folder of the system name: `socket:[12345]` for a descriptor. Linux only. */
export function linksBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      return []; // closed since it was listed
    }
  });
}

/** Resident memory of a process; Linux only, elsewhere 0. */
export const rssMiB = (pid: number): number => statusMiB(pid, 'VmRSS');

/** The most resident memory since the start, or since `forgetPeak`; Linux only, elsewhere 0. */
export const peakRssMiB = (pid: number): number => statusMiB(pid, 'VmHWM');

function statusMiB(pid: number, name: string): number {
  if (process.platform !== 'linux') return 0;
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return (Number(kib) * 1024) / MIB;
}

export function forgetPeak(pid: number): void {
  if (process.platform === 'linux') writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** The text of a file; empty where there is none. */
export function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
