// A Messages answer as events. Pure: no I/O.
import type { ChatEvent, ReportedUsage, StopReason } from '../../core/index.ts';
import { type ChatContext, malformed, StreamFault } from '../define.ts';
import { asArray, asCount, asObject, asString, sumCounts } from '../read.ts';
import { readErrorObject } from './errors.ts';
import { translate } from './request.ts';
import type { RawBlock } from './schema.ts';
import { digestOf } from './thinking.ts';

const STOP_REASONS: Record<string, StopReason> = {
  end_turn: 'end_turn',
  pause_turn: 'end_turn',
  max_tokens: 'max_tokens',
  model_context_window_exceeded: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_use',
  refusal: 'refusal',
};

export function readAnswer(json: unknown, context: ChatContext): ChatEvent[] {
  const answer = asObject(json);
  if (answer['type'] === 'error') throw new StreamFault(readErrorObject(answer['error']));
  if (answer['type'] !== 'message' || !Array.isArray(answer['content'])) throw malformed('it is not a message');
  const blocks = asArray(answer['content']).map(asObject);
  const events = blocks.flatMap((block): ChatEvent[] => {
    if (block['type'] === 'text') return [{ type: 'text', text: asString(block['text']) ?? '' }];
    return block['type'] === 'tool_use' ? [toolCallEvent(block, asObject(block['input']))] : [];
  });
  return [
    ...events,
    ...thinkingState(blocks, context),
    { type: 'usage', usage: readUsage(answer['usage']) },
    { type: 'stop', stopReason: readStopReason(answer['stop_reason']) },
  ];
}

export function toolCallEvent(block: RawBlock, input: Record<string, unknown>): ChatEvent {
  return { type: 'toolCall', toolCall: { id: asString(block['id']) ?? '', name: asString(block['name']) ?? '', arguments: input } };
}

export function readStopReason(value: unknown): StopReason {
  return STOP_REASONS[asString(value) ?? ''] ?? 'unknown';
}

/** Anthropic counts cached tokens beside `input_tokens`; ours include them. Later reports overwrite, absent or null parts don't. */
export function readUsage(value: unknown): ReportedUsage {
  const usage = asObject(value);
  const read = asCount(usage['cache_read_input_tokens']);
  const written = asCount(usage['cache_creation_input_tokens']);
  return {
    inputTokens: sumCounts(asCount(usage['input_tokens']), read, written),
    outputTokens: asCount(usage['output_tokens']),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    reasoningTokens: asCount(asObject(usage['output_tokens_details'])['thinking_tokens']),
  };
}

/** What must come back with the next request, when the model has thought. */
export function thinkingState(blocks: readonly RawBlock[], { model, prompt }: ChatContext): ChatEvent[] {
  if (!blocks.some((block) => block['type'] === 'thinking' || block['type'] === 'redacted_thinking')) return [];
  const { messages, ...frame } = translate(model, prompt).body;
  return [{ type: 'providerMetadata', providerMetadata: { anthropic: { model, prefix: digestOf(frame, messages), content: blocks } } }];
}
