// The blocks that are held in memory: those that are working, those with followers, and those that were used last.
//
// one-object: each block has at most one object while any code refers to it, so that each file has one writer. An object that was dropped is found
//   again until it is garbage collected.
// wait-for-moves: while a block moves, `find` waits for the end of the move.

import { blockNotFound } from '../schemas/names.ts';
import type { BlockRef, Unconfirmed } from '../store/port.ts';
import type { RunFact } from '../store/run-fact.ts';
import type { BlockList } from '../store/store.ts';
import { ask, type BlockActor } from './actor/ask.ts';
import type { Block } from './block.ts';

/** The number of unused blocks that are kept, because reading them again costs more than the memory. */
const KEPT_IDLE = 200;

/** What the registry needs. */
export interface OpenBlocksOptions {
  readonly index: Pick<BlockList, 'find' | 'names'>;
  /** Makes the object of a block; `restored` is the actor of a block that comes from the archive. */
  make(ref: BlockRef, restored?: BlockActor): Block;
}

/** The registry of blocks: one object, and so one actor, for each. */
export class OpenBlocks {
  readonly #options: OpenBlocksOptions;
  readonly #open = new Map<string, Block>();
  /** Blocks that were dropped, but that other code may still refer to. */
  readonly #lent = new Map<string, WeakRef<Block>>();
  /** Blocks that are being restored, by their new names. */
  readonly #arriving = new Map<string, Promise<unknown>>();
  #isClosed = false;

  constructor(options: OpenBlocksOptions) {
    this.#options = options;
  }

  /** The block of this name, after any move. Throws BLOCK_NOT_FOUND. */
  async find(name: string): Promise<Block> {
    await this.settled(name); // wait-for-moves
    return this.findNow(name);
  }

  /** The same without waiting for a move: throws BLOCK_NOT_FOUND for a block that moves. A promise only where the store must be asked. */
  findNow(name: string): Block | Promise<Block> {
    if (this.#moveOf(name) !== undefined) throw blockNotFound(name);
    const found = this.#options.index.find(name);
    return found instanceof Promise ? found.then((ref) => this.#of(name, ref)) : this.#of(name, found);
  }

  #of(name: string, ref: BlockRef | undefined): Block {
    if (ref === undefined) {
      this.#drop(name);
      throw blockNotFound(name, this.#options.index.names());
    }
    const held = this.#held(name);
    if (held !== undefined && held.ref.block !== ref.block) this.#dropOther(held);
    const block = this.#held(name) ?? this.#make(ref);
    this.hold(block);
    return block;
  }

  /** Another server has moved the block, and made another one with its name. */
  #dropOther(block: Block): void {
    this.forget(block.name);
    block.leave();
  }

  /** Puts a block back into the registry before it begins to run, because it may have been dropped since it was found. */
  hold(block: Block): void {
    this.#lent.delete(block.name);
    this.#open.delete(block.name);
    this.#open.set(block.name, block);
  }

  has(name: string): boolean {
    return this.#open.has(name);
  }

  /** All blocks that have an object. */
  all(): Block[] {
    return [...this.#open.values(), ...[...this.#lent.values()].flatMap((lent) => lent.deref() ?? [])];
  }

  /** For those who follow its block. */
  ran(fact: RunFact): void {
    this.#held(fact.block)?.ran(fact);
  }

  get running(): number {
    let count = 0;
    for (const block of this.#open.values()) if (block.isRunning) count += 1;
    return count;
  }

  /** How many this server has. */
  get owned(): number {
    return this.all().filter(({ tenure }) => tenure.claim !== undefined).length;
  }

  /** Resolves when no block of this name moves. */
  async settled(name: string): Promise<void> {
    for (let move = this.#moveOf(name); move !== undefined; move = this.#moveOf(name)) await move;
  }

  /** Restores an archived block under `name` through its own actor, and keeps that actor. */
  async restore(name: string, actor: BlockActor): Promise<Unconfirmed> {
    await this.settled(name);
    const arriving = this.#arrive(name, actor);
    this.#arriving.set(
      name,
      arriving.catch(() => undefined), // the caller gets the failure
    );
    try {
      return await arriving;
    } finally {
      this.#arriving.delete(name);
    }
  }

  async #arrive(name: string, actor: BlockActor): Promise<Unconfirmed> {
    const unconfirmed = await ask(actor, { type: 'block.restore', name });
    const ref = await this.#options.index.find(name);
    this.#letGo();
    if (ref !== undefined) this.hold(this.#began(this.#options.make(ref, actor)));
    return unconfirmed;
  }

  /** Removes a block whose folder has moved away. */
  forget(name: string): void {
    this.#open.delete(name);
    this.#lent.delete(name);
  }

  /** Ends the monitor of an earlier block with this name whose folder was removed by hand, before a new block gets the name. */
  async dismiss(name: string): Promise<void> {
    const left = this.#held(name);
    if (left === undefined || (await this.#options.index.find(name)) !== undefined) return;
    await Promise.all([left.end(), left.end()]); // at once
    await left.close();
    this.forget(name);
  }

  /** Ends everything that runs, and prevents new starts. When `hurry` resolves, replies are aborted at once. */
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

  #make(ref: BlockRef): Block {
    this.#letGo();
    return this.#began(this.#options.make(ref));
  }

  #began(block: Block): Block {
    if (this.#isClosed) void block.end();
    return block;
  }

  /** A folder that was removed by hand may come back: its monitor waits for that, so there must not be a second monitor for it. */
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

  /** one-object. */
  #lend(block: Block): void {
    this.#open.delete(block.name);
    this.#lent.set(block.name, new WeakRef(block));
    if (this.#lent.size <= this.#open.size + KEPT_IDLE) return;
    for (const [name, lent] of this.#lent) if (lent.deref() === undefined) this.#lent.delete(name);
  }
}
