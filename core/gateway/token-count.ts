// Counts the tokens of a prompt before it is sent: the provider's own count where it has one, else an estimate. Pure: no I/O of its own.
import { toBlockhouseError } from '../errors.ts';
import type { Adapter, AdapterCall, TokenCount } from '../ports.ts';
import type { ChatRequest } from '../types.ts';
import type { Prompt } from './prompt.ts';
import { promptTokens } from './prompt-tokens.ts';
import { withPlace } from './refused-part.ts';

/** Rejects with a BlockhouseError unless the provider refuses only to count for this model. */
export async function countTokens(adapter: Adapter, call: () => AdapterCall, request: ChatRequest, prompt: Prompt): Promise<TokenCount> {
  if (adapter.countTokens === undefined) return estimated(prompt);
  try {
    return { tokens: await adapter.countTokens({ ...call(), model: request.model, prompt }), isEstimated: false };
  } catch (error) {
    if (toBlockhouseError(error).code === 'UPSTREAM_REJECTED') return estimated(prompt);
    throw withPlace(error, request);
  }
}

/** A tenth more: a prompt that turns out longer than expected does more harm than a shorter one. */
function estimated(prompt: Prompt): TokenCount {
  return { tokens: Math.ceil((promptTokens(prompt) * 11) / 10), isEstimated: true };
}
