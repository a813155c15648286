// The call for embeddings: request and answer. Pure: no I/O.
import type * as types from '../types.ts';
import { AdapterId, ChatConfig, ModelId, Usage } from './chat.ts';
import { listOf, object, string } from './fields.ts';

/** The most inputs of one request. */
export const MAX_INPUTS = 2048;

/** What is to be embedded, and by whom. */
export const EmbedRequest = {
  type: 'object',
  additionalProperties: false,
  required: ['adapter', 'model', 'inputs'],
  properties: {
    adapter: AdapterId,
    model: ModelId,
    inputs: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_INPUTS,
      items: {
        anyOf: [
          { type: 'string', minLength: 1 },
          { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } },
        ],
      },
      description: 'Texts. Lists of token ids only for a provider that takes them (openai)',
    },
    dimensions: { type: 'integer', minimum: 1, maximum: 65_536, description: 'The length of the vectors, for models that can shorten them' },
    user: ChatConfig.properties.user,
  },
} as const;
/** What is to be embedded, and by whom. */
export type EmbedRequest = types.EmbedRequest;

/** One vector for each input, in the order of the inputs. */
export const EmbedResponse = object({ provider: string, model: string, vectors: listOf(listOf({ type: 'number' })), usage: Usage });
/** One vector for each input, in the order of the inputs. */
export type EmbedResponse = types.EmbedResponse;
