// Vectors in the form of OpenAI's Embeddings. Pure: no I/O.
import type { EmbedResponse } from '../../core/index.ts';
import type { EmbeddingsRequest } from './request.ts';

/** The body of the answer. */
export function toEmbeddings({ vectors, usage }: EmbedResponse, { model, isBase64 }: EmbeddingsRequest): object {
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: isBase64 ? base64Of(vector) : vector })),
    model,
    usage: { prompt_tokens: usage.inputTokens, total_tokens: usage.totalTokens },
  };
}

/** Little-endian 32-bit floats. */
function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
