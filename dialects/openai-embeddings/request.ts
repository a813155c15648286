// A request of OpenAI's Embeddings as a canonical one. Pure: no I/O.
import { type EmbedRequest, invalidRequest, MAX_INPUTS, type Warning } from '../../core/index.ts';
import { type Fields, integer, objectBody, requiredText, text } from '../fields.ts';

/** A request for embeddings, understood. */
export interface EmbeddingsRequest {
  /** The name as the client wrote it; the answer carries it again. */
  readonly model: string;
  readonly embed: Omit<EmbedRequest, 'adapter' | 'model'>;
  /** True to get each vector as base64 of little-endian 32-bit floats. */
  readonly isBase64: boolean;
  readonly warnings: readonly Warning[];
}

const UNDERSTOOD: ReadonlySet<string> = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user']);

/** Throws INVALID_REQUEST whose path is the client's own field. */
export function readRequest(given: unknown): EmbeddingsRequest {
  const body = objectBody(given);
  const format = text(body, 'encoding_format');
  if (format !== undefined && format !== 'float' && format !== 'base64') throw invalidRequest('encoding_format', 'must be float or base64');
  const dimensions = integer(body, 'dimensions', 1, 65_536);
  const user = text(body, 'user');
  return {
    model: requiredText(body, 'model'),
    embed: { inputs: inputsOf(body), ...(dimensions !== undefined && { dimensions }), ...(user !== undefined && user !== '' && { user: user.slice(0, 512) }) },
    isBase64: format === 'base64',
    warnings: Object.keys(body)
      .filter((name) => !UNDERSTOOD.has(name) && body[name] != null)
      .map((field) => ({ field, message: 'It was ignored.' })),
  };
}

/** The client's name of a field of the canonical request. */
export function clientField(path: string): string | undefined {
  if (path === 'adapter' || path === 'model') return 'model';
  return path.startsWith('inputs') ? path.replace('inputs', 'input') : undefined;
}

/** A text, token ids, or a list of either. */
function inputsOf({ input }: Fields): (string | number[])[] {
  const inputs: unknown = typeof input === 'string' || isTokenIds(input) ? [input] : input;
  if (!Array.isArray(inputs) || inputs.length === 0) throw invalidRequest('input', 'must be a text or a list of texts');
  if (inputs.length > MAX_INPUTS) throw invalidRequest('input', `has ${inputs.length} inputs; send at most ${MAX_INPUTS} at once`);
  return inputs.map((one: unknown, index) => {
    if (typeof one === 'string' && one !== '') return one;
    if (isTokenIds(one)) return one;
    throw invalidRequest(typeof input === 'string' ? 'input' : `input[${index}]`, 'must be a text that is not empty');
  });
}

function isTokenIds(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => Number.isInteger(one) && one >= 0);
}
