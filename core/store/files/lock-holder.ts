// The process that a lock names, and whether it still lives.
import { readFile } from 'node:fs/promises';
import { isObject, tryParseJson } from '../../base/json.ts';
import { undefinedFor } from '../../base/undefined-for.ts';

/** The process that holds a lock. */
export interface LockHolder {
  readonly pid: number;
  /** ISO 8601, UTC, with milliseconds. */
  readonly startedAt: string;
  /** When the system started the process, in the system's own unit: a later process with the same number has another one. Null when unknown. */
  readonly processStart: string | null;
  /** Where the server answers; null while it starts. */
  readonly url: string | null;
  readonly version: string;
}

/** The holder that the text of a lock names; undefined when the text is damaged. */
export function holderIn(text: string): LockHolder | undefined {
  const value = tryParseJson(text);
  if (!isObject(value)) return undefined;
  const { pid, startedAt, processStart: started, url, version } = value;
  // 0 and negative numbers mean groups of processes to the system.
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (typeof startedAt !== 'string' || typeof version !== 'string') return undefined;
  if ((typeof started !== 'string' && started !== null) || (typeof url !== 'string' && url !== null)) return undefined;
  return { pid, startedAt, processStart: started, url, version };
}

/** False when the process is gone, or another one has its number now. */
export async function isAlive(holder: LockHolder): Promise<boolean> {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it lives and belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const stat = await statOf(holder.pid);
  if (stat === undefined) return true;
  return stat.state !== 'Z' && (holder.processStart === null || stat.start === holder.processStart);
}

/** When the system started a process; null on a system without /proc. */
export async function processStart(pid: number): Promise<string | null> {
  return (await statOf(pid))?.start ?? null;
}

interface ProcessStat {
  /** 'Z': it has ended, and its parent has not read the exit code yet. */
  readonly state: string;
  readonly start: string;
}

/** Fields 3 and 22 of /proc/<pid>/stat; undefined where there is none. Field 2, the name, may hold spaces and brackets. */
async function statOf(pid: number): Promise<ProcessStat | undefined> {
  // ESRCH: it ended while the file was being read.
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(undefinedFor('ENOENT', 'ESRCH', 'EACCES', 'EPERM'));
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, start] = [fields[0], fields[19]];
  return state === undefined || start === undefined ? undefined : { state, start };
}
