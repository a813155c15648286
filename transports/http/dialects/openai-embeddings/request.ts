// A request of OpenAI's Embeddings as a canonical one. Pure: no I/O.
import { invalidRequest } from '../../../../core/index.ts';
import { type EmbeddingsRequest, inputsOf } from '../shared/embeddings.ts';
import { integer, objectBody, requiredText, text } from '../shared/fields.ts';
import { toEmbeddings } from './response.ts';

const UNDERSTOOD: ReadonlySet<string> = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user']);

/** `POST /v1/embeddings`. Throws INVALID_REQUEST whose path is the client's own field. */
export function readEmbeddings(given: unknown): EmbeddingsRequest {
  const body = objectBody(given);
  const format = text(body, 'encoding_format');
  if (format !== undefined && format !== 'float' && format !== 'base64') throw invalidRequest('encoding_format', 'must be float or base64');
  const dimensions = integer(body, 'dimensions', 1, 65_536);
  const user = text(body, 'user');
  const model = requiredText(body, 'model');
  return {
    model,
    embed: {
      inputs: inputsOf(body),
      ...(dimensions !== undefined && { dimensions }),
      ...(user !== undefined && user !== '' && { user: user.slice(0, 512) }),
    },
    warnings: Object.keys(body)
      .filter((name) => !UNDERSTOOD.has(name) && body[name] != null)
      .map((field) => ({ field, message: 'It was ignored.' })),
    answer: (response) => toEmbeddings(response, model, format === 'base64'),
    field: (path) => (path === 'adapter' ? 'model' : path.replace(/^inputs/, 'input')),
  };
}
