// What an adapter supports of a request. What it does not support is left out with a warning, or refused where the answer would be wrong. Pure: no I/O.
import type { Endpoint } from '../auth/endpoint.ts';
import type { Writable } from '../base/writable.ts';
import { invalidRequest } from '../errors.ts';
import type { Adapter } from '../ports.ts';
import type { ChatConfig, ChatRequest, ContentPart, Message, ToolResult, Warning } from '../types.ts';
import type { Content } from './parts.ts';
import { PROMPT_OPTIONS, type Prompt, type PromptOptions, toPrompt } from './prompt.ts';

const UNUSED_FIELDS = ['region', 'apiKey', 'accessKeyId', 'secretAccessKey', 'sessionToken'] as const;
const NONE: readonly string[] = [];

/**
 * The prompt of a request, as `toPrompt` makes it. Settings and options that the adapter does not support become warnings; an unused `baseURL` is refused
 * elsewhere, since it says where data goes. Throws INVALID_REQUEST naming the field, also for an image, document or audio that the adapter does not support.
 */
export function promptFor(request: ChatRequest, adapter: Adapter, leavesTokenLimit = false): Prompt {
  assertParts(request, adapter);
  const prompt: Writable<Prompt> = toPrompt(request, leavesTokenLimit);
  const { model } = request;
  if (adapter.replayed !== undefined) prompt.replayed = (turn) => adapter.replayed?.(model, turn);
  if (adapter.fetchedTokens !== undefined) prompt.fetchedTokens = adapter.fetchedTokens;
  const unused = unusedFields(request.config, adapter);
  const left = prompt.options === undefined ? NONE : leftOut(prompt.options, adapter);
  const isStateLost = request.messages.some((message) => hasForeignState(message, adapter));
  if (unused.length === 0 && left.length === 0 && !isStateLost) return prompt;
  const fields = [...unused.map((name) => `config.${name}`), ...left.map((name) => (name === 'toolChoice' ? name : `config.${name}`))];
  const warnings = fields.map((field): Warning => ({ field, message: `${adapter.displayName} does not support this setting, so it was not sent.` }));
  if (isStateLost)
    warnings.push({ field: 'messages', message: 'What another provider kept with an earlier answer was not sent, because only that provider can read it.' });
  return { ...prompt, ...(left.length > 0 && { options: without(prompt.options, left) }), warnings: [...prompt.warnings, ...warnings] };
}

/** The prompt as an endpoint says that the model takes it. Throws INVALID_REQUEST for an image where it takes none. */
export function withinFacts(prompt: Prompt, request: ChatRequest, { name, quirks, factsOf }: Endpoint): Prompt {
  const facts = factsOf(request.model);
  if ((facts?.images ?? quirks.images) === false) assertNoImage(request, `${request.model} on ${name}`);
  const { maxOutput } = facts ?? {};
  const { maxTokens, defaultMaxTokens } = prompt;
  if (maxOutput === undefined || (maxTokens ?? defaultMaxTokens ?? 0) <= maxOutput) return prompt;
  if (maxTokens === undefined) return { ...prompt, defaultMaxTokens: maxOutput };
  const message = `${request.model} on ${name} gives at most ${maxOutput} tokens, so ${maxOutput} was sent.`;
  return { ...prompt, maxTokens: maxOutput, warnings: [...prompt.warnings, { field: 'config.maxTokens', message }] };
}

function assertNoImage({ messages }: ChatRequest, who: string): void {
  const check = (content: Content | undefined, path: string): void => {
    const at = typeof content === 'object' ? content.findIndex(({ type }) => type === 'image') : -1;
    if (at >= 0) throw invalidRequest(`${path}[${at}]`, `is of type image, which ${who} does not support`);
  };
  for (const [index, message] of messages.entries()) {
    check(message.content, `messages[${index}].content`);
    const { toolResults = [] } = message as { readonly toolResults?: readonly ToolResult[] };
    for (const [place, result] of toolResults.entries()) check(result.content, `messages[${index}].toolResults[${place}].content`);
  }
}

function unusedFields(config: ChatConfig | undefined, adapter: Adapter): readonly string[] {
  if (config === undefined || !UNUSED_FIELDS.some((name) => config[name] !== undefined)) return NONE;
  return UNUSED_FIELDS.filter((name) => config[name] !== undefined && adapter.settings[name] === undefined);
}

/** True for an answer of another provider with what that provider alone can read. */
function hasForeignState(message: ChatRequest['messages'][number], { id }: Adapter): boolean {
  if (message.role !== 'assistant') return false;
  const { providerMetadata, toolCalls } = message as Extract<Message, { readonly role: 'assistant' }>;
  return isForeign(providerMetadata, id) || toolCalls?.some((call) => isForeign(call.providerMetadata, id)) === true;
}

function isForeign(metadata: Readonly<Record<string, unknown>> | undefined, id: string): boolean {
  return metadata !== undefined && metadata[id] === undefined && Object.keys(metadata).length > 0;
}

function leftOut(options: PromptOptions, { supports }: Adapter): readonly string[] {
  return PROMPT_OPTIONS.filter((name) => options[name] !== undefined && supports?.options?.includes(name) !== true);
}

function without(options: PromptOptions | undefined, names: readonly string[]): PromptOptions {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([name]) => !names.includes(name)));
}

function assertParts({ messages }: ChatRequest, adapter: Adapter): void {
  for (const [index, message] of messages.entries()) {
    if (typeof message.content === 'object') assertSupported(message.content, `messages[${index}].content`, adapter);
    // What is missing is refused later, with its own error.
    const { toolResults = [] } = message.role === 'tool' ? (message as { readonly toolResults?: readonly ToolResult[] }) : {};
    for (const [place, { content }] of toolResults.entries()) assertSupported(content, `messages[${index}].toolResults[${place}].content`, adapter);
  }
}

function assertSupported(content: Content, path: string, adapter: Adapter): void {
  if (typeof content === 'string') return;
  for (const [index, { type }] of content.entries()) {
    if (!isSupported(type, adapter)) throw invalidRequest(`${path}[${index}]`, `is of type ${type}, which ${adapter.displayName} does not support`);
  }
}

function isSupported(type: ContentPart['type'], { supports }: Adapter): boolean {
  return type === 'text' || type === 'reasoning' || supports?.parts?.includes(type) === true;
}
