// A Messages request as a canonical one. Pure: no I/O.
import { type ChatRequest, invalidRequest, type Warning } from '../../../../core/index.ts';
import { nearestName } from '../shared/client-fields.ts';
import { chatOf, joinedWarnings, mended, ToolNames } from '../shared/conversation.ts';
import type { DialectRequest } from '../shared/dialect.ts';
import { type Fields, flag, ignoredFields, integer, list, number, objectBody, optionalObject, requiredText, text } from '../shared/fields.ts';
import { definedOf, effortOf, schemaOutput } from '../shared/openai-config.ts';
import { Sources } from '../shared/sources.ts';
import type { Notes } from './content.ts';
import { readMessages, systemOf } from './messages.ts';
import { readChoice, readTools } from './tools.ts';

/** What an answer depends on. */
export interface MessagesEcho {
  readonly names: ToolNames;
  /** Whether the client asked for thinking: others don't expect blocks of it. */
  readonly showsThinking: boolean;
}

const UNDERSTOOD: ReadonlySet<string> = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'metadata',
  'stream',
  'thinking',
  'output_config',
  'output_format',
  // Names of Anthropic's own tiers, which say nothing to others.
  'service_tier',
]);
const MAX_TOKENS = 10_000_000;

type Config = NonNullable<ChatRequest['config']>;

/** Throws INVALID_REQUEST whose path is the client's own field. */
export function readRequest(given: unknown): DialectRequest<MessagesEcho> {
  return read(given, true);
}

/** A request whose tokens are counted only, so it needs no limit. Throws as `readRequest` does. */
export function readCounted(given: unknown): DialectRequest<MessagesEcho> {
  return read(given, false);
}

function read(given: unknown, needsLimit: boolean): DialectRequest<MessagesEcho> {
  const body = objectBody(given);
  const model = requiredText(body, 'model');
  if (body['thread'] != null) throw invalidRequest('thread', THREAD_REFUSED);
  const warnings = ignoredFields(body, UNDERSTOOD);
  const notes: Notes = { warnings, sources: new Sources() };
  const names = new ToolNames();
  const { tools, left } = readTools(body, names, notes);
  const { toolChoice, parallelToolCalls } = readChoice(body, names, left);
  const conversation = mended([...systemOf(body['system'], 'system', notes), ...readMessages(body, names, notes)], 'messages');
  const maxTokens = needsLimit ? integer(body, 'max_tokens', 1, MAX_TOKENS) : undefined;
  if (needsLimit && maxTokens === undefined) throw invalidRequest('max_tokens', 'is required');
  const config = readConfig(body, parallelToolCalls, maxTokens, warnings);
  const chat = chatOf(conversation.messages, tools, toolChoice, config);
  return {
    model,
    stream: flag(body, 'stream') ?? false,
    chat,
    warnings: joinedWarnings(warnings, conversation.warnings),
    echo: { names, showsThinking: isThinking(optionalObject(body, 'thinking')) },
    field: (path) => notes.sources.of(chat, path) ?? nearestName(path, CLIENT_FIELDS),
  };
}

/** A client that reads this sends the whole conversation again, without the thread. */
export const THREAD_REFUSED = 'this model keeps no threads';

function readConfig(body: Fields, parallelToolCalls: boolean | undefined, maxTokens: number | undefined, warnings: Warning[]): ChatRequest['config'] {
  const metadata = optionalObject(body, 'metadata') ?? {};
  const stop = list(body, 'stop_sequences')?.filter((one) => typeof one === 'string' && one !== '');
  return definedOf({
    maxTokens,
    temperature: number(body, 'temperature', 0, 1),
    topP: number(body, 'top_p', 0, 1),
    topK: integer(body, 'top_k', 0, 100_000),
    stop: stop === undefined || stop.length === 0 ? undefined : stop.map(String),
    user: text(metadata, 'user_id', 'metadata.user_id')?.slice(0, 512),
    output: readFormat(body, warnings),
    reasoning: readReasoning(body, warnings),
    parallelToolCalls,
  });
}

function readFormat(body: Fields, warnings: Warning[]): Config['output'] {
  const config = optionalObject(body, 'output_config');
  const [format, path] =
    config?.['format'] == null
      ? [optionalObject(body, 'output_format'), 'output_format']
      : [optionalObject(config, 'format', 'output_config.format'), 'output_config.format'];
  if (format === undefined) return undefined;
  if (format['type'] === 'json_schema') return schemaOutput(format, `${path}.schema`);
  warnings.push({ field: `${path}.type`, message: 'Only json_schema is known, so it was ignored.' });
  return undefined;
}

function isThinking(thinking: Fields | undefined): boolean {
  return thinking !== undefined && thinking['type'] !== 'disabled';
}

function readReasoning(body: Fields, warnings: Warning[]): Config['reasoning'] {
  const thinking = optionalObject(body, 'thinking');
  const config = optionalObject(body, 'output_config') ?? {};
  const effort = effortOf(text(config, 'effort', 'output_config.effort'), 'output_config.effort', warnings);
  if (thinking?.['type'] === 'disabled') return { effort: 'none' };
  if (thinking === undefined) return effort === undefined ? undefined : { effort };
  const budgetTokens = thinking['type'] === 'enabled' ? integer(thinking, 'budget_tokens', 0, MAX_TOKENS) : undefined;
  const level = effort ?? (budgetTokens === undefined ? undefined : effortOfBudget(budgetTokens));
  return { summary: true, ...(level !== undefined && { effort: level }), ...(budgetTokens !== undefined && { budgetTokens }) };
}

/** For models that take a level instead of a budget. */
function effortOfBudget(tokens: number): 'low' | 'medium' | 'high' {
  if (tokens < 4096) return 'low';
  return tokens < 16_384 ? 'medium' : 'high';
}

const CLIENT_FIELDS: Readonly<Record<string, string>> = {
  messages: 'messages',
  tools: 'tools',
  toolChoice: 'tool_choice',
  'config.maxTokens': 'max_tokens',
  'config.temperature': 'temperature',
  'config.topP': 'top_p',
  'config.topK': 'top_k',
  'config.stop': 'stop_sequences',
  'config.parallelToolCalls': 'tool_choice.disable_parallel_tool_use',
  'config.user': 'metadata.user_id',
  'config.output': 'output_config.format',
  'config.reasoning': 'thinking',
  'config.reasoning.effort': 'output_config.effort',
  'config.reasoning.budgetTokens': 'thinking.budget_tokens',
};
