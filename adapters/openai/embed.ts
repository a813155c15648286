// Embeddings of OpenAI, and of the servers that are compatible with it. Pure: no I/O.
import type { EmbeddingProvider } from '../shared/provider.ts';
import { asArray, asCount, asObject } from '../shared/read.ts';
import { endpointURL } from './endpoint.ts';
import { withCost } from './usage.ts';

/** Some servers tell the total alone. */
function tokensIn({ prompt_tokens: input, total_tokens: total }: Readonly<Record<string, unknown>>): number | undefined {
  const counts = [asCount(input), asCount(total)].filter((count) => count !== undefined);
  return counts.length === 0 ? undefined : Math.max(...counts);
}

/** OpenAI's own limit. */
const BATCH = 2048;

export const EMBEDDING: EmbeddingProvider = {
  batch: () => BATCH,
  takesTokenIds: true,
  build: ({ settings, model, inputs, dimensions, user }) => ({
    url: endpointURL(settings, '/embeddings'),
    body: { model, input: inputs, encoding_format: 'float', ...(dimensions !== undefined && { dimensions }), ...(user !== undefined && { user }) },
  }),
  read: (answer, costField) => ({
    vectors: asArray(answer['data'])
      .map(asObject)
      .map(({ index, embedding }, place) => ({ index: asCount(index) ?? place, embedding }))
      .sort((one, other) => one.index - other.index)
      .map(({ embedding }) => embedding),
    inputTokens: tokensIn(asObject(answer['usage'])),
    costUsd: withCost(undefined, answer, costField)?.costUsd,
  }),
};
