// How a server differs from others that speak Chat Completions, applied in this one place: to a request that is translated, and to one that passes in its own bytes.
// What a server needs is data of its preset or entry; nothing here knows a server. Pure: no I/O.
//
// top-level-only: a request that passes changes in its top-level members alone. One whose messages would have to change is translated instead.
import { createHash } from 'node:crypto';
import { editMembers } from '../../core/base/json-edit.ts';
import type { Endpoint, ForwardedRequest, Prompt, PromptOptions, Quirks, ResolvedSettings, Warning } from '../../core/index.ts';
import { asArray, asObject } from '../shared/read.ts';
import { CALL_ID } from './request-parts.ts';
import type { ChatCompletionsRequest, ChatMessage, ChatPart } from './schema.ts';

type Droppable = NonNullable<Quirks['drop']>[number];
type Reasoning = NonNullable<PromptOptions['reasoning']>;
type Effort = NonNullable<Reasoning['effort']>;

const NONE: Quirks = {};
/** What an option is called on the wire. */
const WIRE_NAMES: Readonly<Record<Droppable, readonly string[]>> = {
  cacheKey: ['prompt_cache_key'],
  topP: ['top_p'],
  topK: ['top_k'],
  stop: ['stop'],
  seed: ['seed'],
  presencePenalty: ['presence_penalty'],
  frequencyPenalty: ['frequency_penalty'],
  parallelToolCalls: ['parallel_tool_calls'],
  logprobs: ['logprobs'],
  topLogprobs: ['top_logprobs'],
  serviceTier: ['service_tier'],
  user: ['user', 'safety_identifier'],
  metadata: ['metadata'],
  output: ['response_format'],
  temperature: ['temperature'],
  store: ['store'],
};
const LIMITS = ['max_tokens', 'max_completion_tokens'] as const;
/** Nine letters or digits. */
const ALNUM9 = /^[a-zA-Z0-9]{9}$/;
/** From the least to the most. */
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
const IMAGE_TYPES: ReadonlySet<unknown> = new Set(['image_url', 'input_image']);

/** The quirks of the server that these settings lead to. */
export function quirksOf({ endpoint }: Pick<ResolvedSettings, 'endpoint'>): Quirks {
  return endpoint?.quirks ?? NONE;
}

/** The prompt without what the server does not take, and a warning for each option that was asked for. */
export function withoutDropped(prompt: Prompt, { drop = [] }: Quirks): { readonly prompt: Prompt; readonly warnings: readonly Warning[] } {
  const options = prompt.options as Readonly<Record<string, unknown>> | undefined;
  const isAsked = (name: Droppable): boolean => (name === 'temperature' ? prompt.temperature !== undefined : options?.[name] !== undefined);
  const dropped = drop.filter(isAsked);
  if (dropped.length === 0) return { prompt, warnings: [] };
  const kept = Object.fromEntries(Object.entries(options ?? {}).filter(([name]) => !dropped.includes(name as Droppable)));
  const temperature = dropped.includes('temperature') ? undefined : prompt.temperature;
  return { prompt: { ...prompt, options: kept, temperature }, warnings: dropped.map((name) => left(`config.${name}`)) };
}

function left(field: string): Warning {
  return { field, message: 'This server does not take the setting, so it was not sent.' };
}

/** A request that was built for any server, as this one takes it. `reasoning` is what the caller asked for. */
export function applyQuirks(body: ChatCompletionsRequest, quirks: Quirks, reasoning: Reasoning | undefined): readonly Warning[] {
  const { maxTokensField = 'max_tokens', streamUsage, toolChoiceRequired } = quirks;
  const limit = body.max_tokens ?? body.max_completion_tokens;
  if (limit !== undefined && quirks.maxTokensField !== undefined) {
    for (const name of LIMITS) delete body[name];
    body[maxTokensField] = limit;
  }
  if (streamUsage === false) delete body.stream_options;
  if (body.tool_choice === 'required' && toolChoiceRequired !== undefined) body.tool_choice = toolChoiceRequired as 'required';
  if (reasoning === undefined) return [];
  if (!hasOwnReasoning(quirks)) return nearestEffortIn(body, quirks);
  delete body.reasoning_effort;
  const { fields, warnings } = reasoningFields(quirks.reasoning, reasoning);
  Object.assign(body, fields);
  return warnings;
}

/** Leaves an effort that the server takes. */
function nearestEffortIn(body: ChatCompletionsRequest, { efforts }: Quirks): readonly Warning[] {
  const asked = body.reasoning_effort;
  const taken = nearestEffort(asked, efforts);
  if (taken === undefined || taken === asked) return [];
  body.reasoning_effort = taken;
  return [{ field: 'config.reasoning.effort', message: `This server does not take ${asked}, so ${taken} was sent.` }];
}

/** The effort that the server takes in place of this one: `none` for none alone. Undefined for a word of the client's own. */
function nearestEffort(asked: unknown, efforts: Quirks['efforts']): Effort | undefined {
  const at = EFFORTS.indexOf(asked as Effort);
  if (at < 0 || efforts === undefined) return undefined;
  const distance = (effort: Effort): number => Math.abs(EFFORTS.indexOf(effort) - at) + ((effort === 'none') === (asked === 'none') ? 0 : EFFORTS.length);
  return efforts.toSorted((one, other) => distance(one) - distance(other))[0];
}

/** True if reasoning is not asked for by an effort alone. */
export function hasOwnReasoning({ reasoning }: Quirks): boolean {
  return reasoning !== undefined && reasoning !== 'effort';
}

interface ReasoningFields {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly warnings: readonly Warning[];
}

function reasoningFields(style: Quirks['reasoning'], { effort, budgetTokens }: Reasoning): ReasoningFields {
  const isOn = effort !== 'none' && budgetTokens !== 0;
  const switched: Warning[] =
    effort === undefined || effort === 'none'
      ? []
      : [{ field: 'config.reasoning.effort', message: 'This server only switches reasoning on or off, so the effort was not sent.' }];
  const noBudget: Warning[] = budgetTokens ? [{ field: 'config.reasoning.budgetTokens', message: 'This server takes no budget, so it was not sent.' }] : [];
  switch (style) {
    case 'openrouter':
      return { fields: { reasoning: budgetTokens === undefined ? { effort } : { max_tokens: budgetTokens } }, warnings: [] };
    case 'thinking':
      return { fields: { thinking: { type: isOn ? 'enabled' : 'disabled' } }, warnings: [...switched, ...noBudget] };
    case 'thinking_effort':
      return {
        fields: { thinking: { type: isOn ? 'enabled' : 'disabled' }, ...(isOn && effort !== undefined && { reasoning_effort: effort }) },
        warnings: noBudget,
      };
    case 'enabled':
      return { fields: { reasoning: { enabled: isOn } }, warnings: [...switched, ...noBudget] };
    case 'enable_thinking':
      return { fields: { enable_thinking: isOn, ...(budgetTokens ? { thinking_budget: budgetTokens } : {}) }, warnings: switched };
    case 'template':
      return { fields: { chat_template_args: { enable_thinking: isOn } }, warnings: [...switched, ...noBudget] };
    default:
      return { fields: {}, warnings: [left('config.reasoning')] };
  }
}

/** The ids of calls that the server accepts, and how one becomes such an id. */
export function callIdsOf({ callIds }: Quirks): { readonly allowed: RegExp; readonly make?: (id: string) => string } {
  return callIds === 'alnum9' ? { allowed: ALNUM9, make: nineOf } : { allowed: CALL_ID };
}

/** The same id always gives the same nine. */
function nineOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}

/** The messages for a server that wants them to alternate between the user and the assistant: neighbours of one role are one message. */
export function alternating(messages: readonly ChatMessage[]): ChatMessage[] {
  const joined: ChatMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role === 'user' && message.role === 'user') last.content = joinedContent(last.content, message.content);
    else if (last?.role === 'assistant' && message.role === 'assistant' && last.tool_calls === undefined) {
      joined[joined.length - 1] = { ...message, content: [last.content, message.content].filter(Boolean).join('\n\n') };
    } else joined.push({ ...message });
  }
  return joined;
}

type UserContent = string | ChatPart[];

function joinedContent(one: UserContent, other: UserContent): UserContent {
  return typeof one === 'string' && typeof other === 'string' ? `${one}\n\n${other}` : [...partsOf(one), ...partsOf(other)];
}

function partsOf(content: UserContent): ChatPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** The header in which the cache key of a conversation goes. */
export function sessionHeader({ sessionHeader: name }: Quirks, key: unknown): Record<string, string> {
  return name !== undefined && typeof key === 'string' && /^[\x21-\x7e]{1,256}$/.test(key) ? { [name]: key } : {};
}

/** True for a request whose messages the server would refuse, or that asks a model for something that it lacks: it is translated (top-level-only). */
export function mustTranslate(endpoint: Endpoint, model: string, fields: Readonly<Record<string, unknown>>): boolean {
  const { reasoningBack, callIds, developerRole, strictTools, images, messageNames, alternatingRoles } = endpoint.quirks;
  if (strictTools === false && asArray(fields['tools']).some((tool) => asObject(asObject(tool)['function'])['strict'] === true)) return true;
  const needsReasoning = reasoningBack === 'reasoning_content';
  const needsIds = callIds === 'alnum9';
  const noImages = (images ?? endpoint.factsOf(model)?.images) === false;
  if (!needsReasoning && !needsIds && developerRole !== false && !noImages && messageNames !== false && alternatingRoles !== true) return false;
  return asArray(fields['messages']).some((entry, index, all) => {
    const message = asObject(entry);
    const { role } = message;
    if (messageNames === false && message['name'] !== undefined) return true;
    if (alternatingRoles === true && index > 0 && role !== 'tool' && asObject(all[index - 1])['role'] === role) return true;
    if (needsReasoning && role === 'assistant' && typeof message['reasoning_content'] !== 'string') return true;
    if (developerRole === false && role === 'developer') return true;
    if (needsIds && [message['tool_call_id'], ...asArray(message['tool_calls']).map((call) => asObject(call)['id'])].some(isForeignId)) return true;
    return noImages && asArray(message['content']).some((part) => IMAGE_TYPES.has(asObject(part)['type']));
  });
}

function isForeignId(id: unknown): boolean {
  return id !== undefined && !(typeof id === 'string' && ALNUM9.test(id));
}

/** What a request that passes asks for in vain. */
export function forwardWarnings(quirks: Quirks, fields: Readonly<Record<string, unknown>>): readonly Warning[] {
  const dropped = namesDropped(quirks).filter((name) => fields[name] !== undefined);
  return dropped.map((field) => ({ ...left(field), field }));
}

function namesDropped({ drop = [], reasoning }: Quirks): string[] {
  return [...drop.flatMap((name) => WIRE_NAMES[name]), ...(reasoning === 'none' ? ['reasoning_effort'] : [])];
}

/** The bytes of a request that passes, as the server takes them, and the headers that go with them. The same bytes if nothing must change. */
export function editForwarded(
  quirks: Quirks,
  { body, commas, fields = {} }: ForwardedRequest,
): { readonly body: Buffer; readonly headers: Record<string, string> } {
  const drop = namesDropped(quirks).filter((name) => fields[name] !== undefined);
  if (quirks.streamUsage === false) drop.push('stream_options'); // the gateway asks for it, too
  const set: Record<string, string> = {};
  const rename: Record<string, string> = {};
  if (fields['tool_choice'] === 'required' && quirks.toolChoiceRequired !== undefined) set['tool_choice'] = JSON.stringify(quirks.toolChoiceRequired);
  const { maxTokensField } = quirks;
  const other = LIMITS.find((name) => name !== maxTokensField);
  if (maxTokensField !== undefined && other !== undefined && fields[other] !== undefined) {
    if (fields[maxTokensField] === undefined) rename[other] = maxTokensField;
    else drop.push(other);
  }
  const effort = fields['reasoning_effort'];
  if (hasOwnReasoning(quirks) && quirks.reasoning !== 'none' && typeof effort === 'string') {
    const { reasoning_effort: kept, ...others } = reasoningFields(quirks.reasoning, { effort: effort as Effort }).fields;
    if (kept === undefined) drop.push('reasoning_effort');
    for (const [name, value] of Object.entries(others)) if (fields[name] === undefined) set[name] = JSON.stringify(value);
  }
  const taken = nearestEffort(effort, quirks.efforts);
  if (taken !== undefined && taken !== effort) set['reasoning_effort'] = JSON.stringify(taken);
  return { body: editMembers(body, { set, rename, drop }, commas), headers: sessionHeader(quirks, fields['prompt_cache_key']) };
}
