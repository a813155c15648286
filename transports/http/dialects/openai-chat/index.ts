// The dialect of OpenAI's Chat Completions. Pure: no I/O.
import type { Dialect } from '../shared/dialect.ts';
import { errorChunk } from '../shared/openai-answers.ts';
import { openAiFault } from '../shared/openai-errors.ts';
import { toNative } from './native.ts';
import { type ChatEcho, readRequest } from './request.ts';
import { CHAT_FIELDS } from './request-fields.ts';
import { toCompletion } from './response.ts';
import { ChatChunks } from './stream.ts';

/** `POST /v1/chat/completions`. */
export const OPENAI_CHAT: Dialect<ChatEcho> = {
  id: 'openai-chat',
  fields: CHAT_FIELDS,
  asksBlocks: true,
  native: { path: '/v1/chat/completions', toBody: toNative, broken: errorChunk },
  read: readRequest,
  answer: toCompletion,
  stream: (context) => new ChatChunks(context),
  error: openAiFault,
};
