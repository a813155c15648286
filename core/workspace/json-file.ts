// One JSON file with one writer: read again when it has changed on disk, written by `replaceFile`.
//
// J1 Changes are functions. They are applied in their order to the newest content, at the time of writing; those that wait together
//    become one write. A person's edit in the meantime is the content they are applied to: one that comes while the write is prepared
//    makes them be applied again, so that a change must have no effect but its result.
// J2 A change resolves when it is on disk. When a write fails, every change of that round is rejected and none of them stays.
// J3 A change that throws concerns its caller alone.
// J4 Damaged content is never written over by a change: it is kept as `<file>.corrupt-<time>`, once, and every use fails until the file is sound.
//    What could not be copied is moved there before `replace` takes its place.
// J5 Only a regular file below a limit is read, never through a link, and never by waiting for it (FIFO, device).
// J6 After `close` nothing is written.
// J7 An editor may empty a file before it fills it: what was written a moment ago is damaged only when it still is a little later.
// J8 A fault of the system that may pass says nothing about the content: it is told, and the file is read again at the next use.
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BlockhouseError } from '../errors.ts';
import { keepCopy, replaceFileIf, setAside, storageFailure } from './atomic-file.ts';
import { isFresh, MISSING, stampOf } from './file-stamp.ts';
import { parseBytes } from './json-bytes.ts';
import { isPassingFault, readFault, readRegular } from './regular-file.ts';

export interface JsonFileOptions<T> {
  /** Checks and completes what was read. Throws an Error whose text says what is wrong. */
  parse(value: unknown): T;
  /** The content of a file that does not exist. Left out: a missing file is a damaged one. */
  missing?(): T;
  format(value: T): string;
  /** What somebody else has written, as it is to be taken; left out: as it is. */
  onForeign?(before: T, found: T): T;
  readonly maxBytes: number;
  /**
   * The content can be made again from other files: it is not flushed to the disk, and a file whose content can't be used, such as the empty one
   * that a power cut may leave, counts as missing instead of damaged. Needs `missing`.
   */
  readonly derived?: { onRebuilt(reason: string): void } | undefined;
  /** What is to be done first, and what is then written. When it rejects, nothing is. */
  beforeWrite?(value: T): Promise<T>;
  /** After each change of the content. */
  onChanged?(value: T, change: ChangeNotice): void;
  /** Once for each damaged content. `copy` is the name of the file that keeps it. */
  onDamaged?(reason: string, copy: string | undefined): void;
}

export interface ChangeNotice {
  /** It was written here. */
  readonly own: boolean;
  /** Its writer said that it matters to nobody. */
  readonly quiet: boolean;
  /** What was there before was damaged. */
  readonly healed: boolean;
}

/** The new content, or the same object for none, and what the caller wants to know. */
export interface Change<T, R> {
  readonly value: T;
  readonly result: R;
}

interface Waiting<T> {
  /** Takes undefined, for damaged content, only when `anyway`. */
  readonly change: (value: T | undefined) => Change<T, unknown>;
  /** Is applied to a damaged file as well. */
  readonly anyway: boolean;
  readonly quiet: boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Applied<T> {
  readonly value: T | undefined;
  readonly kept: readonly { readonly waiting: Waiting<T>; readonly result: unknown }[];
}

/** A program that writes the file without end must not keep us from it without end. */
const MAX_OVERTAKEN = 20;

export class JsonFile<T> {
  readonly path: string;
  readonly #options: JsonFileOptions<T>;
  #stamp: string | undefined;
  #value: T | undefined;
  #damage: BlockhouseError | undefined;
  /** True while damaged content has no copy. */
  #isUnkept = false;
  #waiting: Waiting<T>[] = [];
  #writing: Promise<void> | undefined;
  /** True from the first step of a write to its last; `#writing` lasts as long as changes wait. */
  #isWriting = false;
  #loading: Promise<void> | undefined;
  #closed = false;

  constructor(path: string, options: JsonFileOptions<T>) {
    this.path = path;
    this.#options = options;
  }

  /** The content as it is on disk now. Throws BLOCK_DAMAGED, STORAGE_FAILED (J8). The value must not be changed. */
  async read(): Promise<T> {
    // While a write is under way, what was durable before it is the truth.
    if (!this.#isWriting || this.#value === undefined) await this.#refresh();
    return this.#current();
  }

  /** J1, J2, J3. Throws BLOCK_DAMAGED, STORAGE_FULL, STORAGE_FAILED, or what `change` throws. `quiet`: see `onChanged`. */
  update<R>(change: (value: T) => Change<T, R>, options: { readonly quiet?: boolean } = {}): Promise<R> {
    return this.#enqueue((value) => change(value as T), options.quiet ?? false, false);
  }

  /** Puts new content in the place of the old one; `make` gets undefined for damaged content, which has been kept by then (J4). */
  async replace(make: (old: T | undefined) => T): Promise<void> {
    await this.#enqueue((old) => ({ value: make(old), result: undefined }), false, true);
  }

  #enqueue<R>(change: (value: T | undefined) => Change<T, R>, quiet: boolean, anyway: boolean): Promise<R> {
    if (this.#closed) return Promise.reject(this.#gone());
    return new Promise<R>((resolve, reject) => {
      this.#waiting.push({ change, anyway, quiet, resolve: resolve as (result: unknown) => void, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /**
   * Somebody has touched the file: tells of the change, also when it was never read before. Never throws: damage is told by `onDamaged` and
   * by the next use.
   */
  async refresh(): Promise<void> {
    if (this.#isWriting) await this.#writing;
    this.#stamp ??= UNREAD;
    await this.#refresh().catch((error: unknown) => {
      if (!isPassingFault(error)) throw error; // J8: the next use meets it, or finds the change
    });
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
    let left = round;
    try {
      for (let tries = 0; left.length > 0; tries += 1) {
        await this.#refresh();
        const { value, kept } = this.#apply(left, this.#damage === undefined ? this.#value : undefined);
        left = kept.map(({ waiting }) => waiting);
        if (tries > MAX_OVERTAKEN) throw new BlockhouseError('STORAGE_FAILED', `${basename(this.path)} is being changed by somebody else all the time.`);
        if (await this.#settle(value, kept)) return;
      }
    } catch (error) {
      for (const waiting of left) waiting.reject(error); // J2
    }
  }

  #apply(round: readonly Waiting<T>[], before: T | undefined): Applied<T> {
    const kept: { waiting: Waiting<T>; result: unknown }[] = [];
    let value = before;
    for (const waiting of round) {
      try {
        if (value === undefined && !waiting.anyway) throw this.#damage; // J4
        const next = waiting.change(value);
        value = next.value;
        kept.push({ waiting, result: next.result });
      } catch (error) {
        waiting.reject(error); // J3
      }
    }
    return { value, kept };
  }

  /** Writes what has come out, and resolves those who wait for it. False when somebody else has changed the file meanwhile (J1). */
  async #settle(wanted: T | undefined, kept: Applied<T>['kept']): Promise<boolean> {
    const healed = this.#damage !== undefined;
    const isChange = wanted !== undefined && (wanted !== this.#value || healed);
    if (isChange && !(await this.#write(wanted))) return false;
    for (const { waiting, result } of kept) waiting.resolve(result);
    if (isChange) this.#options.onChanged?.(this.#value as T, { own: true, quiet: kept.every(({ waiting }) => waiting.quiet), healed });
    return true;
  }

  async #write(wanted: T): Promise<boolean> {
    this.#isWriting = true;
    try {
      const value = (await this.#options.beforeWrite?.(wanted)) ?? wanted;
      if (this.#isUnkept) await this.#moveAside();
      const isStill = (): boolean => stampOf(this.path) === this.#stamp;
      const written = await replaceFileIf(this.path, this.#options.format(value), isStill, { durable: this.#options.derived === undefined });
      if (written === undefined) return false;
      this.#value = value;
      this.#damage = undefined;
      // What somebody else put there since is read at the next look.
      this.#stamp = stampOf(this.path, written);
      return true;
    } catch (error) {
      throw storageFailure(`${basename(this.path)} can't be written`, error);
    } finally {
      this.#isWriting = false;
    }
  }

  /** J4. */
  async #moveAside(): Promise<void> {
    await setAside(this.path);
    this.#isUnkept = false;
    this.#stamp = stampOf(this.path);
  }

  /** Reads the file when its stamp is another one. Reads that come together share one. */
  #refresh(): Promise<void> {
    if (this.#loading !== undefined) return this.#loading;
    const stamp = stampOf(this.path);
    if (stamp === this.#stamp) return DONE;
    const loading = this.#load(stamp).finally(() => {
      this.#loading = undefined;
    });
    this.#loading = loading;
    return loading;
  }

  async #load(stamp: string): Promise<void> {
    const first = this.#stamp === undefined;
    const healed = this.#damage !== undefined;
    const before = healed ? undefined : this.#value;
    const { bytes, value, error } = await this.#readRested(stamp);
    if (isPassingFault(error)) throw error; // J8
    this.#stamp = stamp;
    if (value === undefined) {
      await this.#keepDamaged(bytes, error as Error);
      return;
    }
    // A file that was touched, or written again as it was, has not changed.
    const isChange = before === undefined || this.#options.format(before) !== this.#options.format(value);
    this.#value = isChange && before !== undefined ? (this.#options.onForeign?.(before, value) ?? value) : (before ?? value);
    this.#damage = undefined;
    this.#isUnkept = false;
    if (!first && isChange) this.#options.onChanged?.(this.#value, { own: false, quiet: false, healed });
  }

  /** J7. */
  async #readRested(stamp: string): Promise<{ bytes?: Buffer | undefined; value?: T; error?: Error }> {
    for (let look = 1; ; look += 1) {
      let bytes: Buffer | undefined;
      try {
        bytes = stamp === MISSING ? undefined : await readRegular(this.path, this.#options.maxBytes); // J5
        if (bytes === undefined && this.#options.missing === undefined) throw new Error('it is missing');
        const value = bytes === undefined ? this.#options.missing?.() : this.#options.parse(parseBytes(bytes));
        return { bytes, value: value as T };
      } catch (error) {
        const isFinal = look >= LOOKS || bytes === undefined || !isFresh(this.path);
        if (isFinal) return this.#rebuilt(bytes, error as Error) ?? { bytes, error: error as Error };
        await delay(REST_MS);
      }
    }
  }

  #rebuilt(bytes: Buffer | undefined, error: Error): { bytes: Buffer; value: T } | undefined {
    const { derived, missing } = this.#options;
    if (derived === undefined || missing === undefined || bytes === undefined) return undefined;
    derived.onRebuilt(readFault(error));
    return { bytes, value: missing() };
  }

  /** J4. */
  async #keepDamaged(bytes: Buffer | undefined, error: Error): Promise<void> {
    let reason = readFault(error);
    let copy: string | undefined;
    try {
      if (bytes !== undefined && !this.#closed) copy = await keepCopy(this.path, bytes);
    } catch (copyError) {
      // A full disk, or one that can't be written: the original stands where it was.
      reason += `, and no copy of it could be kept (${readFault(copyError as Error)})`;
    }
    const kept = copy === undefined ? '' : ` Its content was kept as ${copy}.`;
    this.#value = undefined;
    this.#isUnkept = copy === undefined && this.#stamp !== MISSING;
    this.#damage = new BlockhouseError('BLOCK_DAMAGED', `${basename(this.path)} can't be used: ${reason}. Repair it by hand.${kept}`, { cause: error });
    this.#options.onDamaged?.(reason, copy);
  }
}

const DONE = Promise.resolve();
/** J7. */
const LOOKS = 2;
const REST_MS = 100;
/** Equal to no stamp that is ever found. */
const UNREAD = 'unread';
