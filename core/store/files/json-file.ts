// One JSON file with one writer: its content is read by `JsonContent`, and replaced by `replaceFile`.
//
// ordered-changes: Changes are functions. They are applied in their order to the newest content, at the time of writing, and those that wait
//   together become one write. A person's edit is content like any other: if one comes while a write is prepared, the changes are applied again, so
//   a change must have no side effects.
// durable-changes: A change resolves when it is on disk. When a write fails, every change of that round is rejected and none of them stays.
// own-failure: A change that throws fails for its caller alone.
// quiet-end: After `close` nothing is written.
import { basename } from 'node:path';
import type { Timing } from '../../bus.ts';
import { BlockhouseError } from '../../errors.ts';
import type { Change } from '../port.ts';
import { replaceFileIf, storageFailure } from './atomic-file.ts';
import { stampOf } from './file-stamp.ts';
import { JsonContent, type JsonContentOptions, type Snapshot } from './json-content.ts';
import { isPassingFault } from './regular-file.ts';

/** How a file is read and written, and the callbacks for its changes. */
export interface JsonFileOptions<T> extends JsonContentOptions<T> {
  /** Called before a write. Resolves with the content to write; if it rejects, nothing is written. */
  beforeWrite?(value: T): Promise<T>;
  /** Measures each write until it is on the disk. */
  readonly timing?: Timing | undefined;
}

interface Waiting<T> {
  /** Gets undefined only for damaged content, and only with `takesDamaged`. */
  readonly change: (value: T | undefined) => Change<T, unknown>;
  readonly takesDamaged: boolean;
  readonly quiet: boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Applied<T> {
  readonly value: T | undefined;
  readonly kept: readonly { readonly waiting: Waiting<T>; readonly result: unknown }[];
}

/** A program that keeps rewriting the file must not delay a change for ever. */
const MAX_OVERTAKEN = 20;

/** One JSON file and its only writer in this process. Contents must not be mutated. */
export class JsonFile<T> {
  readonly path: string;
  readonly #options: JsonFileOptions<T>;
  readonly #content: JsonContent<T>;
  #waiting: Waiting<T>[] = [];
  #writing: Promise<void> | undefined;
  /** True from the first step of a write to its last; `#writing` lasts as long as changes wait. */
  #isWriting = false;
  #closed = false;

  constructor(path: string, options: JsonFileOptions<T>) {
    this.path = path;
    this.#options = options;
    this.#content = new JsonContent(path, options);
  }

  /** The content as it is on disk now, which must not be changed. Throws BLOCK_DAMAGED, or STORAGE_FAILED when another try may succeed. */
  read(): Promise<T> {
    return this.#content.hold(async () => {
      // While a write is under way, the durable content before it is the truth.
      if (!this.#isWriting) await this.#content.refresh();
      const { value, damage } = this.#content.now;
      if (damage !== undefined) throw damage;
      return value as T;
    });
  }

  /** The same; of content that was dropped from memory its outline, for which nothing is read. */
  async outline(): Promise<T> {
    if (!this.#isWriting) await this.#content.refreshOutline();
    const { value, outline, damage } = this.#content.now;
    if (damage !== undefined) throw damage;
    return (value ?? outline) as T;
  }

  /** Changes the content. Throws BLOCK_DAMAGED, STORAGE_FULL, STORAGE_FAILED, or what `change` throws. `quiet`: see `ChangeNotice`. */
  update<R>(change: (value: T) => Change<T, R>, options: { readonly quiet?: boolean } = {}): Promise<R> {
    return this.#enqueue((value) => change(value as T), options.quiet ?? false, false);
  }

  /** Replaces the content, damaged or not; `make` gets undefined for damaged content, which has been kept by then. */
  async replace(make: (old: T | undefined) => T): Promise<void> {
    await this.#enqueue((old) => ({ value: make(old), result: undefined }), false, true);
  }

  /**
   * Looks at a file that somebody may have touched, and reports a change even if the file was never read before. Never throws: `onDamaged`
   * and the next use report damage.
   */
  async refresh(): Promise<void> {
    if (this.#isWriting) await this.#writing;
    this.#content.expectChange();
    await this.#content.refreshOutline().catch((error: unknown) => {
      if (!isPassingFault(error)) throw error; // the next use meets the fault, or finds the change
    });
  }

  /** True while something is being read or written. */
  get isBusy(): boolean {
    return this.#writing !== undefined || this.#content.isLoading;
  }

  /** Refuses further changes. Resolves when those that wait have been written. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#content.keepsCopies = false;
    await this.#writing;
  }

  /** Takes changes again, after a move that failed. */
  reopen(): void {
    this.#closed = false;
    this.#content.keepsCopies = true;
  }

  #enqueue<R>(change: (value: T | undefined) => Change<T, R>, quiet: boolean, takesDamaged: boolean): Promise<R> {
    if (this.#closed) {
      return Promise.reject(new BlockhouseError('WRONG_STATE', `${basename(this.path)} belongs to a block that is being moved; try again.`));
    }
    return new Promise<R>((resolve, reject) => {
      this.#waiting.push({ change, takesDamaged, quiet, resolve: resolve as (result: unknown) => void, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve(); // changes of the same turn are written together
    while (this.#waiting.length > 0) {
      const round = this.#waiting;
      this.#waiting = [];
      await this.#content.hold(() => this.#writeRound(round));
    }
    this.#writing = undefined;
  }

  async #writeRound(round: readonly Waiting<T>[]): Promise<void> {
    let left = round;
    try {
      for (let tries = 0; left.length > 0; tries += 1) {
        await this.#content.refresh();
        // Fixed before the changes are applied: a reading that ends later must not pass for what they were applied to (ordered-changes).
        const base = this.#content.now;
        const { value, kept } = apply(left, base);
        left = kept.map(({ waiting }) => waiting);
        if (tries > MAX_OVERTAKEN)
          throw new BlockhouseError('STORAGE_FAILED', `${basename(this.path)} keeps being changed by another program. Stop that program or try again later.`);
        if (await this.#settle(base, value, kept)) return;
      }
    } catch (error) {
      for (const waiting of left) waiting.reject(error); // durable-changes
    }
  }

  /** Writes the new content and resolves the changes in it. False if somebody else has changed the file meanwhile (ordered-changes). */
  async #settle(base: Snapshot<T>, wanted: T | undefined, kept: Applied<T>['kept']): Promise<boolean> {
    const healed = base.damage !== undefined;
    const isChange = wanted !== undefined && (wanted !== base.value || healed);
    if (isChange && !(await this.#write(base, wanted))) return false;
    for (const { waiting, result } of kept) waiting.resolve(result);
    if (isChange) this.#options.onChanged?.(this.#content.now.value as T, { own: true, quiet: kept.every(({ waiting }) => waiting.quiet), healed });
    return true;
  }

  async #write(base: Snapshot<T>, wanted: T): Promise<boolean> {
    this.#isWriting = true;
    try {
      const value = (await this.#options.beforeWrite?.(wanted)) ?? wanted;
      const stamp = base.isUnkept === true ? await this.#content.moveAside() : base.stamp;
      const isUnchanged = (): boolean => stampOf(this.path) === stamp;
      const { format, derived, timing } = this.#options;
      let length = 0;
      const replace = () => {
        const text = format(value);
        length = text.length;
        return replaceFileIf(this.path, text, isUnchanged, { durable: derived === undefined });
      };
      const written = await (timing?.(replace) ?? replace());
      if (written === undefined) return false;
      // What somebody else has put there since then is read at the next look.
      this.#content.take(value, stampOf(this.path, written), length);
      return true;
    } catch (error) {
      throw storageFailure(`${basename(this.path)} can't be written`, error);
    } finally {
      this.#isWriting = false;
    }
  }
}

function apply<T>(round: readonly Waiting<T>[], base: Snapshot<T>): Applied<T> {
  const kept: { waiting: Waiting<T>; result: unknown }[] = [];
  let { value } = base;
  for (const waiting of round) {
    try {
      if (value === undefined && !waiting.takesDamaged) throw base.damage; // a change never overwrites damaged content
      const next = waiting.change(value);
      value = next.value;
      kept.push({ waiting, result: next.result });
    } catch (error) {
      waiting.reject(error); // own-failure
    }
  }
  return { value, kept };
}
