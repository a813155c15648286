// The blocks that are held in memory: those at work, those that somebody follows, and those that were used last.
//
// One-object: there is one object for each block as long as anybody has it in hand, so that each file has one writer. One that was let go is
// found again until it is really gone.
// Wait-for-moves: while a block moves, whoever wants it waits for the end of the move.
// Swept-first: what a crash left behind in a folder is swept before the block is opened for the first time.
import { ask, type BlockActor } from './ask.ts';
import type { Block } from './block.ts';
import type { Unconfirmed } from './block-folders.ts';
import type { BlockIndex } from './block-index.ts';
import { blockNotFound } from './names.ts';

/** Blocks that nobody needs just now: kept, since reading them again costs more than keeping some. */
const KEPT_IDLE = 200;

/** What the registry needs. */
export interface OpenBlocksOptions {
  readonly index: Pick<BlockIndex, 'has'>;
  /** With the actor of a block that comes from the archive. */
  make(name: string, restored?: BlockActor): Block;
  sweep(name: string): void;
}

/** The registry of blocks: one object, and so one actor, for each. */
export class OpenBlocks {
  readonly #options: OpenBlocksOptions;
  readonly #open = new Map<string, Block>();
  /** Let go, but perhaps still in somebody's hand. */
  readonly #lent = new Map<string, WeakRef<Block>>();
  /** Blocks on their way out of the archive, by the names that they will have. */
  readonly #arriving = new Map<string, Promise<unknown>>();
  readonly #swept = new Set<string>();
  #isClosed = false;

  constructor(options: OpenBlocksOptions) {
    this.#options = options;
  }

  /** Throws BLOCK_NOT_FOUND. */
  async find(name: string): Promise<Block> {
    await this.settled(name); // wait-for-moves
    return this.findNow(name);
  }

  /** The same at once; a block that is on the move is not found. */
  findNow(name: string): Block {
    const isMoving = this.#moveOf(name) !== undefined;
    if (isMoving || !this.#options.index.has(name)) {
      if (!isMoving) this.#drop(name);
      throw blockNotFound(name);
    }
    const block = this.#held(name) ?? this.#make(name);
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

  /** Resolves when no block of the name is on the move. */
  async settled(name: string): Promise<void> {
    for (let move = this.#moveOf(name); move !== undefined; move = this.#moveOf(name)) await move;
  }

  /** Has an archived block restored under a name by its own actor, and keeps it from then on. */
  async restore(name: string, actor: BlockActor): Promise<Unconfirmed> {
    await this.settled(name);
    const arriving = this.#arrive(name, actor);
    this.#arriving.set(
      name,
      arriving.catch(() => undefined), // its caller has the failure
    );
    try {
      return await arriving;
    } finally {
      this.#arriving.delete(name);
    }
  }

  async #arrive(name: string, actor: BlockActor): Promise<Unconfirmed> {
    const unconfirmed = await ask(actor, { type: 'block.restore', name });
    this.#letGo();
    this.hold(this.#began(this.#options.make(name, actor)));
    return unconfirmed;
  }

  /** The block has moved away. */
  forget(name: string): void {
    this.#open.delete(name);
    this.#lent.delete(name);
    this.#swept.delete(name);
  }

  /** Before a block of this name is made: a monitor whose folder was taken away by hand must not become that of the new one. */
  async dismiss(name: string): Promise<void> {
    const left = this.#options.index.has(name) ? undefined : this.#held(name);
    if (left === undefined) return;
    await Promise.all([left.end(), left.end()]); // at once
    await left.close();
    this.forget(name);
  }

  /** Swept-first. */
  prepare(name: string): void {
    if (this.#swept.has(name)) return;
    this.#swept.add(name);
    this.#options.sweep(name);
  }

  /** Ends all that runs, and keeps everything from starting. When `hurry` resolves, replies have no more time. */
  async close(hurry: Promise<void>): Promise<void> {
    this.#isClosed = true;
    const blocks = this.all();
    void hurry.then(() => Promise.all(blocks.map((block) => block.end())));
    await Promise.all(blocks.map((block) => block.end()));
  }

  #held(name: string): Block | undefined {
    return this.#open.get(name) ?? this.#lent.get(name)?.deref();
  }

  #moveOf(name: string): Promise<unknown> | undefined {
    const block = this.#held(name);
    return block?.isMoving === true ? block.moved() : this.#arriving.get(name);
  }

  #make(name: string): Block {
    this.#letGo();
    this.prepare(name);
    return this.#began(this.#options.make(name));
  }

  #began(block: Block): Block {
    if (this.#isClosed) void block.end();
    return block;
  }

  /** A folder that somebody has taken away may come back: its monitor waits for that, and must not get a second one beside it. */
  #drop(name: string): void {
    const block = this.#open.get(name);
    if (block !== undefined && !block.isInUse) this.#lend(block);
  }

  #letGo(): void {
    if (this.#open.size < KEPT_IDLE) return;
    for (const block of this.#open.values()) {
      if (block.isInUse || !block.isQuiet) continue;
      this.#lend(block);
      return;
    }
  }

  /** One-object. */
  #lend(block: Block): void {
    this.#open.delete(block.name);
    this.#lent.set(block.name, new WeakRef(block));
    if (this.#lent.size <= this.#open.size + KEPT_IDLE) return;
    for (const [name, lent] of this.#lent) if (lent.deref() === undefined) this.#lent.delete(name);
  }
}
