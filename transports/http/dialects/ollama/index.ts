// The dialect of Ollama's own API. Pure: no I/O.
import type { Dialect, DialectRequest } from '../shared/dialect.ts';
import { ollamaFault } from './errors.ts';
import { readChat, readGenerate } from './request.ts';
import { OLLAMA_FIELDS } from './request-fields.ts';
import type { OllamaEcho } from './response.ts';
import { toAnswer, toReady } from './response.ts';
import { OllamaLines } from './stream.ts';

const dialectOf = (read: (body: unknown) => DialectRequest<OllamaEcho>): Dialect<OllamaEcho> => ({
  id: 'ollama',
  fields: OLLAMA_FIELDS,
  streamType: 'application/x-ndjson',
  anyType: true, // the examples of its documentation send none
  read,
  ready: toReady,
  answer: toAnswer,
  stream: (context) => new OllamaLines(context),
  error: ollamaFault,
});

/** `POST /api/chat`. */
export const OLLAMA_CHAT: Dialect<OllamaEcho> = { ...dialectOf(readChat), asksBlocks: true };
/** `POST /api/generate`. */
export const OLLAMA_GENERATE = dialectOf(readGenerate);
