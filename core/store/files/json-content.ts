// The content of one JSON file, read again when the file has changed. Content that can't be used counts as damaged and is never guessed.
//
// regular-only: Only a regular file within its limits is read, never through a link, and never by waiting for it (FIFO, device).
// keep-damaged: Damaged content is copied to `<file>.corrupt-<time>`, once, and every use fails until the file is sound. What could not be
//   copied is moved there before anything takes its place.
// settled-read: An editor may empty a file before it fills it, or move it away and write another one. Content that was written a moment ago, and a
//   file that was there, are damaged only if they still are a little later.
// passing-fault: A fault of the system that may pass says nothing about the content. It is thrown, and the file is read again at the next use.
// dropped-apart: Content that nobody holds may be dropped to make room. Its outline stays, and its stamp still says whether the file has changed.
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseBytes } from '../../base/strict-json.ts';
import { UncopiedDamage } from '../../block/documents/document-codecs.ts';
import { BlockhouseError } from '../../errors.ts';
import type { ChangeNotice } from '../store.ts';
import type { ContentRoom, Droppable } from '../parts/content-room.ts';
import { keepCopy, setAside } from './atomic-file.ts';
import { isFresh, MISSING, stampOf } from './file-stamp.ts';
import { isPassingFault, readFault, readRegular } from './regular-file.ts';

/** How a file is read, and the callbacks for its changes. */
export interface JsonContentOptions<T> {
  /** Checks and completes what was read. Throws an Error whose text says what is wrong. May take turns over large content. */
  parse(value: unknown): T | Promise<T>;
  /** The content of a file that does not exist. When left out, a missing file is damaged. */
  missing?(): T;
  /** The text of the file. Two contents are the same when their texts are. */
  format(value: T): string;
  /** Converts content that another program or a person has written. Without it, such content is used as it is. */
  onForeign?(before: T, found: T): T;
  readonly maxBytes: number;
  /** Fields and elements; MAX_JSON_VALUES when left out. */
  readonly maxValues?: number;
  /**
   * The content can be rebuilt from other files: it is not flushed to the disk, and a file whose content can't be used, such as the empty one
   * that a power cut may leave, counts as missing instead of damaged. Needs `missing`.
   */
  readonly derived?: { onRebuilt(reason: string): void } | undefined;
  /** The content may be dropped to make room (dropped-apart). It is not for content with `onForeign`, which needs the one before. */
  readonly dropped?: { readonly room: ContentRoom; outlineOf(value: T): T } | undefined;
  /** What to do about damaged content: a sentence for the error. */
  readonly cure?: string;
  /** Called after each change of the content. */
  onChanged?(value: T, change: ChangeNotice): void;
  /** Called once for each damaged content. `copy` is the name of the file that keeps it. */
  onDamaged?(reason: string, copy: string | undefined): void;
}

/** The content at one moment. `value` is undefined while it is damaged or dropped, and before the first reading. */
export interface Snapshot<T> {
  /** Undefined before the first reading. */
  readonly stamp: string | undefined;
  readonly value: T | undefined;
  /** Of content that was dropped: what is known of it. */
  readonly outline?: T;
  readonly damage?: BlockhouseError;
  /** The damaged content has no copy yet. */
  readonly isUnkept?: boolean;
}

/** How often damaged content is read before it counts as damaged (settled-read), and the pause in between. */
const LOOKS = 2;
const REST_MS = 100;
/** A stamp that no file has. */
const UNREAD = 'unread';
const DONE = Promise.resolve();

/** Reads one file and keeps its content. `json-file.ts` writes it. */
export class JsonContent<T> implements Droppable {
  readonly #path: string;
  readonly #options: JsonContentOptions<T>;
  #now: Snapshot<T> = { stamp: undefined, value: undefined };
  #loading: Promise<void> | undefined;
  #keepsCopies = true;
  #bytes = 0;
  #holders = 0;
  readonly #self = new WeakRef<Droppable>(this);

  constructor(path: string, options: JsonContentOptions<T>) {
    this.#path = path;
    this.#options = options;
  }

  /** As it was last read or written. */
  get now(): Snapshot<T> {
    return this.#now;
  }

  get isLoading(): boolean {
    return this.#loading !== undefined;
  }

  /** Whether damaged content is copied. */
  set keepsCopies(keeps: boolean) {
    this.#keepsCopies = keeps;
  }

  /** Sets the content that was just written, with the stamp of the new file and its length. */
  take(value: T, stamp: string, bytes = 0): void {
    this.#now = { stamp, value };
    this.#bytes = bytes;
  }

  /** It is not dropped during `work`. */
  async hold<R>(work: () => Promise<R>): Promise<R> {
    this.#holders += 1;
    try {
      return await work();
    } finally {
      this.#holders -= 1;
      if (this.#now.value !== undefined) this.#options.dropped?.room.use(this.#self, this.#bytes);
    }
  }

  /** dropped-apart. */
  drop(): boolean {
    const { stamp, value } = this.#now;
    const { dropped } = this.#options;
    if (dropped === undefined || this.#holders > 0 || this.isLoading) return false;
    if (value !== undefined) this.#now = { stamp, value: undefined, outline: dropped.outlineOf(value) };
    return true;
  }

  /** The next reading reports a change, even if it is the first. */
  expectChange(): void {
    if (this.#now.stamp === undefined) this.#now = { ...this.#now, stamp: UNREAD };
  }

  /** Reads the file when it has changed, or when its content was dropped. Readings that come together share one. Throws STORAGE_FAILED. */
  refresh(): Promise<void> {
    return this.#refresh(false);
  }

  /** The same, but an outline is enough. */
  refreshOutline(): Promise<void> {
    return this.#refresh(true);
  }

  #refresh(takesOutline: boolean): Promise<void> {
    if (this.#loading !== undefined) return this.#loading;
    const stamp = stampOf(this.#path);
    if (stamp === this.#now.stamp && (takesOutline || this.#now.outline === undefined)) return DONE;
    this.#loading = this.#load(stamp).finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** Moves damaged content that has no copy aside. Resolves with the new stamp. */
  async moveAside(): Promise<string> {
    await setAside(this.#path);
    const stamp = stampOf(this.#path);
    this.#now = { ...this.#now, stamp, isUnkept: false };
    return stamp;
  }

  async #load(stamp: string): Promise<void> {
    const { bytes, value, error } = await this.#readSettled(stamp);
    if (isPassingFault(error)) throw error; // passing-fault
    const before = this.#now;
    if (value === undefined) {
      await this.#takeDamaged(stamp, bytes, error as Error);
      return;
    }
    // A file that was touched, or written again as it was, has not changed.
    // One that was changed while it was read again has another stamp by now, and is told of.
    const isBack = before.outline !== undefined && before.stamp === stamp && stampOf(this.#path) === stamp;
    const isChange = !isBack && (before.value === undefined || this.#options.format(before.value) !== this.#options.format(value));
    const kept = isChange ? this.#foreign(before.value, value) : (before.value ?? value);
    this.#now = { stamp, value: kept };
    this.#bytes = bytes?.length ?? 0;
    this.#options.dropped?.room.use(this.#self, this.#bytes);
    if (before.stamp !== undefined && isChange) this.#options.onChanged?.(kept, { own: false, quiet: false, healed: before.damage !== undefined });
  }

  #foreign(before: T | undefined, found: T): T {
    return before === undefined ? found : (this.#options.onForeign?.(before, found) ?? found);
  }

  /** settled-read. */
  async #readSettled(stamp: string): Promise<{ bytes?: Buffer | undefined; value?: T; error?: Error }> {
    for (let look = 1; ; look += 1) {
      let bytes: Buffer | undefined;
      try {
        bytes = stamp === MISSING && look === 1 ? undefined : await readRegular(this.#path, this.#options.maxBytes); // regular-only
        if (bytes === undefined && this.#options.missing === undefined) throw new Error('it is missing');
        const value = bytes === undefined ? this.#options.missing?.() : await this.#options.parse(parseBytes(bytes, this.#options.maxValues));
        return { bytes, value: value as T };
      } catch (error) {
        const mayPass = bytes === undefined ? this.#now.value !== undefined : isFresh(this.#path);
        const isFinal = look >= LOOKS || !mayPass;
        if (isFinal) return this.#rebuilt(bytes, error as Error) ?? { bytes, error: error as Error };
        await delay(REST_MS);
      }
    }
  }

  /** The content for a derived file that was read and can't be used. */
  #rebuilt(bytes: Buffer | undefined, error: Error): { bytes: Buffer; value: T } | undefined {
    const { derived, missing } = this.#options;
    if (derived === undefined || missing === undefined || bytes === undefined) return undefined;
    derived.onRebuilt(readFault(error));
    return { bytes, value: missing() };
  }

  /** keep-damaged. */
  async #takeDamaged(stamp: string, bytes: Buffer | undefined, error: Error): Promise<void> {
    let reason = readFault(error);
    let copy: string | undefined;
    try {
      if (bytes !== undefined && this.#keepsCopies && !(error instanceof UncopiedDamage)) copy = await keepCopy(this.#path, bytes);
    } catch (copyError) {
      // The disk is full or can't be written: the original stays where it is.
      reason += `, and no copy of it could be kept (${readFault(copyError as Error)})`;
    }
    const { cure = 'Repair it by hand.' } = this.#options;
    const kept = copy === undefined ? '' : ` A copy was kept as ${copy}.`;
    const damage = new BlockhouseError('BLOCK_DAMAGED', `${basename(this.#path)} can't be used: ${reason}. ${cure}${kept}`, { cause: error });
    this.#now = { stamp, value: undefined, damage, isUnkept: copy === undefined && stamp !== MISSING };
    this.#options.onDamaged?.(reason, copy);
  }
}
