// Embeddings of Ollama. Pure: no I/O.
import { joinURL } from '../shared/base-url.ts';
import type { EmbeddingProvider } from '../shared/provider.ts';
import { asCount } from '../shared/read.ts';
import { VERSION_SUFFIX } from './request.ts';

/** The daemon has no limit; a call of this size still ends before a time limit. */
const BATCH = 64;

export const EMBEDDING: EmbeddingProvider = {
  batch: () => BATCH,
  build: ({ settings, model, inputs, dimensions }) => ({
    url: joinURL(settings.values['baseURL'] ?? '', '/api/embed', VERSION_SUFFIX),
    body: { model, input: inputs, ...(dimensions !== undefined && { dimensions }) },
  }),
  read: ({ embeddings, prompt_eval_count }) => ({ vectors: embeddings, inputTokens: asCount(prompt_eval_count) }),
};
