// The dialect of OpenAI's Completions, which older clients and autocomplete plugins speak. Pure: no I/O.
import type { Dialect } from '../shared/dialect.ts';
import { openAiFault } from '../shared/openai-errors.ts';
import { type CompletionEcho, readRequest } from './request.ts';
import { COMPLETION_FIELDS } from './request-fields.ts';
import { toCompletion } from './response.ts';
import { CompletionChunks } from './stream.ts';

/** `POST /v1/completions`. */
export const OPENAI_COMPLETIONS: Dialect<CompletionEcho> = {
  id: 'openai-completions',
  fields: COMPLETION_FIELDS,
  read: readRequest,
  answer: toCompletion,
  stream: (context) => new CompletionChunks(context),
  error: openAiFault,
};
