// The log of the server as files in the workspace, beside the one on stderr: it can be read later, and after the server has ended.
//
// lock-first: nothing is written before `open`, which is called once the server holds the workspace.
// few-writes: lines are written four times a second, because a write for each would cost more than the requests that they tell of.
import { join } from 'node:path';
import { type DestinationStream, pino } from 'pino';
import { isObject, tryParseJson } from '../../core/base/json.ts';
import { BlockLog, type LineLevel, type LogFields, rounded } from '../../core/index.ts';

/** At most 50 MiB, which is some hundred thousand requests. */
const LIMITS = { maxFileBytes: 5 * 1024 * 1024, maxFiles: 10 };
const WRITE_EVERY_MS = 250;

/** The folder of the server's log files. */
export function serverLogs(workspace: string): string {
  return join(workspace, 'logs');
}

/** Takes the lines of pino. A failure loses lines and is given to `onFault`, once until a write succeeds again. */
export class ServerLog implements DestinationStream {
  readonly #log: BlockLog;
  #waiting: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isOpen = false;
  /** The time of the line that is being written. */
  #time = Date.now();

  constructor(workspace: string, onFault: (error: Error) => void) {
    this.#log = new BlockLog(serverLogs(workspace), { limits: () => LIMITS, onFault, now: () => this.#time });
    this.#log.open('server');
  }

  write(line: string): void {
    this.#waiting.push(line);
    if (this.#isOpen) this.#timer ??= setTimeout(() => this.#drain(), WRITE_EVERY_MS).unref();
  }

  /** lock-first. */
  open(): void {
    this.#isOpen = true;
    this.#drain();
  }

  /** Writes what waits, unless the log was never opened. */
  async close(): Promise<void> {
    if (this.#isOpen) this.#drain();
    await this.#log.close();
  }

  #drain(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#waiting;
    this.#waiting = [];
    for (const line of lines) this.#put(line);
  }

  #put(line: string): void {
    const record = tryParseJson(line);
    if (!isObject(record)) return;
    const { level, time, msg, pid: _pid, ...fields } = record;
    this.#time = Number(time);
    this.#log.write(levelOf(Number(level)), String(msg ?? ''), Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, flat(value)])));
  }
}

/** Takes the lines of pino in a worker: another process writes the files. */
export class SentLog implements DestinationStream {
  readonly #send: (lines: readonly string[]) => void;
  #waiting: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (lines: readonly string[]) => void) {
    this.#send = send;
  }

  write(line: string): void {
    this.#waiting.push(line);
    this.#timer ??= setTimeout(() => this.close(), WRITE_EVERY_MS).unref(); // few-writes
  }

  /** Sends what waits. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length > 0) this.#send(this.#waiting.splice(0));
  }
}

function levelOf(level: number): LineLevel {
  const { info, warn, error } = pino.levels.values;
  if (level >= (error ?? 50)) return 'ERROR';
  if (level >= (warn ?? 40)) return 'WARN';
  return level >= (info ?? 30) ? 'INFO' : 'DEBUG';
}

/** An error is written with its stack, any other object as JSON. */
function flat(value: unknown): LogFields[string] {
  if (typeof value === 'object' && value !== null) return 'stack' in value && typeof value.stack === 'string' ? value.stack : JSON.stringify(value);
  return rounded(value) as LogFields[string];
}
