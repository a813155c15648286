// The routes of all dialects.
import { ANTHROPIC_ROUTES } from './compatible-anthropic.ts';
import { EMBEDDINGS_ROUTES } from './compatible-embeddings.ts';
import { OLLAMA_BARE_ROUTES, OLLAMA_ROUTES } from './compatible-ollama.ts';
import { OPENAI_CHAT_ROUTES } from './compatible-openai-chat.ts';
import { OPENAI_COMPLETIONS_ROUTES } from './compatible-openai-completions.ts';
import { OPENAI_RESPONSES_ROUTES } from './compatible-openai-responses.ts';

/** The routes by `METHOD /path`. */
export const COMPATIBLE_ROUTES = {
  ...ANTHROPIC_ROUTES,
  ...EMBEDDINGS_ROUTES,
  ...OPENAI_CHAT_ROUTES,
  ...OPENAI_COMPLETIONS_ROUTES,
  ...OPENAI_RESPONSES_ROUTES,
  ...OLLAMA_ROUTES,
};

/** Where the requests are that become calls to providers: `/v1/` and the like. */
export const GATEWAY_PATHS: readonly string[] = [...new Set(Object.keys(COMPATIBLE_ROUTES).map((route) => `/${route.split('/')[1]}/`))];

/** The routes of a server for clients that take no path. */
export const BARE_ROUTES = OLLAMA_BARE_ROUTES;
