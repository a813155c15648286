// A Responses request as a canonical one. Pure: no I/O.
import { type ChatRequest, invalidRequest, type Message, type Warning } from '../../../../core/index.ts';
import { nearestName } from '../shared/client-fields.ts';
import { chatOf, clampedTemperature, joinedWarnings, mended } from '../shared/conversation.ts';
import type { DialectRequest } from '../shared/dialect.ts';
import { type Fields, flag, ignoredFields, integer, list, number, objectBody, optionalObject, requiredText, text } from '../shared/fields.ts';
import { definedOf, effortOf, metadataOf, schemaOutput, serviceTierOf } from '../shared/openai-config.ts';
import { Sources } from '../shared/sources.ts';
import type { Notes } from './content.ts';
import { repeatedMembers } from './echo.ts';
import { additionalTools, readInput } from './input.ts';
import { Toolbox } from './tools.ts';

/** What an answer depends on. */
export interface ResponsesEcho {
  readonly toolbox: Toolbox;
  /** The members of a response that repeat the request, as JSON without braces. */
  readonly members: string;
  /** Whether the client asked for the provider's state, to bring it back. */
  readonly packsState: boolean;
}

/** Names of what a server would have to keep; an answer without it would ignore the conversation so far. */
export const STORED_STATE: readonly string[] = ['previous_response_id', 'conversation'];
const UNDERSTOOD: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'stream',
  'temperature',
  'top_p',
  'max_output_tokens',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'include',
  'metadata',
  'prompt_cache_key',
  'service_tier',
  'safety_identifier',
  'user',
  'presence_penalty',
  'frequency_penalty',
  ...STORED_STATE,
  'background',
  'prompt',
  // Without an effect on the answer here, so they need no warning.
  'store',
  'client_metadata',
  'stream_options',
  'max_tool_calls',
  'prompt_cache_retention',
]);
const MAX_TOKENS = 10_000_000;
const STATE = 'reasoning.encrypted_content';

/** The client's names of the gateway's settings. */
const CLIENT_NAMES: Readonly<Record<string, string>> = {
  messages: 'input',
  tools: 'tools',
  toolChoice: 'tool_choice',
  'config.maxTokens': 'max_output_tokens',
  'config.temperature': 'temperature',
  'config.topP': 'top_p',
  'config.presencePenalty': 'presence_penalty',
  'config.frequencyPenalty': 'frequency_penalty',
  'config.parallelToolCalls': 'parallel_tool_calls',
  'config.serviceTier': 'service_tier',
  'config.user': 'user',
  'config.metadata': 'metadata',
  'config.cacheKey': 'prompt_cache_key',
  'config.output': 'text.format',
  'config.reasoning': 'reasoning',
  'config.reasoning.effort': 'reasoning.effort',
  'config.reasoning.summary': 'reasoning.summary',
};

/** Throws INVALID_REQUEST whose path is the client's own field. */
export function readRequest(given: unknown): DialectRequest<ResponsesEcho> {
  const body = objectBody(given);
  const model = requiredText(body, 'model');
  refuseStored(body);
  const notes: Notes = { warnings: ignoredFields(body, UNDERSTOOD), sources: new Sources() };
  const { input } = body;
  if (input == null || (Array.isArray(input) && input.length === 0)) throw invalidRequest('input', 'must have at least one item');
  const toolbox = new Toolbox([{ tools: list(body, 'tools') ?? [], path: 'tools' }, ...additionalTools(input)], notes);
  const conversation = mended(withInstructions(text(body, 'instructions'), withUser(readInput(input, toolbox, notes), notes), notes), 'input');
  const include = list(body, 'include') ?? [];
  if (include.some((one) => one !== STATE)) notes.warnings.push({ field: 'include', message: `Only ${STATE} is supported.` });
  const config = readConfig(body, notes.warnings);
  const { tools = [], toolChoice } = toolbox.choose(body['tool_choice']);
  const chat = chatOf(conversation.messages, tools, toolChoice, config);
  const clientNames = body['safety_identifier'] == null ? CLIENT_NAMES : { ...CLIENT_NAMES, 'config.user': 'safety_identifier' };
  return {
    model,
    stream: flag(body, 'stream') ?? false,
    chat,
    warnings: joinedWarnings(notes.warnings, conversation.warnings),
    echo: { toolbox, members: repeatedMembers(body), packsState: include.includes(STATE) },
    field: (path) => notes.sources.of(chat, path) ?? nearestName(path, clientNames),
  };
}

function refuseStored(body: Fields): void {
  for (const name of STORED_STATE) {
    if (body[name] != null) throw invalidRequest(name, 'names a stored conversation, and this server stores none; send the whole conversation in input');
  }
  if (body['prompt'] != null) throw invalidRequest('prompt', 'names a stored prompt, and this server stores none; send instructions and input');
  if (flag(body, 'background') === true) throw invalidRequest('background', 'must be false: answers are not kept for later');
}

function withInstructions(instructions: string | undefined, messages: readonly Message[], { sources }: Notes): Message[] {
  if (instructions === undefined || instructions === '') return [...messages];
  return [sources.note<Message>({ role: 'system', content: instructions }, 'instructions'), ...messages];
}

/** OpenAI answers developers, too; the gateway wants a user. */
function withUser(messages: readonly Message[], { warnings, sources }: Notes): readonly Message[] {
  const last = messages.at(-1);
  if (last?.role !== 'system' || messages.some(({ role }) => role === 'user' || role === 'tool')) return messages;
  warnings.push({ field: 'input', message: 'It has no message of the user, so its last one became one.' });
  const field = sources.of({ last }, 'last') ?? 'input';
  return [...messages.slice(0, -1), sources.note<Message>({ role: 'user', content: last.content }, field)];
}

function readConfig(body: Fields, warnings: Warning[]): ChatRequest['config'] {
  const temperature = number(body, 'temperature', 0, 2);
  return definedOf({
    maxTokens: integer(body, 'max_output_tokens', 1, MAX_TOKENS),
    temperature: temperature === undefined ? undefined : clampedTemperature(temperature, warnings),
    topP: number(body, 'top_p', 0, 1),
    presencePenalty: number(body, 'presence_penalty', -2, 2),
    frequencyPenalty: number(body, 'frequency_penalty', -2, 2),
    parallelToolCalls: flag(body, 'parallel_tool_calls'),
    serviceTier: serviceTierOf(body),
    user: text(body, 'safety_identifier') ?? text(body, 'user'),
    metadata: metadataOf(body),
    cacheKey: text(body, 'prompt_cache_key'),
    output: readFormat(optionalObject(body, 'text'), warnings),
    reasoning: readReasoning(optionalObject(body, 'reasoning'), warnings),
  });
}

function readReasoning(given: Fields | undefined, warnings: Warning[]): NonNullable<ChatRequest['config']>['reasoning'] {
  if (given === undefined) return undefined;
  const effort = effortOf(text(given, 'effort', 'reasoning.effort'), 'reasoning.effort', warnings);
  const summary = text(given, 'summary', 'reasoning.summary') ?? text(given, 'generate_summary', 'reasoning.generate_summary');
  const hasSummary = summary !== undefined && summary !== 'none';
  return effort === undefined && !hasSummary ? undefined : { ...(effort !== undefined && { effort }), ...(hasSummary && { summary: true }) };
}

function readFormat(given: Fields | undefined, warnings: Warning[]): NonNullable<ChatRequest['config']>['output'] {
  if (given?.['verbosity'] != null) warnings.push({ field: 'text.verbosity', message: 'It was ignored.' });
  const format = given === undefined ? undefined : optionalObject(given, 'format', 'text.format');
  if (format === undefined || format['type'] === 'text') return undefined;
  if (format['type'] === 'json_object') return { type: 'json' };
  if (format['type'] !== 'json_schema') throw invalidRequest('text.format.type', 'must be text, json_object or json_schema');
  return schemaOutput(format, 'text.format.schema');
}
