// One JSON file with one writer: read again when it has changed on disk, written by `replaceFile`.
//
// J1 Changes are functions. They are applied in their order to the newest content, at the time of writing; those that wait together
//    become one write. A person's edit in the meantime is the content they are applied to.
// J2 A change resolves when it is on disk. When a write fails, every change of that round is rejected and none of them stays.
// J3 A change that throws concerns its caller alone.
// J4 Damaged content is never written over by a change: it is kept as `<file>.corrupt-<time>`, once, and every use fails until the file is sound.
// J5 Only a regular file below a limit is read, never through a link, and never by waiting for it (FIFO, device).
// J6 After `close` nothing is written.
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { BlockhouseError } from '../errors.ts';
import { parseJson } from '../json.ts';
import { keepCopy, replaceFile } from './atomic-file.ts';

export interface JsonFileOptions<T> {
  /** Checks and completes what was read. Throws an Error whose text says what is wrong. */
  parse(value: unknown): T;
  /** The content of a file that does not exist. Left out: a missing file is a damaged one. */
  missing?(): T;
  format(value: T): string;
  readonly maxBytes: number;
  /** What is to be done first, and what is then written. When it rejects, nothing is. */
  beforeWrite?(value: T): Promise<T>;
  /** After each change of the content; `own` when it was written here, `quiet` when its writer said that it matters to nobody. */
  onChanged?(value: T, change: { readonly own: boolean; readonly quiet: boolean }): void;
  /** Once for each damaged content. `copy` is the name of the file that keeps it. */
  onDamaged?(reason: string, copy: string | undefined): void;
}

/** The new content, or the same object for none, and what the caller wants to know. */
export interface Change<T, R> {
  readonly value: T;
  readonly result: R;
}

interface Waiting<T> {
  /** Takes undefined only when `anyway`. */
  readonly change: (value: T) => Change<T, unknown>;
  /** Is applied to a damaged file as well. */
  readonly anyway: boolean;
  readonly quiet: boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Larger files are read without holding up everything else. */
const SYNC_BYTES = 262_144n;

export class JsonFile<T> {
  readonly path: string;
  readonly #options: JsonFileOptions<T>;
  #stamp: string | undefined;
  #value: T | undefined;
  #damage: BlockhouseError | undefined;
  #waiting: Waiting<T>[] = [];
  #writing: Promise<void> | undefined;
  #loading: Promise<void> | undefined;
  #closed = false;

  constructor(path: string, options: JsonFileOptions<T>) {
    this.path = path;
    this.#options = options;
  }

  /** The content as it is on disk now. Throws BLOCK_DAMAGED. The value must not be changed. */
  async read(): Promise<T> {
    // While a write is under way, what was durable before it is the truth.
    if (this.#writing === undefined || this.#value === undefined) await this.#refresh();
    return this.#current();
  }

  /** J1, J2, J3. Throws BLOCK_DAMAGED, STORAGE_FULL, STORAGE_FAILED, or what `change` throws. `quiet`: see `onChanged`. */
  update<R>(change: (value: T) => Change<T, R>, options: { readonly quiet?: boolean } = {}): Promise<R> {
    return this.#enqueue(change, options.quiet ?? false, false);
  }

  /** Puts new content in the place of any old one, damaged or not; damaged content has been kept by then (J4). */
  async replace(value: T): Promise<void> {
    await this.#enqueue(() => ({ value, result: undefined }), false, true);
  }

  #enqueue<R>(change: (value: T) => Change<T, R>, quiet: boolean, anyway: boolean): Promise<R> {
    if (this.#closed) return Promise.reject(this.#gone());
    return new Promise<R>((resolve, reject) => {
      this.#waiting.push({ change, anyway, quiet, resolve: resolve as (result: unknown) => void, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Looks whether somebody else has changed the file. Never throws: damage is told by `onDamaged` and by the next use. */
  async refresh(): Promise<void> {
    if (this.#writing === undefined) await this.#refresh();
  }

  /** True while something is being read or written. */
  get isBusy(): boolean {
    return this.#writing !== undefined || this.#loading !== undefined;
  }

  /** J6. Resolves when what waits has been written. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#writing;
  }

  /** After a close that led to nothing. */
  reopen(): void {
    this.#closed = false;
  }

  #current(): T {
    if (this.#damage !== undefined) throw this.#damage;
    return this.#value as T;
  }

  #gone(): BlockhouseError {
    return new BlockhouseError('WRONG_STATE', `${basename(this.path)} belongs to a block that is being moved; try again.`);
  }

  async #writeAll(): Promise<void> {
    // Changes of the same turn travel together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const round = this.#waiting;
      this.#waiting = [];
      await this.#writeRound(round);
    }
    this.#writing = undefined;
  }

  async #writeRound(round: readonly Waiting<T>[]): Promise<void> {
    try {
      await this.#refresh();
      const before = this.#damage === undefined ? this.#value : undefined;
      const { value: wanted, kept } = this.#apply(round, before);
      const changed = wanted !== undefined && wanted !== before;
      const value = changed ? await this.#write(wanted) : wanted;
      for (const { waiting, result } of kept) waiting.resolve(result);
      if (changed) this.#options.onChanged?.(value as T, { own: true, quiet: kept.every(({ waiting }) => waiting.quiet) });
    } catch (error) {
      for (const waiting of round) waiting.reject(error); // J2; those that were rejected before don't notice
    }
  }

  #apply(round: readonly Waiting<T>[], before: T | undefined): { value: T | undefined; kept: { waiting: Waiting<T>; result: unknown }[] } {
    const kept: { waiting: Waiting<T>; result: unknown }[] = [];
    let value = before;
    for (const waiting of round) {
      try {
        if (value === undefined && !waiting.anyway) throw this.#damage; // J4
        const next = waiting.change(value as T);
        value = next.value;
        kept.push({ waiting, result: next.result });
      } catch (error) {
        waiting.reject(error); // J3
      }
    }
    return { value, kept };
  }

  async #write(wanted: T): Promise<T> {
    try {
      const value = (await this.#options.beforeWrite?.(wanted)) ?? wanted;
      const written = await replaceFile(this.path, this.#options.format(value));
      this.#value = value;
      this.#damage = undefined;
      // What somebody else put there since is read at the next look.
      this.#stamp = stampOf(this.path, written) ?? UNKNOWN;
      return value;
    } catch (error) {
      throw storageFailure(this.path, error);
    }
  }

  /** Reads the file when its stamp is another one. Reads that come together share one. */
  #refresh(): Promise<void> {
    if (this.#loading !== undefined) return this.#loading;
    const stamp = stampOf(this.path) ?? UNKNOWN;
    if (stamp === this.#stamp) return DONE;
    const loading = this.#load(stamp).finally(() => {
      this.#loading = undefined;
    });
    this.#loading = loading;
    return loading;
  }

  async #load(stamp: string): Promise<void> {
    const first = this.#stamp === undefined;
    let bytes: Buffer | undefined;
    try {
      bytes = stamp === MISSING ? undefined : await readRegular(this.path, this.#options.maxBytes);
      if (bytes === undefined && this.#options.missing === undefined) throw new Error('it is missing');
      this.#value = bytes === undefined ? this.#options.missing?.() : this.#options.parse(parseText(bytes));
      this.#damage = undefined;
      this.#stamp = stamp;
    } catch (error) {
      this.#stamp = stamp;
      await this.#keepDamaged(bytes, error as Error);
      return;
    }
    if (!first) this.#options.onChanged?.(this.#value as T, { own: false, quiet: false });
  }

  /** J4. */
  async #keepDamaged(bytes: Buffer | undefined, error: Error): Promise<void> {
    const reason = faultText(error);
    let copy: string | undefined;
    try {
      if (bytes !== undefined && !this.#closed) copy = await keepCopy(this.path, bytes);
    } catch (copyError) {
      // A full disk, or one that can't be written: the original stands where it was.
      this.#options.onDamaged?.(`${reason}, and no copy could be kept (${faultText(copyError as Error)})`, undefined);
    }
    const kept = copy === undefined ? '' : ` Its content was kept as ${copy}.`;
    this.#value = undefined;
    this.#damage = new BlockhouseError('BLOCK_DAMAGED', `${basename(this.path)} can't be used: ${reason}. Repair it by hand.${kept}`, { cause: error });
    this.#options.onDamaged?.(reason, copy);
  }
}

const DONE = Promise.resolve();
const MISSING = 'missing';
/** Equal to no stamp that is ever found. */
const UNKNOWN = 'unknown';

/** Undefined when the file is not the one that was `written`. */
function stampOf(path: string, written?: BigIntStats): string | undefined {
  try {
    const found = lstatSync(path, { bigint: true });
    if (written !== undefined && (found.ino !== written.ino || found.size !== written.size || found.mtimeNs !== written.mtimeNs)) return undefined;
    // ctime: an edit may put the modification time back, but this one no program can set.
    return `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? MISSING : `!${code}`;
  }
}

const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** J5. Undefined when the file is gone meanwhile. */
async function readRegular(path: string, maxBytes: number): Promise<Buffer | undefined> {
  let descriptor: number;
  try {
    descriptor = openSync(path, READ_FLAGS);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  let size: bigint;
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    if (!stats.isFile()) throw new Error('it is not a regular file');
    if (stats.size > BigInt(maxBytes)) throw new Error(`it is larger than ${maxBytes} bytes`);
    size = stats.size;
    if (size <= SYNC_BYTES) return readSmall(descriptor, Number(size));
  } finally {
    closeSync(descriptor);
  }
  const file = await open(path, READ_FLAGS);
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function readSmall(descriptor: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, bytes, length, size - length, length);
    length += read;
    if (read === 0 || length === size) return bytes.subarray(0, length);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseText(bytes: Buffer): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (error) {
    throw new Error('it is not valid UTF-8', { cause: error });
  }
  if (text.charCodeAt(0) === 0xfeff) throw new Error('it begins with a byte order mark');
  if (text.trim() === '') throw new Error('it is empty');
  try {
    return parseJson(text);
  } catch (error) {
    // V8 quotes the text around the fault; what stands there is for no log.
    const where = /position \d+/.exec((error as Error).message)?.[0];
    throw new Error(`it is not valid JSON${where === undefined ? '' : ` (at ${where})`}`, { cause: error });
  }
}

/** The system's own errors name the whole path, which is for nobody but this machine. */
function faultText(error: Error): string {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'ELOOP') return 'it is a link';
  return code !== undefined && syscall !== undefined ? `it can't be read (${code})` : error.message;
}

function storageFailure(path: string, error: unknown): BlockhouseError {
  if (error instanceof BlockhouseError) return error;
  const { code } = error as NodeJS.ErrnoException;
  const reason = code ?? (error as Error).message;
  return new BlockhouseError('STORAGE_FAILED', `${basename(path)} can't be written (${reason}); nothing was changed.`, { cause: error });
}
