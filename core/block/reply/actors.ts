// The actors that do the work of a block's monitor and memory. Each finds its block through the actor system that it runs in.
import { fromPromise } from 'xstate';
import { type ActorSystem, fromAbortable } from '../../base/abortable.ts';
import { BlockhouseError } from '../../errors.ts';
import type { BlockMemory, Compaction } from '../../schemas/block-memory.ts';
import type { Choice, ReplyOutcome } from '../actor/types.ts';
import type { BlockContext } from './block-context.ts';
import { compact } from './compaction.ts';
import { beginSession, choiceAfterFault, chooseNext } from './next-message.ts';
import { makeReply } from './reply.ts';

/** The actors by their names in the machine. `contextOf` finds the block of an actor. */
export function monitorActors(contextOf: (system: ActorSystem) => BlockContext) {
  return {
    recover: fromPromise<Choice, void>(({ system }) => guarded(contextOf(system), begin)),
    choose: fromPromise<Choice, { readonly isUrgent: boolean }>(({ system, input }) =>
      guarded(contextOf(system), (context) => chooseNext(context, input.isUrgent)),
    ),
    reply: fromAbortable<ReplyOutcome, { readonly messageId: string }>(({ system, input, signal }) =>
      guarded(contextOf(system), (context) => makeReply(context, input.messageId, signal)),
    ),
    settle: fromPromise<void, { readonly isReplyLeft: boolean }>(({ system, input }) => settle(contextOf(system), input.isReplyLeft)),
    compact: fromAbortable<BlockMemory, { readonly trigger: Extract<Compaction['trigger'], 'threshold' | 'manual'> }>(({ system, input, signal }) =>
      compact(contextOf(system), input.trigger, signal),
    ),
  };
}

/** Turns a fault of the disk or of a file into an outcome. Other errors are defects, which the machine counts. */
async function guarded<C extends Choice | ReplyOutcome>(
  context: BlockContext,
  work: (context: BlockContext) => Promise<C>,
): Promise<C | (Choice & { readonly kind: 'wait' | 'fail' })> {
  try {
    return await work(context);
  } catch (error) {
    if (error instanceof BlockhouseError && error.code === 'LEASE_LOST') context.drop();
    const outcome = choiceAfterFault(context, error);
    if (outcome !== undefined) return outcome;
    context.log.write('ERROR', 'monitor.fault', { error: error instanceof Error ? error.stack : String(error) });
    throw error;
  }
}

async function begin(context: BlockContext): Promise<Choice> {
  await context.beginRun();
  await beginSession(context);
  return { kind: 'nothing' };
}

/**
 * Queues an interrupted message again; the attempt counts, because a model may have been called. A reply that did not end in time may still be
 * saved, so its message is left to the next start.
 */
async function settle(context: BlockContext, isReplyLeft: boolean): Promise<void> {
  try {
    if (!isReplyLeft) await context.files.conversation.requeueAll(context.claim);
  } finally {
    await context.endRun();
  }
}
