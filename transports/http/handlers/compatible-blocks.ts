// Where blocks answer as models, and who may ask them.
//
// right-first: a key without the right reads the same of a block that is there and of one that is not.
// own-words: an error has the name that the client wrote, since an alias may stand for a block that it may not know, and no name that is like it.
import { BLOCK_PROVIDER, BlockhouseError, type Core, invalidRequest, mayAskBlock } from '../../../core/index.ts';
import type { RouteContext } from '../wire/route.ts';
import { inLane } from './block-lanes.ts';

/** What a request gets that asks a block in a protocol, or for something, that blocks don't know. */
export function noBlockHere(): BlockhouseError {
  const paths = '/v1/chat/completions, /v1/responses, /v1/messages and /ollama/api/chat';
  return invalidRequest('model', `is that of a block, and blocks answer on ${paths} alone; without a model's protocol, at POST /api/blocks/<name>/chat`);
}

/** True for a body of `/v1/chat` that asks a block, whether it takes the block for a provider or writes its whole name as the model. */
export function asksBlock({ adapter, model }: Readonly<Record<string, unknown>>): boolean {
  return adapter === BLOCK_PROVIDER || (adapter === undefined && typeof model === 'string' && model.startsWith(`${BLOCK_PROVIDER}/`));
}

/** right-first. `asked`: the name that the client wrote (own-words). Throws KEY_FORBIDDEN. */
export function assertMayAskBlock({ key }: Pick<RouteContext, 'key'>, block: string, asked: string): void {
  if (key === undefined || mayAskBlock(key, block)) return;
  const name = JSON.stringify(asked.slice(0, 70));
  throw new BlockhouseError(
    'KEY_FORBIDDEN',
    `The key ${key.name} may not ask the model ${name}. \`blockhouse key set ${key.name} --block <block>\` lets it ask a block.`,
  );
}

/** Throws BLOCK_NOT_RUNNING for a server without blocks. */
export function assertHasBlocks({ gatewayOnly }: Pick<Core, 'gatewayOnly'>): void {
  if (!gatewayOnly) return;
  const message = 'This server has no blocks, because it was started with --gateway-only. Ask one that has them.';
  throw new BlockhouseError('BLOCK_NOT_RUNNING', message, { retryable: false });
}

/** Resolves if there is such a block, for a client that may ask it. Rejects with KEY_FORBIDDEN, MODEL_NOT_FOUND and BLOCK_NOT_RUNNING. */
export async function findBlock(context: Pick<RouteContext, 'core' | 'key' | 'res' | 'signal'>, block: string, asked: string): Promise<void> {
  assertMayAskBlock(context, block, asked);
  assertHasBlocks(context.core);
  await inLane(context, () => context.core.blocks.whyBlocked(block)).catch(rethrowAsModel);
}

/** To a program, a block is a model, and of its files it learns nothing. */
export function rethrowAsModel(error: unknown): never {
  if (!(error instanceof BlockhouseError)) throw error;
  if (error.code === 'BLOCK_NOT_FOUND') throw new BlockhouseError('MODEL_NOT_FOUND', error.message, { cause: error, forKeys: 'There is no such block.' });
  if (error.code !== 'BLOCK_DAMAGED') throw error;
  throw new BlockhouseError('BLOCK_NOT_RUNNING', error.message, { cause: error, forKeys: 'The block does not answer now. Try again later.' });
}
