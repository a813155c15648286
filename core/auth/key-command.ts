// Keys that a program of the operator's prints: tokens that expire. The program runs without a shell, its first line is the key.
//
// one-run: of several calls that need a key at the same time, one runs the program.
// seldom: a refusal runs it again once in ten seconds at most, and a failure holds for a second. One client can provoke both, and all others wait for the program.
// silent: what the program prints is secret, errors included, so no log line and no message repeats it.

import { BlockhouseError } from '../errors.ts';
import { SECRET_PATTERN } from '../schemas/chat.ts';
import type { Entry } from './entry.ts';

const DEFAULT_TTL_SECONDS = 300;
const RUN_MS = 10_000;
/** seldom. */
const REFUSED_AGAIN_MS = 10_000;
const FAILED_MS = 1000;
const MAX_OUTPUT_BYTES = 16 * 1024;
const KEY = new RegExp(SECRET_PATTERN);

interface Known {
  readonly key: string;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** What the programs of entries have printed last. Calls may still be under way with a key that is not used any more. */
const printed = new WeakMap<Entry, readonly string[]>();
const MAX_PRINTED = 8;

/** The keys that the program of an entry has printed in this process, the newest first, for what must not show them. */
export function printedKeys(entry: Entry): readonly string[] {
  return printed.get(entry) ?? [];
}

/** The keys of all commands, by entry. */
export class KeyCommands {
  readonly #now: () => number;
  readonly #known = new WeakMap<Entry, Known>();
  readonly #runs = new WeakMap<Entry, Promise<void>>();
  /** Monotonic milliseconds. */
  readonly #refusedAt = new WeakMap<Entry, number>();
  readonly #failed = new WeakMap<Entry, { readonly error: unknown; readonly until: number }>();

  /** `now` in monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The key, if it is known and new enough; undefined for an entry without a command. */
  known(entry: Entry | undefined): string | undefined {
    if (entry?.fields.keyCommand === undefined) return undefined;
    const known = this.#known.get(entry);
    return known !== undefined && known.until > this.#now() ? known.key : undefined;
  }

  /** Resolves when the key is known; undefined if nothing must be run. Rejects with ADAPTER_NOT_CONFIGURED. */
  ready(name: string, entry: Entry | undefined): Promise<void> | undefined {
    if (entry?.fields.keyCommand === undefined || this.known(entry) !== undefined) return undefined;
    const running = this.#runs.get(entry);
    if (running !== undefined) return running; // one-run
    const failed = this.#failed.get(entry);
    if (failed !== undefined && failed.until > this.#now()) return Promise.reject(failed.error);
    const run = this.#run(name, entry, entry.fields.keyCommand)
      .catch((error: unknown) => {
        this.#failed.set(entry, { error, until: this.#now() + FAILED_MS });
        throw error;
      })
      .finally(() => this.#runs.delete(entry));
    this.#runs.set(entry, run);
    return run;
  }

  /** The upstream has refused the key: the next call runs the command again, unless that was done a moment ago. */
  refused(entry: Entry | undefined): void {
    if (entry?.fields.keyCommand === undefined || this.#now() - (this.#refusedAt.get(entry) ?? Number.NEGATIVE_INFINITY) < REFUSED_AGAIN_MS) return; // seldom
    this.#refusedAt.set(entry, this.#now());
    this.#known.delete(entry);
  }

  async #run(name: string, entry: Entry, [program = '', ...args]: readonly string[]): Promise<void> {
    const { execFile } = await import('node:child_process');
    const output = await new Promise<string>((resolve, reject) => {
      const options = { timeout: RUN_MS, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true, encoding: 'utf8' } as const;
      const child = execFile(program, args, options, (error, stdout) => (error === null ? resolve(stdout) : reject(failure(name, error))));
      child.stdin?.end();
    });
    const key = (output.split('\n', 1)[0] ?? '').trim();
    if (!KEY.test(key)) throw failed(name, 'printed no key in its first line');
    printed.set(entry, [...new Set([key, ...printedKeys(entry)])].slice(0, MAX_PRINTED));
    this.#known.set(entry, { key, until: this.#now() + (entry.fields.keyTtlSeconds ?? DEFAULT_TTL_SECONDS) * 1000 });
  }
}

/** silent. */
function failure(name: string, error: { readonly code?: string | number | null; readonly killed?: boolean }): BlockhouseError {
  if (error.killed === true) return failed(name, `did not end within ${RUN_MS / 1000} s`);
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return failed(name, `printed more than ${MAX_OUTPUT_BYTES} bytes`);
  return failed(name, typeof error.code === 'number' ? `ended with the code ${error.code}` : `could not be run (${error.code ?? 'it was killed'})`);
}

function failed(name: string, what: string): BlockhouseError {
  return new BlockhouseError('ADAPTER_NOT_CONFIGURED', `The keyCommand of ${name} in auth.json ${what}.`);
}
