// `/api/blocks/:name/memory`: facts, and the window that the model sees.
import type { BlockMemory } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../body.ts';
import { ok } from '../reply.ts';
import { param, type RouteContext } from '../route.ts';

export const addFact = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  return ok({ success: true, fact: await context.core.blocks.addFact(param(context, 'name'), body) });
};

export const removeFact = async (context: RouteContext) => {
  await context.core.blocks.removeFact(param(context, 'name'), param(context, 'id'));
  return ok({ success: true, message: 'The fact is removed.' });
};

export const compact = async (context: RouteContext) => remembered(await context.core.blocks.compact(param(context, 'name')));

export const undo = async (context: RouteContext) => remembered(await context.core.blocks.undoCompaction(param(context, 'name')));

/** True whatever came of the compaction; its outcome stands in `memory.compactions`. */
function remembered(memory: BlockMemory) {
  const { messages, tokens, maxTokens } = memory.window;
  return ok({ success: true, message: `The model sees ${messages} messages now: ${tokens} of ${maxTokens} tokens.`, memory });
}
