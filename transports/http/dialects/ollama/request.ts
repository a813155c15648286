// Requests of Ollama's own API as canonical ones: `/api/chat` and `/api/generate`. Pure: no I/O.
import { isObject } from '../../../../core/base/json.ts';
import { type ChatRequest, invalidRequest, type Tool, type Warning } from '../../../../core/index.ts';
import { nearestName } from '../shared/client-fields.ts';
import { mended, ToolNames } from '../shared/conversation.ts';
import type { DialectRequest } from '../shared/dialect.ts';
import { conversationIn, type Fields, flag, list, objectAt, objectBody, optionalObject, requiredText, text } from '../shared/fields.ts';
import { Sources } from '../shared/sources.ts';
import { CLIENT_FIELDS, readConfig } from './config.ts';
import { imagesOf, readMessages } from './messages.ts';
import type { OllamaEcho } from './response.ts';
import { toMessage, toResponse } from './response.ts';

/** Left out with a warning, because a model would have done something with it. */
const IGNORED = ['logprobs', 'top_logprobs', 'raw', 'template', 'context'] as const;

/** `POST /api/chat`. Throws INVALID_REQUEST whose path is the client's own field. */
export function readChat(given: unknown): DialectRequest<OllamaEcho> {
  const body = objectBody(given);
  const names = new ToolNames();
  const tools = (list(body, 'tools') ?? []).map((tool, index) => readTool(objectAt(tool, `tools[${index}]`), `tools[${index}]`, names));
  const sources = new Sources();
  const messages = conversationIn(body, 'messages') ?? [];
  const conversation = mended(readMessages(messages, names, sources), 'messages');
  const asked = { ...conversation, sources, isEmpty: messages.length === 0, ...(tools.length > 0 && { tools }) };
  return requestOf(body, asked, { names, shape: toMessage, showsThinking: body['think'] !== false });
}

/** `POST /api/generate`. Throws INVALID_REQUEST whose path is the client's own field. */
export function readGenerate(given: unknown): DialectRequest<OllamaEcho> {
  const body = objectBody(given);
  if (text(body, 'suffix')) throw invalidRequest('suffix', 'is not supported: no provider fills in a text between two others');
  const [system, prompt, images] = [text(body, 'system') ?? '', text(body, 'prompt') ?? '', imagesOf(body, 'images')];
  const sources = new Sources();
  const content = images.length === 0 ? prompt : [...(prompt === '' ? [] : [{ type: 'text' as const, text: prompt }]), ...images];
  const messages: ChatRequest['messages'] = [
    ...(system === '' ? [] : [sources.note({ role: 'system' as const, content: system }, 'system')]),
    ...(content.length === 0 ? [] : [sources.note({ role: 'user' as const, content }, images.length === 0 ? 'prompt' : 'images')]),
  ];
  const asked = { messages, sources, warnings: [], isEmpty: content.length === 0 };
  return requestOf(body, asked, { names: new ToolNames(), shape: toResponse, showsThinking: body['think'] !== false });
}

interface Asked {
  readonly messages: ChatRequest['messages'];
  readonly tools?: readonly Tool[];
  readonly warnings: readonly Warning[];
  readonly sources: Sources;
  readonly isEmpty: boolean;
}

/** A request without a message is one that loads or unloads the model, which has nothing to do here. */
function requestOf(body: Fields, { messages, tools, warnings: mendings, sources, isEmpty }: Asked, echo: OllamaEcho): DialectRequest<OllamaEcho> {
  const warnings: Warning[] = IGNORED.filter((name) => body[name] != null && body[name] !== false && body[name] !== '').map((field) => ({
    field,
    message: 'It was ignored.',
  }));
  const config = readConfig(body, optionalObject(body, 'options') ?? {}, warnings);
  const chat = { messages, ...(tools !== undefined && { tools }), ...(config !== undefined && { config }) };
  return {
    model: requiredText(body, 'model'),
    stream: flag(body, 'stream') ?? true,
    chat,
    warnings: [...warnings, ...mendings],
    field: (path) => sources.of(chat, path) ?? nearestName(path, CLIENT_FIELDS),
    echo: { ...echo, ...(isEmpty && { only: body['keep_alive'] === 0 ? 'unload' : 'load' }) },
  };
}

function readTool(tool: Fields, path: string, names: ToolNames): Tool {
  const fn = objectAt(tool['function'], `${path}.function`);
  const name = text(fn, 'name', `${path}.function.name`);
  if (name === undefined || name === '') throw invalidRequest(`${path}.function.name`, 'is required');
  const description = text(fn, 'description', `${path}.function.description`);
  return { name: names.toOurs(name), ...(description !== undefined && { description }), ...(isObject(fn['parameters']) && { parameters: fn['parameters'] }) };
}
