// Embeddings of Bedrock: Titan takes one text a call, Cohere many. Each has a body of its own, for InvokeModel. Pure: no I/O.
import { isObject } from '../../core/base/json.ts';
import { invalidRequest } from '../../core/index.ts';
import type { EmbeddingProvider } from '../shared/provider.ts';
import { asCount } from '../shared/read.ts';
import { runtimeURL } from './endpoints.ts';
import { encodeSegment } from './request.ts';

const COHERE_BATCH = 96;
/** Of every answer of InvokeModel. */
const COUNT_HEADER = 'x-amzn-bedrock-input-token-count';
const isTitan = (model: string): boolean => model.includes('amazon.titan-embed-text');
const isCohere = (model: string): boolean => model.includes('cohere.embed');

function largest(inBody: number | undefined, inHeader: number | undefined): number | undefined {
  return inBody === undefined || inHeader === undefined ? (inBody ?? inHeader) : Math.max(inBody, inHeader);
}

export const EMBEDDING: EmbeddingProvider = {
  batch: (model) => {
    if (isTitan(model)) return 1;
    if (isCohere(model)) return COHERE_BATCH;
    throw invalidRequest('model', `must be a Titan or Cohere model for embeddings on Bedrock, such as amazon.titan-embed-text-v2:0; ${model} is neither`);
  },
  build: ({ settings, model, inputs, dimensions }) => ({
    url: runtimeURL(settings, `/model/${encodeSegment(model)}/invoke`),
    body: isTitan(model)
      ? { inputText: inputs[0], ...(dimensions !== undefined && { dimensions }) }
      : { texts: inputs, input_type: 'search_document', ...(dimensions !== undefined && { output_dimension: dimensions }) },
  }),
  // Cohere answers a list, or lists by their type, and its count stands in a header alone.
  read: ({ embedding, embeddings, inputTextTokenCount }, _costField, headers) => ({
    vectors: embedding === undefined ? (isObject(embeddings) ? embeddings['float'] : embeddings) : [embedding],
    inputTokens: largest(asCount(inputTextTokenCount), asCount(headers?.[COUNT_HEADER])),
  }),
};
