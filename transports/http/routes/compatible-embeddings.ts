// The route of OpenAI's Embeddings, in front of all providers that make some.
import { OPENAI_CHAT } from '../dialects/openai-chat/index.ts';
import { readEmbeddings } from '../dialects/openai-embeddings/request.ts';
import { EMBEDDINGS_FIELDS } from '../dialects/openai-embeddings/request-fields.ts';
import { embedWith } from '../handlers/compatible-embeddings.ts';
import { faultOf } from '../handlers/dialect.ts';
import { body, json } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

/** The routes by `METHOD /path`. */
export const EMBEDDINGS_ROUTES = {
  'POST /v1/embeddings': {
    id: 'createEmbeddings',
    tag: 'Compatible',
    summary: 'Make embeddings, as OpenAI does',
    description:
      "Takes and answers what OpenAI's Embeddings do, errors included. `model` may be an alias, provider/model, or a provider's own name. OpenAI, Google, Bedrock and Ollama make embeddings.",
    body: body('EmbeddingsRequest'),
    answers: { 200: json('Embeddings', 'One vector for each input, in their order. The header x-blockhouse-model says which model made them.') },
    fault: faultOf(OPENAI_CHAT),
    handler: embedWith(readEmbeddings, EMBEDDINGS_FIELDS),
  },
} as const satisfies Record<RouteKey, RouteEntry>;
