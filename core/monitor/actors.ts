// The work behind the states of one block's monitor.
import { fromPromise } from 'xstate';
import { requeueAll } from '../block/chat-file.ts';
import type { BlockWorkshop } from '../block/workshop.ts';
import { compact } from './compaction.ts';
import { type Choice, createMonitorMachine, type MonitorMachine, type ReplyOutcome } from './machine.ts';
import { beginSession, choiceAfterFault, chooseNext } from './next-message.ts';
import { Reply } from './reply.ts';

/** What the block does around the work. */
export interface MonitorHooks {
  /** Before anything else of a run; throws BLOCK_DAMAGED when a file of the block is. */
  onBegin(): Promise<void>;
  onEnd(): Promise<void>;
}

export class MonitorActors {
  readonly #shop: BlockWorkshop;
  readonly #hooks: MonitorHooks;
  #reply: Reply | undefined;

  constructor(shop: BlockWorkshop, hooks: MonitorHooks) {
    this.#shop = shop;
    this.#hooks = hooks;
  }

  machine(): MonitorMachine {
    const shop = this.#shop;
    return createMonitorMachine(() => shop.world.now()).provide({
      actors: {
        recover: fromPromise(() => this.#guarded(() => this.#begin())),
        choose: fromPromise<Choice, { readonly name: string; readonly isUrgent: boolean }>(({ input }) =>
          this.#guarded(() => chooseNext(shop, input.isUrgent)),
        ),
        reply: fromPromise<ReplyOutcome, { readonly name: string; readonly messageId: string }>(({ input, signal }) =>
          this.#guarded(() => this.#makeReply(input.messageId, signal)),
        ),
        compact: fromPromise(async ({ signal }) => void (await compact(shop, 'threshold', signal))),
        settle: fromPromise(() => this.#settle()),
      },
      actions: { abortReply: () => this.#reply?.abort('stop') },
    });
  }

  /** Ends the reply to a message, where it is being made. Resolves when that is over: with true when the message was cancelled by it. */
  async cancel(messageId: string): Promise<boolean> {
    const reply = this.#reply;
    if (reply?.messageId !== messageId) return false;
    reply.abort('cancel');
    await reply.ended;
    return reply.wasCancelled;
  }

  /** A fault of the disk or of a file is an outcome; what is left is a defect, which the machine counts. */
  async #guarded<C extends Choice | ReplyOutcome>(work: () => Promise<C>): Promise<C | (Choice & { readonly kind: 'wait' | 'fail' })> {
    try {
      return await work();
    } catch (error) {
      const outcome = choiceAfterFault(this.#shop, error);
      if (outcome !== undefined) return outcome;
      this.#shop.log.write('ERROR', 'monitor.fault', { error: error instanceof Error ? error.stack : String(error) });
      throw error;
    }
  }

  async #begin(): Promise<Choice> {
    await this.#hooks.onBegin();
    await beginSession(this.#shop);
    return { kind: 'nothing' };
  }

  async #makeReply(messageId: string, signal: AbortSignal): Promise<ReplyOutcome> {
    const reply = new Reply(this.#shop, messageId);
    this.#reply = reply;
    const abort = (): void => reply.abort('stop');
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await reply.make();
    } finally {
      signal.removeEventListener('abort', abort);
      // One that took too long to be saved ends after its run: the next run may be at its own reply by then.
      if (this.#reply === reply) this.#reply = undefined;
    }
  }

  /**
   * What broke off is queued again; its attempt counts, for a model may have been asked. A reply that did not end in time may yet be
   * saved: its message is left to the next start.
   */
  async #settle(): Promise<void> {
    try {
      if (this.#reply === undefined) {
        await this.#shop.files.chat.update((entries) => ({ value: requeueAll(entries), result: undefined }));
      }
    } finally {
      await this.#hooks.onEnd();
    }
  }
}
