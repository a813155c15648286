// A Completions request as a canonical one. The prompt becomes the message of a user, because every provider takes conversations. Pure: no I/O.
import { invalidRequest } from '../../../../core/index.ts';
import { nearestName } from '../shared/client-fields.ts';
import { chatOf } from '../shared/conversation.ts';
import type { DialectRequest } from '../shared/dialect.ts';
import { type Fields, flag, ignoredFields, integer, objectBody, optionalObject, requiredText, text } from '../shared/fields.ts';
import { definedOf, MAX_TOKENS, SAMPLING_NAMES, samplingOf } from '../shared/openai-config.ts';

/** What an answer depends on. */
export interface CompletionEcho {
  readonly includeUsage: boolean;
}

const UNDERSTOOD: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'stream',
  'stream_options',
  'max_tokens',
  'temperature',
  'top_p',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'user',
  'n',
  'best_of',
]);
/** The client's names of the gateway's settings. */
const CLIENT_NAMES: Readonly<Record<string, string>> = {
  messages: 'prompt',
  'config.maxTokens': 'max_tokens',
  'config.user': 'user',
  ...SAMPLING_NAMES,
};

/** Throws INVALID_REQUEST whose path is the client's own field. */
export function readRequest(given: unknown): DialectRequest<CompletionEcho> {
  const body = objectBody(given);
  const model = requiredText(body, 'model');
  // The answer to any of these would be wrong without a word.
  if (text(body, 'suffix')) throw invalidRequest('suffix', 'is not supported: no provider fills in a text between two others');
  if (flag(body, 'echo') === true) throw invalidRequest('echo', 'is not supported; put the prompt before the answer yourself');
  for (const name of ['n', 'best_of']) if ((body[name] ?? 1) !== 1) throw invalidRequest(name, 'must be 1: one answer for each request');
  const warnings = ignoredFields(body, UNDERSTOOD);
  const config = definedOf({
    maxTokens: integer(body, 'max_tokens', 1, MAX_TOKENS),
    ...samplingOf(body, warnings),
    user: text(body, 'user'),
  });
  return {
    model,
    stream: flag(body, 'stream') ?? false,
    chat: chatOf([{ role: 'user', content: promptOf(body) }], [], undefined, config),
    warnings,
    echo: { includeUsage: optionalObject(body, 'stream_options')?.['include_usage'] === true },
    field: (path) => nearestName(path, CLIENT_NAMES),
  };
}

/** The text, which may also be the only one of a list. */
function promptOf({ prompt }: Fields): string {
  const only = Array.isArray(prompt) && prompt.length === 1 ? (prompt as readonly unknown[])[0] : prompt;
  if (typeof only !== 'string') throw invalidRequest('prompt', 'must be a text, or a list with one text; token ids are not supported');
  if (only.trim() === '') throw invalidRequest('prompt', 'must not be empty');
  return only;
}
