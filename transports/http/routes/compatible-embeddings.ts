// The route of OpenAI's Embeddings, in front of all providers that make some.
import { OPENAI_CHAT } from '../../../dialects/openai-chat/index.ts';
import { readEmbeddings } from '../../../dialects/openai-embeddings/request.ts';
import { EMBEDDINGS_FIELDS } from '../../../dialects/openai-embeddings/request-fields.ts';
import { embedWith } from '../handlers/compatible-embeddings.ts';
import { faultOf } from '../handlers/dialect.ts';
import type { RouteEntry, RouteKey } from '../route.ts';

const object = { 'application/json': { schema: { type: 'object' } } } as const;

/** The routes by `METHOD /path`. */
export const EMBEDDINGS_ROUTES = {
  'POST /v1/embeddings': {
    id: 'createEmbeddings',
    tag: 'Compatible',
    summary: 'Make embeddings, as OpenAI does',
    description:
      "Takes and answers what OpenAI's Embeddings do, errors included. `model` may be an alias, provider/model, or a provider's own name. OpenAI, Google, Bedrock and Ollama make embeddings.",
    body: { required: true, content: object },
    answers: {
      200: { description: 'One vector for each input, in their order. The header x-blockhouse-model says which model made them.', content: object },
    },
    fault: faultOf(OPENAI_CHAT),
    handler: embedWith(readEmbeddings, EMBEDDINGS_FIELDS),
  },
} as const satisfies Record<RouteKey, RouteEntry>;
