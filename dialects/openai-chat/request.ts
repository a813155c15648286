// A Chat Completions request as a canonical one. Pure: no I/O.
import { type ChatRequest, type ContentPart, invalidRequest, isObject, type Message, type Tool, type Warning } from '../../core/index.ts';
import { clampedTemperature, mended, ToolNames } from '../conversation.ts';
import type { DialectRequest } from '../dialect.ts';
import { type Fields, flag, integer, list, number, objectAt, objectBody, optionalObject, requiredText, text } from '../fields.ts';
import { audioPart, sourceOf } from '../media.ts';
import { definedOf, effortOf, metadataOf, schemaOutput, serviceTierOf } from '../openai-config.ts';
import { argumentsOf, customTool } from '../tool-calls.ts';

/** What an answer depends on. */
export interface ChatEcho {
  readonly includeUsage: boolean;
  readonly names: ToolNames;
  /** The tools that take free text, by the client's name. */
  readonly customTools: ReadonlySet<string>;
}

/** Refused, because the answer would be wrong without a word. */
const REFUSED = ['functions', 'function_call', 'audio'] as const;
/** Left out with a warning, because a model would have done something with it. */
const IGNORED = ['logit_bias', 'prediction', 'web_search_options', 'logprobs', 'top_logprobs', 'verbosity'] as const;
const MAX_TOKENS = 10_000_000;

/** Throws INVALID_REQUEST whose path is the client's own field. */
export function readRequest(given: unknown): DialectRequest<ChatEcho> {
  const body = objectBody(given);
  const model = requiredText(body, 'model');
  for (const name of REFUSED) if (body[name] != null) throw invalidRequest(name, 'is not supported; use tools');
  if ((body['n'] ?? 1) !== 1) throw invalidRequest('n', 'must be 1: one answer for each request');
  const modalities = list(body, 'modalities');
  if (modalities?.some((one) => one !== 'text') === true) throw invalidRequest('modalities', 'must be ["text"]');
  const warnings: Warning[] = IGNORED.filter((name) => body[name] != null && body[name] !== false).map((field) => ({ field, message: 'It was ignored.' }));
  const names = new ToolNames();
  const customTools = new Set<string>();
  const tools = (list(body, 'tools') ?? []).map((tool, index) => readTool(objectAt(tool, `tools[${index}]`), `tools[${index}]`, names, customTools));
  const messages = list(body, 'messages');
  if (messages === undefined || messages.length === 0) throw invalidRequest('messages', 'must have at least one message');
  const conversation = mended(readMessages(messages, names), 'messages');
  const toolChoice = readToolChoice(body['tool_choice'], names);
  const config = readConfig(body, warnings);
  return {
    model,
    stream: flag(body, 'stream') ?? false,
    chat: {
      messages: conversation.messages,
      ...(tools.length > 0 && { tools }),
      ...(toolChoice !== undefined && tools.length > 0 && { toolChoice }),
      ...(config !== undefined && { config }),
    },
    warnings: [...warnings, ...conversation.warnings],
    echo: { includeUsage: optionalObject(body, 'stream_options')?.['include_usage'] === true, names, customTools },
  };
}

function readConfig(body: Fields, warnings: Warning[]): ChatRequest['config'] {
  const stop = typeof body['stop'] === 'string' ? [body['stop']] : list(body, 'stop');
  const temperature = number(body, 'temperature', 0, 2);
  const effort = effortOf(text(body, 'reasoning_effort'), 'reasoning_effort', warnings);
  return definedOf({
    maxTokens: integer(body, 'max_completion_tokens', 1, MAX_TOKENS) ?? integer(body, 'max_tokens', 1, MAX_TOKENS),
    temperature: temperature === undefined ? undefined : clampedTemperature(temperature, warnings),
    topP: number(body, 'top_p', 0, 1),
    stop: stop === undefined ? undefined : stop.map(String).filter((one) => one !== ''),
    seed: integer(body, 'seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    presencePenalty: number(body, 'presence_penalty', -2, 2),
    frequencyPenalty: number(body, 'frequency_penalty', -2, 2),
    parallelToolCalls: flag(body, 'parallel_tool_calls'),
    serviceTier: serviceTierOf(body),
    user: text(body, 'safety_identifier') ?? text(body, 'user'),
    metadata: metadataOf(body),
    cacheKey: text(body, 'prompt_cache_key'),
    output: readFormat(optionalObject(body, 'response_format')),
    reasoning: effort === undefined ? undefined : { effort },
  });
}

function readFormat(format: Fields | undefined): NonNullable<ChatRequest['config']>['output'] {
  if (format === undefined || format['type'] === 'text') return undefined;
  if (format['type'] === 'json_object') return { type: 'json' };
  if (format['type'] !== 'json_schema') throw invalidRequest('response_format.type', 'must be text, json_object or json_schema');
  return schemaOutput(objectAt(format['json_schema'], 'response_format.json_schema'), 'response_format.json_schema.schema');
}

function readTool(tool: Fields, path: string, names: ToolNames, customTools: Set<string>): Tool {
  if (tool['type'] === 'custom') {
    const custom = objectAt(tool['custom'], `${path}.custom`);
    const name = requiredText(custom, 'name');
    customTools.add(name);
    const grammar = isObject(custom['format']) && isObject(custom['format']['grammar']) ? custom['format']['grammar']['definition'] : undefined;
    return customTool(names.toOurs(name), text(custom, 'description'), grammar);
  }
  if (tool['type'] !== 'function') throw invalidRequest(`${path}.type`, 'must be function or custom');
  const fn = objectAt(tool['function'], `${path}.function`);
  const name = text(fn, 'name', `${path}.function.name`);
  if (name === undefined || name === '') throw invalidRequest(`${path}.function.name`, 'is required');
  const description = text(fn, 'description', `${path}.function.description`);
  return { name: names.toOurs(name), ...(description !== undefined && { description }), ...(isObject(fn['parameters']) && { parameters: fn['parameters'] }) };
}

function readToolChoice(choice: unknown, names: ToolNames): ChatRequest['toolChoice'] {
  if (choice == null) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const { type, function: fn, custom } = objectAt(choice, 'tool_choice');
  const named = type === 'function' ? fn : type === 'custom' ? custom : undefined;
  if (!isObject(named) || typeof named['name'] !== 'string') throw invalidRequest('tool_choice', 'must be auto, none, required, or name a function');
  return { name: names.toOurs(named['name']) };
}

function readMessages(messages: readonly unknown[], names: ToolNames): Message[] {
  return messages.map((given, index) => {
    const path = `messages[${index}]`;
    const message = objectAt(given, path);
    const role = message['role'];
    switch (role) {
      case 'system':
      case 'developer':
        return { role: 'system', content: contentOf(message['content'], `${path}.content`) };
      case 'user':
        return { role: 'user', content: contentOf(message['content'], `${path}.content`) };
      case 'assistant':
        return readAssistant(message, path, names);
      case 'tool': {
        const toolCallId = text(message, 'tool_call_id', `${path}.tool_call_id`);
        if (toolCallId === undefined || toolCallId === '') throw invalidRequest(`${path}.tool_call_id`, 'is required');
        return { role: 'tool', toolResults: [{ toolCallId, content: contentOf(message['content'], `${path}.content`) }] };
      }
      default:
        throw invalidRequest(`${path}.role`, 'must be one of system, developer, user, assistant, tool');
    }
  });
}

function readAssistant(message: Fields, path: string, names: ToolNames): Message {
  const calls = (list(message, 'tool_calls', `${path}.tool_calls`) ?? []).map((given, index) => {
    const at = `${path}.tool_calls[${index}]`;
    const call = objectAt(given, at);
    const id = text(call, 'id', `${at}.id`) ?? '';
    if (id === '') throw invalidRequest(`${at}.id`, 'is required');
    if (call['type'] === 'custom') {
      const custom = objectAt(call['custom'], `${at}.custom`);
      return { id, name: names.toOurs(text(custom, 'name') ?? ''), arguments: { input: text(custom, 'input') ?? '' } };
    }
    const fn = objectAt(call['function'], `${at}.function`);
    return { id, name: names.toOurs(text(fn, 'name') ?? ''), arguments: argumentsOf(fn['arguments'], `${at}.function.arguments`) };
  });
  const refusal = text(message, 'refusal', `${path}.refusal`);
  const content = message['content'] == null ? (refusal ?? '') : contentOf(message['content'], `${path}.content`);
  return { role: 'assistant', ...(content !== '' && { content }), ...(calls.length > 0 && { toolCalls: calls }) };
}

function contentOf(content: unknown, path: string): string | ContentPart[] {
  if (content == null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw invalidRequest(path, 'must be a string or a list of parts');
  const parts = content.map((given, index) => readPart(objectAt(given, `${path}[${index}]`), `${path}[${index}]`));
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.type === 'text' ? (first.text ?? '') : parts;
}

function readPart(part: Fields, path: string): ContentPart {
  switch (part['type']) {
    case 'text':
      return { type: 'text', text: text(part, 'text', `${path}.text`) ?? '' };
    case 'refusal':
      return { type: 'text', text: text(part, 'refusal', `${path}.refusal`) ?? '' };
    case 'image_url': {
      const image: Fields = typeof part['image_url'] === 'string' ? { url: part['image_url'] } : objectAt(part['image_url'], `${path}.image_url`);
      const detail = image['detail'];
      return {
        type: 'image',
        ...sourceOf(image['url'], `${path}.image_url.url`),
        ...((detail === 'low' || detail === 'high' || detail === 'auto') && { detail }),
      };
    }
    case 'input_audio':
      return audioPart(part['input_audio'], `${path}.input_audio`);
    case 'file': {
      const file = objectAt(part['file'], `${path}.file`);
      if (file['file_id'] != null) throw invalidRequest(`${path}.file.file_id`, 'names a stored file, which this server does not have; send file_data');
      const name = text(file, 'filename', `${path}.file.filename`);
      return { type: 'document', ...sourceOf(file['file_data'], `${path}.file.file_data`), ...(name !== undefined && { name }) };
    }
    default:
      throw invalidRequest(`${path}.type`, 'must be one of text, image_url, input_audio, file, refusal');
  }
}
