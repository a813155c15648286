// Embeddings in Ollama's two forms. Pure: no I/O.
import { type EmbeddingsRequest, inputsOf } from '../shared/embeddings.ts';
import { integer, objectBody, requiredText } from '../shared/fields.ts';

/** `POST /api/embed`: a text or a list of texts. Throws INVALID_REQUEST whose path is the client's own field. */
export function readEmbed(given: unknown): EmbeddingsRequest {
  const body = objectBody(given);
  const model = requiredText(body, 'model');
  const dimensions = integer(body, 'dimensions', 1, 65_536);
  return {
    model,
    embed: { inputs: inputsOf(body), ...(dimensions !== undefined && { dimensions }) },
    warnings: ignored(body),
    answer: ({ vectors, usage }) => ({ model, embeddings: vectors, total_duration: 0, load_duration: 0, prompt_eval_count: usage.inputTokens }),
    field: (path) => (path === 'adapter' ? 'model' : path.replace(/^inputs/, 'input')),
  };
}

/** `POST /api/embeddings`, the older form: one prompt. Throws INVALID_REQUEST whose path is the client's own field. */
export function readOldEmbeddings(given: unknown): EmbeddingsRequest {
  const body = objectBody(given);
  return {
    model: requiredText(body, 'model'),
    embed: { inputs: [requiredText(body, 'prompt')] },
    warnings: ignored(body),
    answer: ({ vectors }) => ({ embedding: vectors[0] ?? [] }),
    field: (path) => (path === 'adapter' ? 'model' : path.replace(/^inputs.*/, 'prompt')),
  };
}

/** What the original would have done something with. */
function ignored(body: Readonly<Record<string, unknown>>): EmbeddingsRequest['warnings'] {
  return ['options', 'truncate'].filter((name) => body[name] != null).map((field) => ({ field, message: 'It was ignored.' }));
}
