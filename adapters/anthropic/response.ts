// A Messages answer as events. Pure: no I/O.
import { isObject } from '../../core/base/json.ts';
import type { ChatEvent, ReportedUsage, StopReason } from '../../core/index.ts';
import { type ChatContext, malformed, StreamError } from '../shared/provider.ts';
import { asCount, asObject, asPart, asString, expectObject, expectText, lookUp, sumCounts } from '../shared/read.ts';
import { mayCostMore } from '../shared/tiers.ts';
import { readErrorObject } from './errors.ts';
import { translate } from './request.ts';
import type { RawBlock } from './schema.ts';
import { digestOf, isThinking } from './thinking.ts';

const STOP_REASONS: Record<string, StopReason> = {
  end_turn: 'end_turn',
  pause_turn: 'end_turn',
  max_tokens: 'max_tokens',
  model_context_window_exceeded: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_use',
  refusal: 'refusal',
};

/** What `readEnd` reads of `stop`. */
export const STOP_FIELDS = ['stop_reason', 'stop_sequence'];
/** What `readUsage` reads. */
export const USAGE_FIELDS = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
  'output_tokens_details',
  'service_tier',
  'speed',
  'inference_geo',
];

/** Events of a whole answer. Throws a StreamError for an error in a 200, UPSTREAM_MALFORMED for a body that is not a message. */
export function readAnswer(json: unknown, context: ChatContext): ChatEvent[] {
  const answer = asObject(json);
  const { type, error } = answer;
  // Compatible servers leave the type out.
  if (type === 'error' || (type !== 'message' && error !== undefined && error !== null)) throw new StreamError(readErrorObject(error));
  if (answer['type'] !== 'message' || !Array.isArray(answer['content'])) throw malformed('it is not a message');
  const blocks = answer['content'].map((block) => expectObject(block, 'a content block'));
  const content = blocks.flatMap((block, index) => (block['type'] === 'tool_use' ? readCall(block, answer, index === blocks.length - 1) : readBlock(block)));
  return [...content, { type: 'usage', usage: readUsage(answer['usage']) }, ...readState(content, blocks, answer, context)];
}

function readBlock(block: RawBlock): ChatEvent[] {
  if (block['type'] === 'text') return [{ type: 'text', text: expectText(block['text'], 'the text of a block') }];
  const thought = block['type'] === 'thinking' ? asString(block['thinking']) : undefined;
  return thought === undefined || thought === '' ? [] : [{ type: 'reasoning', text: thought }];
}

/**
 * The events that only the end of a stream allows: tool calls, thinking, stop. `started` has the calls whose pieces have been emitted, with their
 * index; `stop` has the fields `stop_reason` and `stop_sequence`.
 */
export function readEnd(
  blocks: readonly RawBlock[],
  stop: Record<string, unknown>,
  context: ChatContext,
  started?: ReadonlyMap<RawBlock, number>,
): ChatEvent[] {
  const calls = blocks.flatMap((block, index) => (block['type'] === 'tool_use' ? readCall(block, stop, index === blocks.length - 1, started?.get(block)) : []));
  return [...calls, ...readState(calls, blocks, stop, context)];
}

/**
 * A call, or a warning of one that was cut off: its `input` is not an object, or it is the last block of an answer that the token limit ended, even if the
 * arguments look complete.
 */
function readCall(block: RawBlock, stop: Record<string, unknown>, isLast: boolean, place?: number): ChatEvent[] {
  const stopReason = readStopReason(stop['stop_reason']);
  const name = expectText(block['name'], 'the name of a tool call');
  const input = block['input'] === undefined ? {} : block['input']; // compatible servers leave an empty one out
  if (isObject(input) && !(stopReason === 'max_tokens' && isLast)) {
    return [{ type: 'toolCall', toolCall: { id: asString(block['id']) ?? '', name, arguments: input }, ...(place !== undefined && { index: place }) }];
  }
  if (stopReason !== 'max_tokens' && stopReason !== 'refusal') throw malformed('the arguments of a tool call are not a JSON object');
  return [{ type: 'warning', warning: { field: 'message.toolCalls', message: `A call to ${name} was cut off (${stopReason}) and is not included.` } }];
}

/** What comes after the content: thinking, stop. */
function readState(content: readonly ChatEvent[], blocks: readonly RawBlock[], stop: Record<string, unknown>, context: ChatContext): ChatEvent[] {
  const stopSequence = asString(stop['stop_sequence']);
  // A turn that lacks a block is no longer what the model wrote, so its thinking must not be sent back.
  const state = content.some(({ type }) => type === 'warning') ? [] : thinkingState(blocks, context);
  return [...state, { type: 'stop', stopReason: readStopReason(stop['stop_reason']), ...(stopSequence !== undefined && { stopSequence }) }];
}

export function readStopReason(value: unknown): StopReason {
  return lookUp(STOP_REASONS, value) ?? 'unknown';
}

/** Anthropic counts cached tokens beside `input_tokens`; ours include them. */
export function readUsage(value: unknown): ReportedUsage {
  const usage = asObject(value);
  const { service_tier: tier, speed, inference_geo: place } = usage;
  const read = asCount(usage['cache_read_input_tokens']);
  const written = asCount(usage['cache_creation_input_tokens']);
  return {
    inputTokens: sumCounts(asCount(usage['input_tokens']), read, written) || undefined, // no request has 0 tokens
    outputTokens: asCount(usage['output_tokens']),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    cacheWrite1hTokens: asPart(asObject(usage['cache_creation'])['ephemeral_1h_input_tokens']),
    reasoningTokens: asCount(asObject(usage['output_tokens_details'])['thinking_tokens']),
    unpricedTier: [tier, speed].some(mayCostMore) || isDearerPlace(place) || undefined,
  };
}

/** The usage of `message_start`: its output tokens are those of a message that has not been written yet. */
export function usageAtStart(event: Record<string, unknown>): Record<string, unknown> {
  return { ...asObject(asObject(event['message'])['usage']), output_tokens: undefined };
}

/** Anthropic answers anywhere at its list price. To answer in one country alone costs a tenth more. */
export function isDearerPlace(place: unknown): place is string {
  return typeof place === 'string' && place !== 'global' && place !== 'not_available';
}

/** The thinking that the next request must send back, if there was any. */
function thinkingState(blocks: readonly RawBlock[], context: ChatContext): ChatEvent[] {
  return blocks.some(isThinking) ? [{ type: 'providerMetadata', providerMetadata: stateOf(blocks, context) }] : [];
}

/** The thinking that leads an answer, which goes on. */
export function leadingState(blocks: readonly RawBlock[], context: ChatContext): ChatEvent {
  return { type: 'reasoningState', providerMetadata: stateOf(blocks, context) };
}

const prefixes = new WeakMap<ChatContext, string>();

/** The digest is made once for each answer, because the request may be long. */
function stateOf(content: readonly RawBlock[], context: ChatContext): Record<string, unknown> {
  const { model, prompt } = context;
  let prefix = prefixes.get(context);
  if (prefix === undefined) {
    const { messages, ...frame } = translate(model, prompt).body;
    prefix = digestOf(frame, messages);
    prefixes.set(context, prefix);
  }
  return { anthropic: { model, prefix, content } };
}
