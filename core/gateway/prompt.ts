// Makes a chat request ready for translation. What no provider could accept is refused here, with the field's name. Pure: no I/O.
//
// Of every prompt that comes out this holds:
// - The system text is the system messages in order, joined by blank lines.
// - No turn is blank, and at least one turn is the user's or a tool's.
// - Each assistant turn with tool calls is followed by one tool turn with a result for every call, in the order of the calls.
// - Tool-call ids are unique in the whole conversation: some providers count from call_0 in every turn.
import { invalidRequest } from '../errors.ts';
import { hasMoreThan, isDeeperThan, isObject, MAX_JSON_DEPTH, MAX_SCHEMA_VALUES } from '../json.ts';
import type { ChatConfig, ChatRequest, ContentPart, Message, Tool, ToolCall, ToolResult, Warning } from '../types.ts';
import { type Content, partsOf, textOf } from './parts.ts';

/** The result of one tool call. */
export interface PromptToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: string;
  /** Set if the content is more than text; `content` is then the text in it. */
  readonly parts?: readonly ContentPart[] | undefined;
  readonly isError: boolean;
}

/** One turn of the conversation. */
export type Turn =
  | {
      readonly role: 'user';
      readonly text: string;
      /** Set if the content is more than text; `text` is then the text in it. */
      readonly parts?: readonly ContentPart[] | undefined;
    }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly parts?: readonly ContentPart[] | undefined;
      readonly toolCalls: readonly ToolCall[];
      readonly providerMetadata?: Record<string, unknown> | undefined;
    }
  | { readonly role: 'tool'; readonly results: readonly PromptToolResult[] };

type UserTurn = Extract<Turn, { readonly role: 'user' }>;

/** What a request may ask for besides the conversation. An adapter lists what it supports; what it doesn't gets a warning and is not there. */
export type PromptOptions = Pick<
  ChatConfig,
  | 'cacheKey'
  | 'topP'
  | 'topK'
  | 'stop'
  | 'seed'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'parallelToolCalls'
  | 'logprobs'
  | 'topLogprobs'
  | 'serviceTier'
  | 'user'
  | 'metadata'
  | 'output'
  | 'reasoning'
> &
  Pick<ChatRequest, 'toolChoice'>;

/** The names of the options. */
export const PROMPT_OPTIONS = [
  'cacheKey',
  'topP',
  'topK',
  'stop',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'parallelToolCalls',
  'logprobs',
  'topLogprobs',
  'serviceTier',
  'user',
  'metadata',
  'output',
  'reasoning',
  'toolChoice',
] as const satisfies readonly (keyof PromptOptions)[];

const IS_OPTION: ReadonlySet<string> = new Set(PROMPT_OPTIONS);

/** A conversation in the form that adapters translate. */
export interface Prompt {
  readonly system: string | undefined;
  /** Set if the system text was marked for caching; the last mark counts. */
  readonly systemCache?: ContentPart['cache'] | undefined;
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  /** Undefined if the request does not set it. */
  readonly maxTokens: number | undefined;
  /** What is sent instead; undefined to leave the limit to the provider. */
  readonly defaultMaxTokens: number | undefined;
  readonly temperature: number | undefined;
  readonly cacheControl: boolean;
  /** Undefined when the request asks for none. */
  readonly options?: PromptOptions | undefined;
  /** What was not sent, and why. */
  readonly warnings: readonly Warning[];
}

/** A message as far as its schema has checked it: `assertFields` compares its fields with its role. */
interface CheckedMessage {
  readonly role: Message['role'];
  readonly content?: Content;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolResults?: readonly ToolResult[];
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
}

/** The token limit that the contract sets for a request without `maxTokens`. */
export const DEFAULT_MAX_TOKENS = 4096;

/**
 * The prompt of a request whose form has been checked. With `leavesTokenLimit`, a request without a token limit gets that of the provider. Throws
 * INVALID_REQUEST naming the field.
 */
export function toPrompt(request: ChatRequest, leavesTokenLimit = false): Prompt {
  const warnings: Warning[] = [];
  const system: string[] = [];
  let systemCache: ContentPart['cache'];
  const turns: Turn[] = [];
  let pending: PendingCalls | undefined;
  const messages: readonly CheckedMessage[] = request.messages;
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    assertFields(message, path);
    if (message.role === 'tool') {
      pending ??= new PendingCalls();
      pending.answer(message, path);
      continue;
    }
    if (message.role === 'system') {
      if (isBlank(message.content)) continue;
      system.push(textOf(message.content, message.role));
      if (typeof message.content === 'object') systemCache = message.content.findLast(({ cache }) => cache !== undefined)?.cache ?? systemCache;
      continue;
    }
    if (isBlank(message.content) && (message.toolCalls ?? []).length === 0) {
      warnings.push({ field: `${path}.content`, message: 'The message is blank, so it was not sent.' });
      continue;
    }
    pending?.flush(turns);
    if (message.role === 'user') turns.push(userTurn(message, path));
    else {
      pending ??= new PendingCalls();
      pending.open(message, path, turns);
    }
  }
  pending?.flush(turns);
  if (!turns.some((turn) => turn.role !== 'assistant')) throw invalidRequest('messages', 'must contain at least one user message that is not blank');
  return {
    system: system.length === 0 ? undefined : system.join('\n\n'),
    systemCache,
    turns,
    tools: flattenTools(request.tools ?? [], warnings),
    maxTokens: request.config?.maxTokens,
    defaultMaxTokens: leavesTokenLimit ? undefined : DEFAULT_MAX_TOKENS,
    temperature: request.config?.temperature,
    cacheControl: request.config?.cacheControl ?? false,
    options: optionsOf(request),
    warnings,
  };
}

/** Undefined for a request without options, as most are. Throws INVALID_REQUEST naming the field. */
function optionsOf({ config, toolChoice, tools }: ChatRequest): PromptOptions | undefined {
  if (config?.output?.type === 'json_schema' && config.output.schema === undefined) throw invalidRequest('config.output.schema', 'is required for json_schema');
  if (typeof toolChoice === 'object' && !(tools ?? []).some((tool) => ('function' in tool ? tool.function : tool).name === toolChoice.name)) {
    throw invalidRequest('toolChoice.name', `names no tool of this request (${toolChoice.name})`);
  }
  if (toolChoice === 'required' && (tools ?? []).length === 0) throw invalidRequest('toolChoice', 'is required, but there are no tools');
  if (config === undefined && toolChoice === undefined) return undefined;
  let options: Record<string, unknown> | undefined;
  const take = (name: string, value: unknown): void => {
    if (value === undefined || !IS_OPTION.has(name)) return;
    options ??= {};
    options[name] = value;
  };
  for (const name in config) take(name, config[name as keyof ChatConfig]);
  take('toolChoice', toolChoice);
  return options;
}

function userTurn({ content, role }: CheckedMessage, path: string): UserTurn {
  const parts = partsOf(content, role, `${path}.content`);
  const text = textOf(content, role);
  return parts === undefined ? { role: 'user', text } : { role: 'user', text, parts };
}

/** One turn that says what several say. */
function joined(turns: readonly UserTurn[]): UserTurn {
  const text = turns.flatMap((turn) => (turn.text === '' ? [] : [turn.text])).join('\n\n');
  if (turns.every(({ parts }) => parts === undefined)) return { role: 'user', text };
  return { role: 'user', text, parts: turns.flatMap((turn) => turn.parts ?? [{ type: 'text', text: turn.text } as const]) };
}

/** True for a content without text or other parts. */
function isBlank(content: Content | undefined): boolean {
  if (content === undefined || typeof content === 'string') return content === undefined || content.trim() === '';
  return content.every(({ type, text }) => type === 'text' && (text ?? '').trim() === '');
}

function assertFields(message: CheckedMessage, path: string): void {
  if (message.toolCalls !== undefined && message.role !== 'assistant')
    throw invalidRequest(`${path}.toolCalls`, 'is only allowed on messages with role assistant');
  if (message.toolResults !== undefined && message.role !== 'tool') throw invalidRequest(`${path}.toolResults`, 'is only allowed on messages with role tool');
  if (message.role === 'tool' && message.toolResults === undefined) throw invalidRequest(`${path}.toolResults`, 'is required for role tool');
  if (message.content === undefined && message.role !== 'tool' && (message.toolCalls ?? []).length === 0)
    throw invalidRequest(`${path}.content`, 'is required');
  if (typeof message.content === 'object') partsOf(message.content, message.role, `${path}.content`);
  assertShallow(message.providerMetadata, `${path}.providerMetadata`);
  message.toolCalls?.forEach((call, index) => {
    assertShallow(call.arguments, `${path}.toolCalls[${index}].arguments`);
    assertShallow(call.providerMetadata, `${path}.toolCalls[${index}].providerMetadata`);
  });
}

function assertShallow(value: unknown, path: string): void {
  if (isDeeperThan(value, MAX_JSON_DEPTH)) throw invalidRequest(path, `nests deeper than ${MAX_JSON_DEPTH} levels`);
}

/** The calls of the last assistant turn, and the results that have come for them. */
class PendingCalls {
  #calls: readonly ToolCall[] = [];
  /** From the id as the caller wrote it to the id that it has in the prompt. */
  #renamed: ReadonlyMap<string, string> = new Map();
  readonly #used = new Set<string>();
  /** The last number tried for an id, so that a thousand turns with the same id don't each count from the start. */
  readonly #lastNumber = new Map<string, number>();
  #path = '';
  readonly #results = new Map<string, PromptToolResult>();
  /** Contents beside the results. */
  readonly #extra: UserTurn[] = [];

  open(message: CheckedMessage, path: string, turns: Turn[]): void {
    const given = message.toolCalls ?? [];
    const renamed = new Map<string, string>();
    const toolCalls = given.map((call, index) => {
      if (renamed.has(call.id)) throw invalidRequest(`${path}.toolCalls[${index}].id`, 'is used twice in this message');
      const id = this.#unused(call.id);
      renamed.set(call.id, id);
      return id === call.id ? call : { ...call, id };
    });
    this.#renamed = renamed;
    const parts = partsOf(message.content, message.role, `${path}.content`);
    const text = isBlank(message.content) ? '' : textOf(message.content, message.role);
    turns.push({ role: 'assistant', text, ...(parts !== undefined && { parts }), toolCalls, providerMetadata: message.providerMetadata });
    this.#calls = toolCalls;
    this.#path = path;
  }

  answer(message: CheckedMessage, path: string): void {
    message.toolResults?.forEach((result, index) => {
      const at = `${path}.toolResults[${index}].toolCallId`;
      const id = this.#renamed.get(result.toolCallId);
      const call = this.#calls.find((candidate) => candidate.id === id);
      if (call === undefined) throw invalidRequest(at, 'does not match a tool call of the assistant message before it; send that message with its toolCalls');
      if (this.#results.has(call.id)) throw invalidRequest(at, 'appears twice; each tool call can have only one result');
      const parts = partsOf(result.content, 'tool', `${path}.toolResults[${index}].content`);
      this.#results.set(call.id, {
        toolCallId: call.id,
        toolName: call.name,
        content: textOf(result.content, 'tool'),
        isError: result.isError ?? false,
        ...(parts !== undefined && { parts }),
      });
    });
    if (!isBlank(message.content)) this.#extra.push(userTurn(message, path));
  }

  #unused(id: string): string {
    let candidate = id;
    let n = this.#lastNumber.get(id) ?? 1;
    while (this.#used.has(candidate)) {
      n += 1;
      candidate = `${id}_${n}`;
    }
    this.#lastNumber.set(id, n);
    this.#used.add(candidate);
    return candidate;
  }

  flush(turns: Turn[]): void {
    if (this.#calls.length === 0) return;
    const results = this.#calls.map((call, index) => {
      const result = this.#results.get(call.id);
      if (result === undefined)
        throw invalidRequest(`${this.#path}.toolCalls[${index}]`, 'has no result; add a message with role tool after it, with the result in toolResults');
      return result;
    });
    turns.push({ role: 'tool', results });
    // What stands beside results becomes the user's: no provider takes it inside a tool turn.
    if (this.#extra.length > 0) turns.push(joined(this.#extra));
    this.#calls = [];
    this.#renamed = new Map();
    this.#results.clear();
    this.#extra.length = 0;
  }
}

/** Brings both accepted forms of a tool to the flat one. The schema has checked the outer fields of the nested form. */
function flattenTools(tools: NonNullable<ChatRequest['tools']>, warnings: Warning[]): Tool[] {
  if (tools.length === 0) return [];
  const names = new Set<string>();
  return tools.map((item, index) => {
    const { strict, type: _type, ...tool }: Tool = 'function' in item ? item.function : item;
    const path = `tools[${index}]`;
    if (strict) warnings.push({ field: `${path}.strict`, message: 'It was not sent, because strict mode would change the schema for one provider only.' });
    if (names.has(tool.name)) throw invalidRequest(`${path}.name`, `is used twice (${tool.name})`);
    names.add(tool.name);
    const type = tool.parameters?.['type'];
    if (type !== undefined && type !== 'object') throw invalidRequest(`${path}.parameters.type`, 'must be "object"');
    if (tool.parameters?.['properties'] !== undefined && !isObject(tool.parameters['properties']))
      throw invalidRequest(`${path}.parameters.properties`, 'must be an object');
    assertShallow(tool.parameters, `${path}.parameters`);
    if (hasMoreThan(tool.parameters, MAX_SCHEMA_VALUES)) throw invalidRequest(`${path}.parameters`, `has more than ${MAX_SCHEMA_VALUES} values`);
    return tool;
  });
}
