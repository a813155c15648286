// The work behind the states of a block's monitor and its memory, as actors. Which block they work for follows from the actor that invoked them.
import { fromPromise } from 'xstate';
import { type ActorSystem, fromAbortable } from '../block/abortable.ts';
import { requeueAll } from '../block/chat-file.ts';
import type { Choice, ReplyOutcome } from '../block/machine-types.ts';
import type { BlockWorkshop } from '../block/workshop.ts';
import type { BlockMemory, Compaction } from '../schemas/block.ts';
import { beginSession, choiceAfterFault, chooseNext } from './next-message.ts';
import { compact } from './compaction.ts';
import { Reply } from './reply.ts';

/** `shopOf` finds the block of an actor. */
export function monitorActors(shopOf: (system: ActorSystem) => BlockWorkshop) {
  return {
    recover: fromPromise<Choice, void>(({ system }) => guarded(shopOf(system), begin)),
    choose: fromPromise<Choice, { readonly isUrgent: boolean }>(({ system, input }) => guarded(shopOf(system), (shop) => chooseNext(shop, input.isUrgent))),
    reply: fromAbortable<ReplyOutcome, { readonly messageId: string }>(({ system, input, signal }) =>
      guarded(shopOf(system), (shop) => makeReply(shop, input.messageId, signal)),
    ),
    settle: fromPromise<void, { readonly isReplyLeft: boolean }>(({ system, input }) => settle(shopOf(system), input.isReplyLeft)),
    compact: fromAbortable<BlockMemory, { readonly trigger: Extract<Compaction['trigger'], 'threshold' | 'manual'> }>(({ system, input, signal }) =>
      compact(shopOf(system), input.trigger, signal),
    ),
  };
}

/** A fault of the disk or of a file is an outcome; what is left is a defect, which the machine counts. */
async function guarded<C extends Choice | ReplyOutcome>(
  shop: BlockWorkshop,
  work: (shop: BlockWorkshop) => Promise<C>,
): Promise<C | (Choice & { readonly kind: 'wait' | 'fail' })> {
  try {
    return await work(shop);
  } catch (error) {
    const outcome = choiceAfterFault(shop, error);
    if (outcome !== undefined) return outcome;
    shop.log.write('ERROR', 'monitor.fault', { error: error instanceof Error ? error.stack : String(error) });
    throw error;
  }
}

async function begin(shop: BlockWorkshop): Promise<Choice> {
  await shop.beginRun();
  await beginSession(shop);
  return { kind: 'nothing' };
}

async function makeReply(shop: BlockWorkshop, messageId: string, signal: AbortSignal): Promise<ReplyOutcome> {
  const reply = new Reply(shop, messageId);
  signal.addEventListener('abort', () => reply.abort(signal.reason === 'cancel' ? 'cancel' : 'stop'), { once: true });
  const outcome = await reply.make();
  return outcome.kind === 'over' ? { ...outcome, cancelled: reply.wasCancelled } : outcome;
}

/**
 * What broke off is queued again; its attempt counts, for a model may have been asked. A reply that did not end in time may yet be
 * saved: its message is left to the next start.
 */
async function settle(shop: BlockWorkshop, isReplyLeft: boolean): Promise<void> {
  try {
    if (!isReplyLeft) {
      await shop.files.chat.update((entries) => ({ value: requeueAll(entries), result: undefined }));
    }
  } finally {
    await shop.endRun();
  }
}
