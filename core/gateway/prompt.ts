// Makes a chat request ready for translation. What no provider could accept is refused here, with the field's name. Pure: no I/O.
//
// Of every prompt that comes out this holds:
// - The system text is the system messages in order, joined by blank lines.
// - No turn is blank, and at least one turn is the user's or a tool's.
// - one-step (step.ts): Assistant messages in a row are one turn from the first that calls a tool.
// - Each assistant turn with tool calls is followed by one tool turn with a result for every call, in the order of the calls.
// - Tool-call ids are unique in the whole conversation: some providers count from call_0 in every turn.
import { countUpTo, isDeeperThan, isObject, MAX_JSON_DEPTH, MAX_SCHEMA_VALUES, MAX_TOOL_VALUES } from '../base/json.ts';
import { invalidRequest } from '../errors.ts';
import { DEFAULT_MAX_TOKENS } from '../schemas/chat.ts';
import type { ChatConfig, ChatRequest, ContentPart, Tool, Warning } from '../types.ts';
import { type Content, isBlank, partsOf, textOf } from './parts.ts';
import { type CheckedMessage, PendingCalls, userTurn } from './step.ts';
import type { AssistantTurn, Turn } from './turns.ts';

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

/** A part of the system text. */
export interface SystemPart {
  readonly text: string;
  /** Everything up to here may be cached for this long. */
  readonly cache?: ContentPart['cache'];
}

/** A conversation in the form that adapters translate. */
export interface Prompt {
  readonly system: string | undefined;
  /** Set if the system text came in parts: its texts, none of them blank, with their marks for caching. */
  readonly systemParts?: readonly SystemPart[] | undefined;
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
  /** See `Adapter.replayed`. */
  readonly replayed?: ((turn: AssistantTurn) => unknown) | undefined;
  /** See `Adapter.fetchedTokens`. */
  readonly fetchedTokens?: number | undefined;
}

/**
 * The prompt of a request whose form has been checked. With `leavesTokenLimit`, a request without a token limit gets that of the provider. Throws
 * INVALID_REQUEST naming the field.
 */
export function toPrompt(request: ChatRequest, leavesTokenLimit = false): Prompt {
  const warnings: Warning[] = [];
  const system = new SystemText();
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
      system.add(message.content, path);
      continue;
    }
    if (isBlank(message.content) && (message.toolCalls ?? []).length === 0) {
      warnings.push({ field: `${path}.content`, message: 'The message is blank, so it was not sent.' });
      continue;
    }
    if (message.role === 'user') {
      pending?.flush(turns);
      turns.push(userTurn(message, path));
    } else {
      pending ??= new PendingCalls();
      pending.open(message, path, turns);
    }
  }
  pending?.flush(turns);
  if (!turns.some((turn) => turn.role !== 'assistant')) throw invalidRequest('messages', 'must contain at least one user message that is not blank');
  return {
    system: system.text,
    systemParts: system.parts,
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
  assertSmallSchema(config?.output?.schema, 'config.output.schema');
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

/** How many values it has. */
function assertSmallSchema(schema: unknown, path: string): number {
  assertShallow(schema, path);
  const values = countUpTo(schema, MAX_SCHEMA_VALUES);
  if (values > MAX_SCHEMA_VALUES) throw invalidRequest(path, `has more than ${MAX_SCHEMA_VALUES} values`);
  return values;
}

/** The system messages in their order. */
class SystemText {
  readonly #texts: string[] = [];
  readonly #parts: SystemPart[] = [];
  #isInParts = false;

  get text(): string | undefined {
    return this.#texts.length === 0 ? undefined : this.#texts.join('\n\n');
  }

  get parts(): readonly SystemPart[] | undefined {
    return this.#isInParts && this.#parts.length > 0 ? this.#parts : undefined;
  }

  add(content: Content | undefined, path: string): void {
    const text = textOf(content, 'system');
    const parts = partsOf(content, 'system', `${path}.content`);
    if (!isBlank(content)) this.#texts.push(text);
    if (parts === undefined) this.#addPart(text, undefined);
    else {
      this.#isInParts = true;
      for (const part of parts) this.#addPart(part.text ?? '', part.cache);
    }
  }

  /** No provider takes a blank text; its cache mark moves to the text before it. */
  #addPart(text: string, cache: ContentPart['cache']): void {
    const before = text.trim() === '' ? this.#parts.pop() : { text };
    if (before !== undefined) this.#parts.push({ ...before, ...(cache !== undefined && { cache }) });
  }
}

/** Brings both accepted forms of a tool to the flat one. The schema has checked the outer fields of the nested form. */
function flattenTools(tools: NonNullable<ChatRequest['tools']>, warnings: Warning[]): Tool[] {
  if (tools.length === 0) return [];
  const names = new Set<string>();
  let values = 0;
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
    values += assertSmallSchema(tool.parameters, `${path}.parameters`);
    if (values > MAX_TOOL_VALUES) throw invalidRequest('tools', `have more than ${MAX_TOOL_VALUES} values in their schemas`);
    return tool;
  });
}
