// The routes of OpenAI's Chat Completions, in front of all providers, and the list of models in OpenAI's and Anthropic's shapes.
import { OPENAI_CHAT } from '../dialects/openai-chat/index.ts';
import * as models from '../handlers/compatible-models.ts';
import { faultOf, speak } from '../handlers/dialect.ts';
import { body, json, streamed } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

/** The routes by `METHOD /path`. */
export const OPENAI_CHAT_ROUTES = {
  'POST /v1/chat/completions': {
    id: 'createChatCompletion',
    tag: 'Compatible',
    summary: 'Complete a chat, as OpenAI does',
    description:
      "Takes and answers what OpenAI's Chat Completions does, streams and errors included. `model` may be an alias, provider/model, or a provider's own name.",
    body: body('ChatCompletionRequest'),
    answers: streamed('ChatCompletion', 'ChatCompletionFrame', 'A chat completion; with `stream: true`, its chunks as server-sent events.'),
    fault: faultOf(OPENAI_CHAT),
    handler: speak(OPENAI_CHAT),
  },
  'GET /v1/models': {
    id: 'listCompatibleModels',
    tag: 'Compatible',
    summary: 'List models for clients',
    description:
      "Aliases, and provider/model for each model of each provider that could be called now, in OpenAI's shape; in Anthropic's with the header anthropic-version. A key finds only those that it may use.",
    query: {
      limit: { schema: { type: 'integer', minimum: 1, maximum: 1000 }, description: "The most models of a page, in Anthropic's shape; all by default" },
      after_id: { schema: { type: 'string' }, description: "The page begins after this model, in Anthropic's shape" },
      before_id: { schema: { type: 'string' }, description: "The page ends before this model, in Anthropic's shape" },
    },
    answers: { 200: json('CompatibleModels', 'The models.') },
    errors: ['INVALID_REQUEST'],
    fault: models.fault,
    handler: models.list,
  },
  'GET /v1/models/:id*': {
    id: 'getCompatibleModel',
    tag: 'Compatible',
    summary: 'Find a model for clients',
    description: 'A name with slashes may be URL-encoded or not.',
    params: { id: 'A model name as clients send it' },
    answers: { 200: json('CompatibleModel', 'The model.') },
    errors: ['INVALID_REQUEST', 'MODEL_NOT_FOUND', 'KEY_FORBIDDEN'],
    fault: models.fault,
    handler: models.one,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
