// Which blocks this server works on. Where several servers share a workspace, one of them owns a block while it has something to do.
//
// looks-anyway: each second a server takes what has something to do, and looks at its own blocks and at what is wished of them. A hint makes it look earlier.
// here-already: a hint of work for a block that this server has is passed on to it, without a look.
// gives-back: a block that is stopped is given back at once, and one without anything to do after half a minute.
// asks-first: a server that needs a block of another one asks for it, and waits until its reply is over.
// drains: a server that is drained begins nothing more; each of its blocks is given back when the reply under way is over.
// lost-is-left: what this server has lost ends at once, and nothing of it is written any more; its bills are kept. Then it joins again.
import { setTimeout as delay } from 'node:timers/promises';
import { BlockhouseError, toBlockhouseError } from '../errors.ts';
import type { BlockRef, Claim, Membership, Rest, Wish } from '../store/port.ts';
import type { Block } from './block.ts';
import type { OpenBlocks } from './open-blocks.ts';
import type { WorkspaceContext } from './reply/block-context.ts';

/** What an ownership works with. */
export interface OwnershipOptions {
  readonly world: WorkspaceContext;
  readonly blocks: OpenBlocks;
  /** Starts the monitor of a block that this server has taken, if the block is to run. */
  run(block: Block, cause: string): Promise<void>;
  onFault(what: string, error: unknown, block?: string): void;
}

/** The most blocks that a server owns. */
const MAX_OWNED = 500;
const LOOK_EVERY_MS = 1000;
/** The pause between two starts when the server starts, so that a thousand monitors don't start at once. */
const STAGGER_MS = 10;
/** The grace of a reply after a stop, the time to save it, and some for the way there and back. */
const ASK_MS = 20_000;

/** The blocks that this server has. */
export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #closing = new AbortController();
  /** What could not be given back yet. */
  readonly #leaving = new Map<Claim, Rest>();
  /** Who waits for a block to be given back, by its number. */
  readonly #waiting = new Map<number, Set<() => void>>();
  #looking: Promise<void> | undefined;
  #mustLook = false;
  #wasDraining = false;
  #timer: NodeJS.Timeout | undefined;
  #unhear: (() => void) | undefined;
  #fault: string | undefined;

  constructor(options: OwnershipOptions) {
    this.#options = options;
  }

  /** Begins in the background. */
  open(): void {
    const { store } = this.#options.world;
    this.#unhear = store.signals.on(({ block, what }) => {
      if (what === 'released') this.#wake({ block });
      else if (what !== 'work' || !this.#passOn(block)) this.#lookSoon();
    });
    this.#lookSoon();
    if (!this.#member.isShared) return;
    this.#timer = setInterval(() => this.#lookSoon(), LOOK_EVERY_MS).unref(); // looks-anyway
    this.#watch();
  }

  /** Begins nothing any more. Resolves when nothing is being begun. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    this.#unhear?.();
    await this.#looking;
  }

  /** Takes a block, from another server if need be. Rejects with WRONG_STATE when that one does not give it back. asks-first. */
  async take(block: Block): Promise<void> {
    const { world } = this.#options;
    for (const until = world.monotonic() + ASK_MS; !(await this.tryTake(block)); ) {
      if (world.monotonic() > until)
        throw new BlockhouseError('WRONG_STATE', `Another server works on ${block.name}, and did not give it back in time. Try again.`);
      await this.#member.askFor(block.ref);
      await this.#changed(block.ref);
    }
  }

  /** Takes a block unless another server has it. */
  async tryTake(block: Block): Promise<boolean> {
    for (const [claim] of this.#leaving) if (claim.block === block.ref.block && claim.name === block.name) await this.#changed(block.ref);
    return block.tenure.take();
  }

  /** Resolves when `isSo` says yes of what the store knows, or when another server has had its time. */
  async waitFor(ref: BlockRef, isSo: () => Promise<boolean>): Promise<void> {
    const { world } = this.#options;
    for (const until = world.monotonic() + ASK_MS; !(await isSo()) && world.monotonic() < until; ) await this.#changed(ref);
  }

  /** Gives a block back that has nothing to do here. Never rejects. gives-back. */
  giveBack(claim: Claim, rest: Rest): void {
    this.#leaving.set(claim, rest);
    if (!this.#closing.signal.aborted) void this.#leave(claim, rest);
  }

  get #member(): Membership {
    return this.#options.world.member();
  }

  /** False where this server does not have the block. here-already. */
  #passOn(number: number): boolean {
    if (!this.#member.isShared) return false;
    const block = this.#options.blocks.all().find(({ ref, tenure }) => ref.block === number && tenure.claim !== undefined);
    block?.send({ type: 'chat.changed' });
    return block !== undefined;
  }

  /** lost-is-left. */
  #watch(): void {
    const leave = (): void => {
      this.#leaving.clear();
      for (const block of this.#options.blocks.all()) block.drop();
      this.#lookSoon();
    };
    this.#member.lost.addEventListener('abort', leave, { once: true });
  }

  /** One look at a time. */
  #lookSoon(): void {
    this.#mustLook = true;
    this.#looking ??= this.#lookAll().finally(() => {
      this.#looking = undefined;
    });
  }

  async #lookAll(): Promise<void> {
    while (this.#mustLook && !this.#closing.signal.aborted) {
      this.#mustLook = false;
      try {
        await this.#look();
        this.#fault = undefined;
      } catch (error) {
        this.#tell(toBlockhouseError(error)); // the next look is a second away
      }
    }
  }

  async #look(): Promise<void> {
    const { world, blocks } = this.#options;
    if (this.#member.lost.aborted) {
      await world.rejoin();
      this.#watch();
    }
    const member = this.#member;
    for (const [claim, rest] of this.#leaving) await this.#leave(claim, rest);
    const { wishes, mine, claimed } = await member.look(member.isShared ? MAX_OWNED - blocks.owned : Number.POSITIVE_INFINITY);
    this.#seeDrain();
    for (const wish of wishes) await this.#guarded('wish', wish, () => this.#grant(wish));
    for (const claim of mine) await this.#guarded('resume', claim, () => this.#begin(claim, 'message'));
    for (const claim of claimed) {
      if (this.#closing.signal.aborted) return;
      await this.#guarded('resume', claim, () => this.#begin(claim, member.isShared ? 'message' : 'server start'));
      if (!member.isShared) await delay(STAGGER_MS, undefined, { signal: this.#closing.signal }).catch(() => undefined); // it was aborted
    }
  }

  /** drains. */
  #seeDrain(): void {
    const { isDraining } = this.#member;
    if (isDraining && !this.#wasDraining) for (const block of this.#options.blocks.all()) block.tenure.see();
    this.#wasDraining = isDraining;
  }

  async #begin(claim: Claim, cause: string): Promise<void> {
    const block = await this.#options.blocks.find(claim.name);
    if (block.tenure.claim?.fence === claim.fence) return block.send({ type: 'chat.changed' });
    if (block.tenure.claim !== undefined) block.drop();
    block.tenure.begin(claim);
    const running = this.#guarded('resume', claim, () => this.#options.run(block, cause)).finally(() => block.tenure.see());
    if (!this.#member.isShared) await running; // otherwise a slow start would hold up the others
  }

  async #grant({ name, cancel }: Wish): Promise<void> {
    const block = await this.#options.blocks.find(name);
    if (cancel !== null) {
      if (await block.cancelReply(cancel)) return;
      const cancelled = await block.files.conversation.cancel(cancel, block.tenure.claim);
      if (cancelled !== 'asked') block.unsaved.forget(cancelled.entry);
      return;
    }
    await block.tenure.take(); // a claim whose answer was lost may not be known here
    void block.stop('another server', 'server').finally(() => block.tenure.see()); // the next look need not wait for it
  }

  async #leave(claim: Claim, rest: Rest): Promise<void> {
    try {
      await this.#member.release(claim, rest);
      this.#leaving.delete(claim);
      this.#wake(claim);
    } catch (error) {
      this.#tell(toBlockhouseError(error)); // the next look tries again
    }
  }

  async #guarded(what: string, { name }: BlockRef, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.onFault(what, error, name);
    }
  }

  /** Reports a fault once, until it changes. */
  #tell({ code, message }: BlockhouseError): void {
    if (this.#fault !== code) this.#options.onFault('store', new BlockhouseError(code, message));
    this.#fault = code;
  }

  #wake({ block }: Pick<BlockRef, 'block'>): void {
    for (const wake of [...(this.#waiting.get(block) ?? [])]) wake();
  }

  /** Resolves when a block has been given back, or in a second. */
  #changed({ block }: BlockRef): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(block) ?? new Set();
      const wake = (): void => {
        clearTimeout(timer);
        waiting.delete(wake);
        if (waiting.size === 0) this.#waiting.delete(block);
        resolve();
      };
      const timer = setTimeout(wake, LOOK_EVERY_MS);
      this.#waiting.set(block, waiting.add(wake));
    });
  }
}
