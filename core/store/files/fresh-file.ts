// A small file that is read again when it has changed. Instead of a watcher, each use checks its metadata, at most once in FILE_LOOK_MS.
//
// one-change-at-a-time: rewrites are made one after the other, so that none overwrites another; also those of all processes that share a `Turn`.
// newest-first: a rewrite is made from the newest content. If a person or another process changes the file meanwhile, it is made again.
// readable-after: what is too large to be read again is not written, so that no change makes what was there before unusable.
import { type BigIntStats, chmodSync, readFileSync, statSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import PQueue from 'p-queue';
import { invalidRequest } from '../../errors.ts';
import { ensureFolder, replaceFileIf, syncFolder } from './atomic-file.ts';

/** A rotation must take effect within a second; a stat costs some microseconds, so it is not made on every request. */
export const FILE_LOOK_MS = 200;
const MISSING = 'missing';
/** No file of secrets is larger. A larger one is an accident and is not read into memory. */
const MAX_BYTES = 1024 * 1024;

/** The file as it was found. */
export type FileState =
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'text'; readonly text: string; readonly mode: number };

/** Does work while no other process with the same turns changes the file. */
export type Turn = <T>(path: string, work: () => Promise<T>) => Promise<T>;

/** A small file, such as one with secrets, and its state. */
export class FreshFile {
  readonly path: string;
  readonly #onChange: (state: FileState) => void;
  readonly #now: () => number;
  /** one-change-at-a-time. */
  readonly #rewrites = new PQueue({ concurrency: 1 });
  readonly #turn: Turn;
  readonly #maxBytes: number;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #stamp = '';

  /** `onChange` is called synchronously, from `refresh`, at the first look and after every change. */
  constructor(
    path: string,
    onChange: (state: FileState) => void,
    now: () => number = () => performance.now(),
    turn: Turn = (_path, work) => work(),
    maxBytes: number = MAX_BYTES,
  ) {
    this.path = path;
    this.#turn = turn;
    this.#maxBytes = maxBytes;
    this.#onChange = onChange;
    this.#now = now;
  }

  /** True if something has the file's name now. */
  get exists(): boolean {
    return look(this.path).stamp !== MISSING;
  }

  /** Looks at the file if the last look is older than the interval, or at once with `force`. */
  refresh(force = false): void {
    const now = this.#now();
    if (!force && now - this.#checkedAt < FILE_LOOK_MS) return;
    this.#checkedAt = now;
    const { stamp, read } = look(this.path, this.#maxBytes);
    if (stamp === this.#stamp) return;
    const state = read();
    // A file that can't be read is tried again at each look, and reported once: the system may be short of descriptors.
    const seen = state.kind === 'unreadable' ? `!${state.reason}` : stamp;
    if (seen === this.#stamp) return;
    this.#stamp = seen;
    this.#onChange(state);
  }

  /**
   * Replaces the file, mode 0600, by what `make` returns. Null removes it; undefined leaves it as it is, and resolves with false. `make` is called after
   * each look that found a change, and what it throws is thrown. Throws INVALID_REQUEST for what is too large. newest-first, readable-after.
   */
  async rewrite(make: () => string | null | undefined): Promise<boolean> {
    return this.#rewrites.add(() => this.#turn(this.path, () => this.#rewrite(make)));
  }

  async #rewrite(make: () => string | null | undefined): Promise<boolean> {
    try {
      for (;;) {
        const before = look(this.path).stamp; // not `#stamp`, which is the reason for what can't be read
        this.refresh(true);
        const content = make();
        if (content === undefined) return false;
        if (content !== null) this.#assertReadable(content);
        if (await (content === null ? this.#remove(before) : this.#replace(content, before))) return true;
      }
    } finally {
      this.refresh(true);
    }
  }

  /** readable-after. */
  #assertReadable(content: string): void {
    if (Buffer.byteLength(content) <= this.#maxBytes) return;
    throw invalidRequest('', `${basename(this.path)} would have more than ${this.#maxBytes} bytes with this change. Remove something from it first.`);
  }

  /** False if the file has changed since. */
  async #replace(content: string, before: string): Promise<boolean> {
    const { path } = this;
    await ensureFolder(dirname(path));
    return (await replaceFileIf(path, content, () => look(path).stamp === before)) !== undefined;
  }

  /** False if the file has changed since. A read-only disk refuses to remove even a file that there is not, so that is not tried. */
  async #remove(before: string): Promise<boolean> {
    const { stamp } = look(this.path);
    if (stamp !== before) return false;
    if (stamp === MISSING) return true;
    unlinkSync(this.path);
    await syncFolder(dirname(this.path));
    return true;
  }
}

/** The state of the file now. */
export function readState(path: string, maxBytes?: number): FileState {
  return look(path, maxBytes).read();
}

function look(path: string, maxBytes: number = MAX_BYTES): { stamp: string; read: () => FileState } {
  let found: BigIntStats;
  try {
    found = statSync(path, { bigint: true });
  } catch (error) {
    // Not by `throwIfNoEntry`: newer versions of Node also call a path missing when a file stands in the place of one of its folders.
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    if (reason === 'ENOENT') return { stamp: MISSING, read: () => ({ kind: 'missing' }) };
    return { stamp: `!${reason}`, read: () => ({ kind: 'unreadable', reason }) };
  }
  // An edit may restore the modification time (rsync, cp -p), but no program can set ctime.
  return { stamp: `${found.ino}:${found.size}:${found.ctimeNs}`, read: () => readText(path, found, maxBytes) };
}

function readText(path: string, stats: BigIntStats, maxBytes: number): FileState {
  if (!stats.isFile()) return { kind: 'unreadable', reason: 'it is not a regular file' };
  if (stats.size > maxBytes) return { kind: 'unreadable', reason: `it is larger than ${maxBytes} bytes` };
  try {
    return { kind: 'text', text: readFileSync(path, 'utf8'), mode: Number(stats.mode) & 0o777 };
  } catch (error) {
    return { kind: 'unreadable', reason: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}

/** The mode can't be changed: the file has another owner or is on a read-only mount. */
const MODE_IS_FIXED: ReadonlySet<string | undefined> = new Set(['EPERM', 'EROFS']);

/** Sets the mode of a file with secrets to 0600 if others may read or write it. */
export function closeToOthers(path: string, state: FileState): void {
  if (state.kind !== 'text' || (state.mode & 0o077) === 0) return;
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!MODE_IS_FIXED.has(code) && code !== 'ENOENT') throw error; // removed since: the next look sees that
  }
}
