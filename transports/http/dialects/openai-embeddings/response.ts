// Vectors in the form of OpenAI's Embeddings. Pure: no I/O.
import type { EmbedResponse } from '../../../../core/index.ts';

/** The body of the answer. `isBase64` gives each vector as base64 of little-endian 32-bit floats. */
export function toEmbeddings({ vectors, usage }: EmbedResponse, model: string, isBase64: boolean): object {
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: isBase64 ? base64Of(vector) : vector })),
    model,
    usage: { prompt_tokens: usage.inputTokens, total_tokens: usage.totalTokens },
  };
}

function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
