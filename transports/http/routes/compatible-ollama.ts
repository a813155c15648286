// The routes of Ollama's own API, in front of all providers.
import { readEmbed, readOldEmbeddings } from '../dialects/ollama/embed.ts';
import { OLLAMA_CHAT, OLLAMA_GENERATE } from '../dialects/ollama/index.ts';
import { embedWith } from '../handlers/compatible-embeddings.ts';
import * as ollama from '../handlers/compatible-ollama.ts';
import { faultOf, speak } from '../handlers/dialect.ts';
import { body, json, streamed } from '../openapi/parts.ts';
import type { SchemaName } from '../openapi/schemas.ts';
import { type Route, type RouteEntry, type RouteKey, routesOf } from '../wire/route.ts';

const common = { tag: 'Compatible', fault: faultOf(OLLAMA_CHAT) } as const;
const answer = (name: SchemaName, description: string) => ({ answers: { 200: json(name, description) } });
const lines = (whole: SchemaName, line: SchemaName) => ({
  answers: streamed(whole, line, 'Lines of JSON, the last with `done: true`; with `stream: false`, one object.', 'application/x-ndjson'),
});
const refusal = {
  ...common,
  params: { operation: 'The rest of the path' },
  ...answer('OllamaError', 'Never.'),
  handler: ollama.refuse,
} as const;

/** The routes by `METHOD /path`. */
export const OLLAMA_ROUTES = {
  'GET /ollama': {
    ...common,
    id: 'ollamaHello',
    summary: "Say that Ollama's API is here",
    description: 'A text that clients look for at the address of a server.',
    public: true,
    answers: { 200: { description: 'The text.', content: { 'text/plain': { schema: { type: 'string' } } } } },
    handler: ollama.hello,
  },
  'POST /ollama/api/chat': {
    ...common,
    id: 'ollamaChat',
    summary: 'Chat, as Ollama does',
    description: "Takes and answers what Ollama's chat does, streams and errors included. `model` may be an alias, provider/model, or a provider's own name.",
    body: body('OllamaChatRequest'),
    ...lines('OllamaChatAnswer', 'OllamaChatLine'),
    handler: speak(OLLAMA_CHAT),
  },
  'POST /ollama/api/generate': {
    ...common,
    id: 'ollamaGenerate',
    summary: 'Answer a prompt, as Ollama does',
    description: 'Takes and answers what Ollama does for one prompt. `raw`, `template` and `context` are ignored, `suffix` is refused.',
    body: body('OllamaGenerateRequest'),
    ...lines('OllamaGenerateAnswer', 'OllamaGenerateLine'),
    handler: speak(OLLAMA_GENERATE),
  },
  'POST /ollama/api/embed': {
    ...common,
    id: 'ollamaEmbed',
    summary: 'Make embeddings, as Ollama does',
    description: 'Vectors of a text or of a list of texts, from any provider that makes embeddings.',
    body: body('OllamaEmbedRequest'),
    ...answer('OllamaEmbed', 'One vector for each text, in their order.'),
    handler: embedWith(readEmbed, OLLAMA_CHAT.fields, true),
  },
  'POST /ollama/api/embeddings': {
    ...common,
    id: 'ollamaOldEmbeddings',
    summary: 'Make one embedding, as before',
    description: 'The older form: the vector of one prompt.',
    body: body('OllamaOldEmbedRequest'),
    ...answer('OllamaOldEmbed', 'The vector.'),
    handler: embedWith(readOldEmbeddings, OLLAMA_CHAT.fields, true),
  },
  'GET /ollama/api/tags': {
    ...common,
    id: 'ollamaTags',
    summary: "List models in Ollama's form",
    description: 'Aliases, and provider/model for each model of each provider that could be called now.',
    ...answer('OllamaModels', 'The models.'),
    handler: ollama.tags,
  },
  'POST /ollama/api/show': {
    ...common,
    id: 'ollamaShow',
    summary: "Show a model in Ollama's form",
    description: 'What is known of a model: its provider, what it can do, and its context length.',
    body: body('OllamaShowRequest'),
    ...answer('OllamaModel', 'The model.'),
    handler: ollama.show,
  },
  'GET /ollama/api/version': {
    ...common,
    id: 'ollamaVersion',
    summary: "Version of Ollama's API",
    description: 'The version of Ollama whose API is served. Clients ask for a least one.',
    ...answer('OllamaVersion', 'The version.'),
    handler: ollama.version,
  },
  'GET /ollama/api/ps': {
    ...common,
    id: 'ollamaRunning',
    summary: 'List loaded models: none',
    description: 'An empty list, because Blockhouse loads no models.',
    ...answer('OllamaRunning', 'The empty list.'),
    handler: ollama.running,
  },
  'GET /ollama/api/:operation*': {
    ...refusal,
    id: 'ollamaRefuseGet',
    summary: 'Refuse other paths of Ollama',
    description: 'A 404 with a text in the form of Ollama.',
  },
  'POST /ollama/api/:operation*': {
    ...refusal,
    id: 'ollamaRefusePost',
    summary: 'Refuse to change models',
    description: 'A 404 that says that Blockhouse manages no models: pull, push, create, copy.',
  },
  'DELETE /ollama/api/:operation*': {
    ...refusal,
    id: 'ollamaRefuseDelete',
    summary: 'Refuse to delete models',
    description: 'A 404 that says that Blockhouse manages no models.',
  },
} as const satisfies Record<RouteKey, RouteEntry>;

/** The same routes as the original has them: without a prefix. */
export const OLLAMA_BARE_ROUTES: readonly Route[] = routesOf(OLLAMA_ROUTES).map((route) => ({ ...route, path: route.path.slice('/ollama'.length) || '/' }));
