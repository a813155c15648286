// The callers that wait for the outcomes of one block's messages.
//
// follow-first: a wait follows the block before its message is read, so that no outcome is missed.
// one-look: all waits of a block share one follower, and after a change chat.json is read once for all of them. Nothing polls.
// not-read-yet: entries may be a tenth of a second old, so a message that is not among them is asked for by its id before its wait ends.
// always-ends: a wait ends with the outcome, with its time, when its caller leaves, when the block stops answering, or when it is gone.
import { callerLeft, offAbort, onAbort } from '../base/abort.ts';
import { BlockhouseError } from '../errors.ts';
import type { ChatEntry } from '../schemas/chat-entry.ts';
import type { Entries } from '../store/port.ts';
import type { StopFollowing } from './api.ts';
import type { Block } from './block.ts';
import { isWaiting } from './conversation/chat-file.ts';
import { unlessDamaged } from './status/readiness.ts';
import { endsWait } from './waiting-note.ts';

/** When a wait ends without an outcome. */
export interface WaitLimits {
  readonly waitMs: number;
  /** Rejects with CANCELLED when it fires. */
  readonly signal: AbortSignal | undefined;
  /** Resolves when it fires, as at the end of `waitMs`. */
  readonly until: AbortSignal | undefined;
  /** Does not end while a call waits for a person. */
  readonly waitsForPeople?: boolean;
}

interface Wait {
  readonly messageId: string;
  readonly waitsForPeople: boolean;
  end(seen?: Entries): void;
  fail(error: unknown): void;
}

/** The waits of one block. */
export class AnswerWaits {
  readonly #block: Block;
  readonly #waits = new Set<Wait>();
  #unfollow: StopFollowing | undefined;
  #isLooking = false;
  #isStale = false;

  constructor(block: Block) {
    this.#block = block;
  }

  get size(): number {
    return this.#waits.size;
  }

  /**
   * Resolves when the message doesn't wait any more, with the entries that say so, or when the wait is over. Rejects with CANCELLED, and with
   * BLOCK_NOT_FOUND when the block is gone.
   */
  wait(messageId: string, { waitMs, signal, until, waitsForPeople = false }: WaitLimits): Promise<Entries | undefined> {
    return new Promise((resolve, reject) => {
      const leave = (settle: () => void): void => {
        clearTimeout(timer);
        if (left !== undefined) offAbort(left);
        if (over !== undefined) offAbort(over);
        this.#remove(wait);
        settle();
      };
      const end = (seen?: Entries): void => leave(() => resolve(seen));
      const stop = (): void => end();
      const fail = (error: unknown): void => leave(() => reject(error));
      const abort = (): void => fail(callerLeft(signal?.reason));
      const wait: Wait = { messageId, waitsForPeople, end, fail };
      this.#add(wait); // follow-first
      const timer = setTimeout(stop, waitMs);
      const left = signal === undefined ? undefined : onAbort(signal, abort);
      const over = until === undefined ? undefined : onAbort(until, stop);
      if (signal?.aborted) abort();
      else if (until?.aborted) stop();
      else void this.#look();
    });
  }

  #add(wait: Wait): void {
    this.#unfollow ??= this.#block.follow({ onChange: () => void this.#look(), onGone: () => this.#gone() });
    this.#waits.add(wait);
  }

  #remove(wait: Wait): void {
    this.#waits.delete(wait);
    if (this.#waits.size > 0) return;
    this.#unfollow?.();
    this.#unfollow = undefined;
  }

  /** one-look. */
  async #look(): Promise<void> {
    this.#isStale = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#isStale && this.#waits.size > 0) {
        this.#isStale = false;
        const entries = await this.#block.files.conversation.entries().catch(unlessDamaged);
        const missing = entries === undefined ? [] : await this.#missing(entries);
        this.#endThoseOver(entries, missing, await this.#block.standing());
      }
    } catch (error) {
      if (!this.#block.isMoving) for (const wait of [...this.#waits]) wait.fail(error);
    } finally {
      this.#isLooking = false;
    }
  }

  /** not-read-yet: the awaited messages that are not among the entries and wait all the same. */
  async #missing(entries: Entries): Promise<Entries> {
    const known = new Set(entries.map(({ id }) => id));
    const missing = new Set([...this.#waits].map(({ messageId }) => messageId).filter((id) => !known.has(id)));
    const found: ChatEntry[] = [];
    for (const id of missing) {
      const entry = await this.#block.files.conversation.message(id, entries).then(
        (one) => one.entry,
        (error: unknown) => unlessUnknown(error),
      );
      if (entry !== undefined && isWaiting(entry)) found.push(entry);
    }
    return found;
  }

  /** `entries` is undefined while chat.json is damaged, which says nothing about a message. */
  #endThoseOver(entries: Entries | undefined, missing: Entries, standing: Awaited<ReturnType<Block['standing']>>): void {
    if (entries !== undefined) for (const wait of this.#over([...entries, ...missing])) wait.end(entries);
    // A block that moves is gone soon, or answers again.
    if (this.#block.isMoving) return;
    for (const wait of [...this.#waits]) if (endsWait(this.#block.name, standing, wait.waitsForPeople) !== undefined) wait.end();
  }

  /** The waits whose messages don't wait any more. */
  #over(entries: Entries): Wait[] {
    const awaited = new Set([...this.#waits].map(({ messageId }) => messageId));
    const still = new Set<string>();
    for (const entry of entries) if (awaited.has(entry.id) && isWaiting(entry)) still.add(entry.id);
    return [...this.#waits].filter(({ messageId }) => !still.has(messageId));
  }

  #gone(): void {
    this.#unfollow = undefined;
    const { name } = this.#block;
    for (const wait of [...this.#waits]) {
      const text = `${name} was archived or renamed during the wait. It still has the message ${wait.messageId}.`;
      wait.fail(new BlockhouseError('BLOCK_NOT_FOUND', text));
    }
  }
}

function unlessUnknown(error: unknown): undefined {
  if (error instanceof BlockhouseError && error.code === 'MESSAGE_NOT_FOUND') return undefined;
  throw error;
}
