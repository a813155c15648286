// What of a request to a model becomes the message of a block: the last turn of the user, as text. Pure: no I/O.
//
// no-silent-loss: what would make the answer a wrong one is refused, by the client's own name of the field; what only steers a model is ignored with a warning.
import { isObject } from '../../../core/base/json.ts';
import { invalidRequest, type Message, type Warning } from '../../../core/index.ts';
import type { DialectRequest } from '../dialects/shared/dialect.ts';

/** The question to a block. */
export interface Question {
  readonly message: string;
  /** The turns before, as one text: what the client says of the conversation so far. */
  readonly conversation: string;
  /** What was ignored, by the client's own field names. */
  readonly warnings: readonly Warning[];
}

type Fields = Readonly<Record<string, unknown>>;
const RESULT_TYPE = /_(?:output|result)$/;
const CALL_TYPE = /_(?:call|use)$/;

/** Throws INVALID_REQUEST naming the field. no-silent-loss. */
export function questionOf(request: DialectRequest, body: unknown): Question {
  const fields: Fields = isObject(body) ? body : {};
  refuseTools(request, fields);
  const { chat } = request;
  const nameOf = (path: string, otherwise: string): string => request.field?.(path) ?? otherwise;
  if (chat.config?.output !== undefined) throw invalidRequest(nameOf('config.output', 'format'), 'must be text: a block answers in its own words');
  const { messages } = chat;
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  const parts: string[] = [];
  for (const [index, message] of messages.entries())
    if (index > lastAnswer && message.role === 'user') parts.push(...textsOf(message, (at) => nameOf(`messages[${index}]${at}`, 'messages')));
  if (parts.length === 0) throw invalidRequest(nameOf('messages', 'messages'), 'must end with a turn of the user, which becomes the message of the block');
  return {
    message: parts.join('\n\n'),
    conversation: JSON.stringify(messages.slice(0, lastAnswer + 1).flatMap(said)),
    warnings: [...request.warnings, ...ignored(request, nameOf)],
  };
}

/** What was said, whatever protocol it came in. The system text is left out: some programs put the time into it. */
function said({ role, content }: Message): readonly (readonly [string, string])[] {
  if (role !== 'user' && role !== 'assistant') return [];
  const text = typeof content === 'string' ? content : (content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
  return [[role, text]];
}

function textsOf({ content }: Message, nameOf: (at: string) => string): string[] {
  if (content === undefined) return [];
  if (typeof content === 'string') return content.trim() === '' ? [] : [content];
  return content.flatMap((part, index) => {
    if (part.type !== 'text') throw invalidRequest(nameOf(`.content[${index}]`), `is no text; a block takes text alone until it can take more (${part.type})`);
    const { text = '' } = part;
    return text.trim() === '' ? [] : [text];
  });
}

/** A block has tools of its own, or none; it can't call those of its client. */
function refuseTools(request: DialectRequest, fields: Fields): void {
  for (const name of ['tools', 'functions'])
    if (Array.isArray(fields[name]) && fields[name].length > 0) throw invalidRequest(name, 'must be left out: a block calls no tools of its client');
  if ((request.chat.tools?.length ?? 0) > 0) throw invalidRequest('tools', 'must be left out: a block calls no tools of its client');
  const name = Array.isArray(fields['messages']) ? 'messages' : 'input';
  const turns = fields[name];
  if (!Array.isArray(turns)) return;
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const turn: unknown = turns[index];
    if (!isObject(turn)) continue;
    if (turn['role'] === 'assistant' || CALL_TYPE.test(String(turn['type'] ?? ''))) break;
    if (holdsResult(turn)) throw invalidRequest(`${name}[${index}]`, 'is the result of a tool; a block calls no tools of its client');
  }
}

function holdsResult({ role, type, content }: Fields): boolean {
  if (role === 'tool' || role === 'function' || RESULT_TYPE.test(String(type ?? ''))) return true;
  return Array.isArray(content) && content.some((part) => isObject(part) && RESULT_TYPE.test(String(part['type'] ?? '')));
}

function ignored({ chat }: DialectRequest, nameOf: (path: string, otherwise: string) => string): Warning[] {
  const warnings: Warning[] = [];
  const system = chat.messages.findIndex(({ role }) => role === 'system');
  if (system >= 0) warnings.push({ field: nameOf(`messages[${system}]`, 'system'), message: 'A block has its own prompt, so the system text was left out.' });
  for (const [field, value] of Object.entries(chat.config ?? {}))
    if (value !== undefined) warnings.push({ field: nameOf(`config.${field}`, field), message: 'A block has its own settings, so it was ignored.' });
  return warnings;
}
