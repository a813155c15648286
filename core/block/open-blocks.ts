// The blocks that are held in memory: those at work, those that somebody follows, and those that were used last.
//
// O1 One object for each block as long as anybody has it in hand, so that each file has one writer. One that was let go is found again
//    until it is really gone.
// O2 While a block moves, whoever wants it waits for the end of the move.
// O3 A block does not move while somebody copies it.
// O4 What a crash left behind in a folder is swept before the block is opened for the first time.
import type { Block } from './block.ts';
import type { Catalog } from './catalog.ts';
import { blockNotFound } from './names.ts';

/** Blocks that nobody needs just now: kept, since reading them again costs more than keeping some. */
const KEPT_IDLE = 200;

export interface OpenBlocksOptions {
  readonly catalog: Catalog;
  make(name: string): Block;
  sweep(name: string): void;
}

export class OpenBlocks {
  readonly #options: OpenBlocksOptions;
  readonly #open = new Map<string, Block>();
  /** O1: let go, but perhaps still in somebody's hand. */
  readonly #lent = new Map<string, WeakRef<Block>>();
  readonly #moving = new Map<string, Promise<unknown>>();
  /** O3: copies that are being made. */
  readonly #copying = new Map<string, Set<Promise<unknown>>>();
  readonly #swept = new Set<string>();

  constructor(options: OpenBlocksOptions) {
    this.#options = options;
  }

  /** Throws BLOCK_NOT_FOUND. */
  async find(name: string): Promise<Block> {
    while (this.#moving.has(name)) await this.#moving.get(name); // O2
    return this.findNow(name);
  }

  /** The same at once; a block that is on the move is not found. */
  findNow(name: string): Block {
    if (this.#moving.has(name) || !this.#options.catalog.has(name)) {
      if (!this.#moving.has(name)) this.#drop(name);
      throw blockNotFound(name);
    }
    const block = this.#open.get(name) ?? this.#lent.get(name)?.deref() ?? this.#make(name);
    this.hold(block);
    return block;
  }

  /** Keeps a block that was found some time ago, before it begins to run. The one that was used last stands last. */
  hold(block: Block): void {
    this.#lent.delete(block.name);
    this.#open.delete(block.name);
    this.#open.set(block.name, block);
  }

  has(name: string): boolean {
    return this.#open.has(name);
  }

  /** All that there are objects of. */
  all(): Block[] {
    return [...this.#open.values(), ...[...this.#lent.values()].flatMap((lent) => lent.deref() ?? [])];
  }

  get running(): number {
    let count = 0;
    for (const block of this.#open.values()) if (block.isRunning) count += 1;
    return count;
  }

  /** O2. Moves of the same name take turns. */
  async whileMoving<T>(name: string, move: () => Promise<T>): Promise<T> {
    while (this.#moving.has(name)) await this.#moving.get(name);
    const moving = Promise.allSettled(this.#copying.get(name) ?? []).then(move); // O3
    const settled = moving.then(
      () => undefined,
      () => undefined, // its caller has the failure
    );
    this.#moving.set(name, settled);
    try {
      return await moving;
    } finally {
      this.#moving.delete(name);
    }
  }

  /** O3. Whatever else is done with the block goes on meanwhile. Throws BLOCK_NOT_FOUND. */
  async whileCopying<T>(name: string, copy: (block: Block) => Promise<T>): Promise<T> {
    const copying = copy(await this.find(name));
    const all = this.#copying.get(name) ?? new Set();
    this.#copying.set(name, all.add(copying));
    try {
      return await copying;
    } finally {
      all.delete(copying);
      if (all.size === 0) this.#copying.delete(name);
    }
  }

  /** The block has moved away. */
  forget(name: string): void {
    this.#open.delete(name);
    this.#lent.delete(name);
    this.#swept.delete(name);
  }

  /** Before a block of this name is made: a monitor whose folder was taken away by hand must not become that of the new one. */
  async dismiss(name: string): Promise<void> {
    const left = this.#options.catalog.has(name) ? undefined : (this.#open.get(name) ?? this.#lent.get(name)?.deref());
    if (left === undefined) return;
    await left.stop('its folder is gone', 'server', Promise.resolve());
    await left.close();
    this.forget(name);
  }

  /** O4. */
  prepare(name: string): void {
    if (this.#swept.has(name)) return;
    this.#swept.add(name);
    this.#options.sweep(name);
  }

  #make(name: string): Block {
    this.#letGo();
    this.prepare(name);
    return this.#options.make(name);
  }

  /** A folder that somebody has taken away may come back: its monitor waits for that, and must not get a second one beside it. */
  #drop(name: string): void {
    const block = this.#open.get(name);
    if (block !== undefined && !block.isInUse) this.#lend(block);
  }

  #letGo(): void {
    if (this.#open.size < KEPT_IDLE) return;
    const idle = [...this.#open.values()].find((block) => !block.isInUse && block.isQuiet);
    if (idle !== undefined) this.#lend(idle);
  }

  /** O1. */
  #lend(block: Block): void {
    this.#open.delete(block.name);
    this.#lent.set(block.name, new WeakRef(block));
    if (this.#lent.size <= this.#open.size + KEPT_IDLE) return;
    for (const [name, lent] of this.#lent) if (lent.deref() === undefined) this.#lent.delete(name);
  }
}
