// Handlers of `/api/blocks/:name/memory`: facts, and the window that the model sees.
import type { AddFact, BlockMemory, ChangeFact } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

/** `{success, fact}`. */
export const addFact = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  return ok({ success: true, fact: await context.core.blocks.addFact(param(context, 'name'), body as AddFact) });
};

/** `{success, fact}`. Fails with MESSAGE_NOT_FOUND for an unknown id. */
export const changeFact = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  return ok({ success: true, fact: await context.core.blocks.changeFact(param(context, 'name'), param(context, 'id'), body as ChangeFact) });
};

/** `{success, message}`. Fails with MESSAGE_NOT_FOUND for an unknown id. */
export const removeFact = async (context: RouteContext) => {
  await context.core.blocks.removeFact(param(context, 'name'), param(context, 'id'));
  return ok({ success: true, message: 'The fact was removed.' });
};

/** `{success, message, memory}` once the model has summarised the older messages. Fails with WRONG_STATE while another compaction runs. */
export const compact = async (context: RouteContext) => remembered(await context.core.blocks.compact(param(context, 'name')));

/** `{success, message, memory}` with summary and window as before the last compaction. */
export const undo = async (context: RouteContext) => remembered(await context.core.blocks.undoCompaction(param(context, 'name')));

/** Describes the window, which is true after any outcome; the outcome of the compaction is in `memory.compactions`. */
function remembered(memory: BlockMemory) {
  const { messages, tokens, maxTokens } = memory.window;
  return ok({ success: true, message: `The model now sees ${messages} messages: ${tokens} of ${maxTokens} tokens.`, memory });
}
