// The interface of a protocol for embeddings, and what all of them read alike. Pure: no I/O.
import { type EmbedRequest, type EmbedResponse, invalidRequest, schemas, type Warning } from '../../../../core/index.ts';
import type { Fields } from './fields.ts';

/** A client's request for embeddings, understood. */
export interface EmbeddingsRequest {
  /** The name as the client wrote it; the answer carries it again. */
  readonly model: string;
  readonly embed: Omit<EmbedRequest, 'adapter' | 'model'>;
  /** What was ignored, by the client's own field names. */
  readonly warnings: readonly Warning[];
  /** The body of the answer. */
  answer(response: EmbedResponse): object;
  /** The client's name of a field of the canonical request. */
  field(path: string): string | undefined;
}

/** Reads a request. Throws INVALID_REQUEST whose path is the client's own field name. */
export type ReadEmbeddings = (body: unknown) => EmbeddingsRequest;

/** A text, token ids, or a list of either. Throws INVALID_REQUEST. */
export function inputsOf({ input }: Fields): [...EmbedRequest['inputs']] {
  const inputs: unknown = typeof input === 'string' || isTokenIds(input) ? [input] : input;
  if (!Array.isArray(inputs) || inputs.length === 0) throw invalidRequest('input', 'must be a text or a list of texts');
  if (inputs.length > schemas.MAX_INPUTS) throw invalidRequest('input', `has ${inputs.length} inputs; send at most ${schemas.MAX_INPUTS} at once`);
  return inputs.map((one: unknown, index) => {
    if (typeof one === 'string' && one !== '') return one;
    if (isTokenIds(one)) return one;
    throw invalidRequest(Array.isArray(input) ? `input[${index}]` : 'input', 'must be a text that is not empty');
  });
}

function isTokenIds(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => Number.isInteger(one) && one >= 0);
}
