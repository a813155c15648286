// The routes of all dialects.
import { OLLAMA_ROUTES } from './compatible-ollama.ts';
import { OPENAI_CHAT_ROUTES } from './compatible-openai-chat.ts';

/** The routes by `METHOD /path`. */
export const COMPATIBLE_ROUTES = { ...OPENAI_CHAT_ROUTES, ...OLLAMA_ROUTES };
