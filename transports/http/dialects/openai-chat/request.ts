// A Chat Completions request as a canonical one. Pure: no I/O.
import { isObject } from '../../../../core/base/json.ts';
import { type ChatRequest, invalidRequest, type Tool, type Warning } from '../../../../core/index.ts';
import { nearestName } from '../shared/client-fields.ts';
import { chatOf, joinedWarnings, mended, ToolNames } from '../shared/conversation.ts';
import type { DialectRequest } from '../shared/dialect.ts';
import { conversationIn, type Fields, flag, ignoredFields, integer, list, objectAt, objectBody, optionalObject, requiredText, text } from '../shared/fields.ts';
import { definedOf, effortOf, MAX_TOKENS, metadataOf, SAMPLING_NAMES, samplingOf, schemaOutput, serviceTierOf } from '../shared/openai-config.ts';
import { Sources } from '../shared/sources.ts';
import { customTool } from '../shared/tool-calls.ts';
import { readMessages } from './messages.ts';

/** What an answer depends on. */
export interface ChatEcho {
  readonly includeUsage: boolean;
  readonly names: ToolNames;
  /** The tools that take free text, by the client's name. */
  readonly customTools: ReadonlySet<string>;
}

/** Refused, because the answer would be wrong without a word. */
const REFUSED = ['functions', 'function_call', 'audio'] as const;
const UNDERSTOOD: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
  'stop',
  'seed',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'top_logprobs',
  'user',
  'safety_identifier',
  'metadata',
  'service_tier',
  'prompt_cache_key',
  'modalities',
  // Without an effect on the answer here, so they need no warning.
  'store',
  'prompt_cache_retention',
]);
/** The client's names of the gateway's settings. */
const CLIENT_NAMES: Readonly<Record<string, string>> = {
  messages: 'messages',
  tools: 'tools',
  toolChoice: 'tool_choice',
  'config.maxTokens': 'max_completion_tokens',
  ...SAMPLING_NAMES,
  'config.logprobs': 'logprobs',
  'config.topLogprobs': 'top_logprobs',
  'config.parallelToolCalls': 'parallel_tool_calls',
  'config.serviceTier': 'service_tier',
  'config.user': 'user',
  'config.metadata': 'metadata',
  'config.cacheKey': 'prompt_cache_key',
  'config.output': 'response_format',
  'config.reasoning': 'reasoning_effort',
};

/** Throws INVALID_REQUEST whose path is the client's own field. */
export function readRequest(given: unknown): DialectRequest<ChatEcho> {
  const body = objectBody(given);
  const model = requiredText(body, 'model');
  for (const name of REFUSED) if (body[name] != null) throw invalidRequest(name, 'is not supported; use tools');
  if ((body['n'] ?? 1) !== 1) throw invalidRequest('n', 'must be 1: one answer for each request');
  const modalities = list(body, 'modalities');
  if (modalities?.some((one) => one !== 'text') === true) throw invalidRequest('modalities', 'must be ["text"]');
  const warnings = ignoredFields(body, UNDERSTOOD);
  const names = new ToolNames();
  const customTools = new Set<string>();
  const sources = new Sources();
  const tools = (list(body, 'tools') ?? []).map((tool, index) => {
    const path = `tools[${index}]`;
    return sources.note(readTool(objectAt(tool, path), path, names, customTools), path);
  });
  const messages = conversationIn(body, 'messages');
  if (messages === undefined || messages.length === 0) throw invalidRequest('messages', 'must have at least one message');
  const conversation = mended(readMessages(messages, names, sources), 'messages');
  const toolChoice = readToolChoice(body['tool_choice'], names);
  const config = readConfig(body, warnings);
  const chat = chatOf(conversation.messages, tools, toolChoice, config);
  return {
    model,
    stream: flag(body, 'stream') ?? false,
    chat,
    warnings: joinedWarnings(warnings, conversation.warnings),
    echo: { includeUsage: optionalObject(body, 'stream_options')?.['include_usage'] === true, names, customTools },
    field: (path) => sources.of(chat, path) ?? nearestName(path, CLIENT_NAMES),
  };
}

function readConfig(body: Fields, warnings: Warning[]): ChatRequest['config'] {
  const effort = effortOf(text(body, 'reasoning_effort'), 'reasoning_effort', warnings);
  return definedOf({
    maxTokens: integer(body, 'max_completion_tokens', 1, MAX_TOKENS) ?? integer(body, 'max_tokens', 1, MAX_TOKENS),
    ...samplingOf(body, warnings),
    logprobs: flag(body, 'logprobs') === true ? true : undefined,
    topLogprobs: integer(body, 'top_logprobs', 0, 20),
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
    const name = requiredText(custom, 'name', `${path}.custom.name`);
    customTools.add(name);
    const grammar = isObject(custom['format']) && isObject(custom['format']['grammar']) ? custom['format']['grammar']['definition'] : undefined;
    return customTool(names.toOurs(name), text(custom, 'description'), grammar);
  }
  if (tool['type'] !== 'function') throw invalidRequest(`${path}.type`, 'must be function or custom');
  const fn = objectAt(tool['function'], `${path}.function`);
  const name = requiredText(fn, 'name', `${path}.function.name`);
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
