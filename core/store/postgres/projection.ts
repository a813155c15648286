// What this server writes each half second of the blocks that it has changed: documents that can be made again, and what the list is sorted by.
//
// all-together: it is one statement for all blocks. What can't be written now is written with the next ones.
// given-up: what a server has changed before it was given up is not stored any more, also when it has joined again.
// before-release: a block is given back after its part is written, so that the next owner reads it.
import type { Database } from './pool.ts';
import { PROJECT } from './sql/blocks.ts';

/** A derived document as far as the list goes. */
export interface Shown {
  readonly state?: string | undefined;
  readonly status?: string | undefined;
  readonly costUsd?: number | null | undefined;
}

/** What a projection works with. */
export interface ProjectionOptions {
  readonly database: Database;
  /** The id of this server's membership. */
  node(): string;
  /** After these blocks were written. */
  onWritten(blocks: readonly number[]): void;
  onFault(error: unknown): void;
}

interface Waiting {
  /** Texts by kind, and the server's membership when they were changed. given-up. */
  readonly documents: Map<string, { readonly text: string; readonly node: string }>;
  shown: Shown;
}

const EVERY_MS = 500;
const MOST_AT_ONCE = 500;

/** The projection of one server. */
export class Projection {
  readonly #options: ProjectionOptions;
  readonly #waiting = new Map<number, Waiting>();
  #writing = new Map<number, Waiting>();
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor(options: ProjectionOptions) {
    this.#options = options;
  }

  /** The list's entry of the block may be another one. */
  touch(block: number, shown: Shown = {}): void {
    const waiting = this.#of(block);
    waiting.shown = { ...waiting.shown, ...shown };
  }

  /** Stores the text of a document. */
  store(block: number, kind: string, text: string, shown: Shown = {}): void {
    this.#of(block).documents.set(kind, { text, node: this.#options.node() });
    this.touch(block, shown);
  }

  /** True while the document of the block is not stored. */
  has(block: number, kind: string): boolean {
    return this.#waiting.get(block)?.documents.has(kind) === true || this.#writing.get(block)?.documents.has(kind) === true;
  }

  /** The block is gone: nothing of it is written. */
  drop(block: number): void {
    this.#waiting.delete(block);
  }

  /** Writes what waits. Rejects with STORE_UNREACHABLE; it is tried again later. */
  flush(): Promise<void> {
    const done = this.#turn.then(() => this.#flush());
    this.#turn = done.catch(() => undefined); // whoever called has it
    return done;
  }

  async close(): Promise<void> {
    await this.flush();
    clearTimeout(this.#timer);
  }

  #of(block: number): Waiting {
    const waiting = this.#waiting.get(block) ?? { documents: new Map<string, { readonly text: string; readonly node: string }>(), shown: {} };
    this.#waiting.set(block, waiting);
    this.#later();
    return waiting;
  }

  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.flush().catch((error: unknown) => {
        if (!this.#isFailing) this.#options.onFault(error);
        this.#isFailing = true;
        this.#later();
      });
    }, EVERY_MS).unref();
  }

  async #flush(): Promise<void> {
    while (this.#waiting.size > 0) {
      const part = [...this.#waiting].slice(0, MOST_AT_ONCE);
      for (const [block] of part) this.#waiting.delete(block);
      this.#writing = new Map(part);
      try {
        await this.#write(part);
      } catch (error) {
        for (const [block, before] of part) this.#putBack(block, before);
        throw error;
      } finally {
        this.#writing = new Map();
      }
      this.#isFailing = false;
      this.#options.onWritten(part.map(([block]) => block));
    }
  }

  async #write(part: readonly (readonly [number, Waiting])[]): Promise<void> {
    const sorted = part.toSorted(([a], [b]) => a - b);
    const documents = sorted.flatMap(([block, waiting]) => [...waiting.documents].map(([kind, { text, node }]) => ({ block, kind, text, node })));
    const shown = sorted.map(([, waiting]) => waiting.shown);
    await this.#options.database.query(PROJECT, [
      documents.map(({ node }) => node),
      documents.map(({ block }) => block),
      documents.map(({ kind }) => kind),
      documents.map(({ text }) => text),
      sorted.map(([block]) => block),
      shown.map(({ state }) => state ?? null),
      shown.map(({ status }) => status ?? null),
      shown.map(({ costUsd }) => costUsd ?? null),
    ]);
  }

  /** What came meanwhile is newer. */
  #putBack(block: number, before: Waiting): void {
    const now = this.#waiting.get(block);
    this.#waiting.set(block, {
      documents: new Map([...before.documents, ...(now?.documents ?? [])]),
      shown: { ...before.shown, ...now?.shown },
    });
  }
}
