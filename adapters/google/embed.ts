// Embeddings of Gemini. Pure: no I/O.
import { joinURL } from '../shared/base-url.ts';
import type { EmbeddingProvider } from '../shared/provider.ts';
import { asArray, asCount, asObject } from '../shared/read.ts';
import { bareModel, modelPath, VERSION_SUFFIX } from './request.ts';

/** Google's own limit for one call. */
const BATCH = 100;

export const EMBEDDING: EmbeddingProvider = {
  batch: () => BATCH,
  build: ({ settings, model, inputs, dimensions }) => {
    const path = modelPath(bareModel(model));
    return {
      url: joinURL(settings.values['baseURL'] ?? '', `/v1beta/${path}:batchEmbedContents`, VERSION_SUFFIX),
      body: {
        requests: inputs.map((text) => ({
          model: decodeURIComponent(path),
          content: { parts: [{ text }] },
          ...(dimensions !== undefined && { outputDimensionality: dimensions }),
        })),
      },
    };
  },
  read: ({ embeddings, usageMetadata }) => ({
    vectors: asArray(embeddings).map((embedding) => asObject(embedding)['values']),
    inputTokens: asCount(asObject(usageMetadata)['promptTokenCount']),
  }),
};
