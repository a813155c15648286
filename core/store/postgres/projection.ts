// What this server writes each half second of the blocks that it has changed: documents that can be made again, and what the list is sorted by.
//
// all-together: it is one statement for all blocks. What can't be written now is written with the next ones.
// given-up: what a server has changed before it was given up is not stored any more, also when it has joined again.
// as-it-is-then: a document with revisions is written as it is then, and only over the revision that it follows.
// before-release: a block is given back after its part is written, so that the next owner reads it.
// one-waits: behind what is being written waits one more writing, for all who ask meanwhile: a block that is given back does not wait for those that change again and again.
import type { Database } from './pool.ts';
import { PROJECT } from './sql/blocks.ts';

/** A derived document as far as the list goes. */
export interface Shown {
  readonly state?: string | undefined;
  readonly status?: string | undefined;
  readonly costUsd?: number | null | undefined;
}

/** A document that is written over one revision. as-it-is-then. */
export interface Revised {
  readonly text: string;
  /** That it follows. */
  readonly rev: number;
  /** With its own revision; undefined where what is stored has another one, or is another server's. */
  onStored(rev: number | undefined): void;
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

interface Changed {
  /** Undefined where there is nothing to write any more. */
  readonly part: () => { readonly text: string; readonly rev?: number; onStored?(rev: number | undefined): void } | undefined;
  /** The server's membership when it was changed. given-up. */
  readonly node: string;
}

interface Waiting {
  /** By kind. */
  readonly documents: Map<string, Changed>;
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
  /** one-waits. */
  #next: Promise<void> | undefined;
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
    this.#of(block).documents.set(kind, { part: () => ({ text }), node: this.#options.node() });
    this.touch(block, shown);
  }

  /** Stores a document that has revisions. as-it-is-then. */
  storeLater(block: number, kind: string, part: () => Revised | undefined): void {
    this.#of(block).documents.set(kind, { part, node: this.#options.node() });
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
    this.#next ??= this.#turn.then(() => {
      this.#next = undefined;
      return this.#flush();
    });
    this.#turn = this.#next.catch(() => undefined); // whoever called has it
    return this.#next;
  }

  async close(): Promise<void> {
    do await this.flush();
    while (this.#waiting.size > 0);
    clearTimeout(this.#timer);
  }

  #of(block: number): Waiting {
    const waiting = this.#waiting.get(block) ?? { documents: new Map<string, Changed>(), shown: {} };
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
    const blocks = [...this.#waiting.keys()]; // what comes meanwhile is for the next one
    for (let from = 0; from < blocks.length; from += MOST_AT_ONCE) {
      const part = blocks.slice(from, from + MOST_AT_ONCE).flatMap((block): [number, Waiting][] => {
        const waiting = this.#waiting.get(block);
        return waiting === undefined ? [] : [[block, waiting]];
      });
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
    const documents = sorted.flatMap(([block, waiting]) =>
      [...waiting.documents].flatMap(([kind, { part, node }]) => {
        const now = part();
        return now === undefined ? [] : [{ block, kind, node, now }];
      }),
    );
    const shown = sorted.map(([, waiting]) => waiting.shown);
    const stored = await this.#options.database.query<{ block: number; kind: string; rev: number }>(PROJECT, [
      documents.map(({ node }) => node),
      documents.map(({ block }) => block),
      documents.map(({ kind }) => kind),
      documents.map(({ now }) => now.text),
      documents.map(({ now }) => now.rev ?? null),
      sorted.map(([block]) => block),
      shown.map(({ state }) => state ?? null),
      shown.map(({ status }) => status ?? null),
      shown.map(({ costUsd }) => costUsd ?? null),
    ]);
    for (const { block, kind, now } of documents) now.onStored?.(stored.find((row) => row.block === block && row.kind === kind)?.rev);
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
