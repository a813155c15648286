// A Converse answer as events, and what both forms of it share. Pure: no I/O.
import { type ChatEvent, isObject, type StopReason } from '../../core/index.ts';
import { type ChatContext, malformed, StreamError } from '../provider.ts';
import { asCount, asObject, asString, expectList, expectObject, lookUp, sumCounts } from '../read.ts';
import { AnswerBlocks } from './blocks.ts';

const STOP_REASONS: Record<string, StopReason> = {
  end_turn: 'end_turn',
  tool_use: 'tool_use',
  max_tokens: 'max_tokens',
  model_context_window_exceeded: 'max_tokens',
  stop_sequence: 'stop_sequence',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
  refusal: 'refusal',
};

export function readAnswer(json: unknown, context: ChatContext): ChatEvent[] {
  const answer = asObject(json);
  if (typeof answer['stopReason'] !== 'string') throw malformed('it has no stopReason');
  const stopReason = readStopReason(answer['stopReason']);
  const blocks = new AnswerBlocks(context);
  const message = expectObject(expectObject(answer['output'], '`output`')['message'], 'the message');
  const content = expectList(message['content'], 'the content');
  const events = content.flatMap((block, index) => addWhole(blocks, index, expectObject(block, 'a content block')));
  return [...events, ...blocks.finish(stopReason), usageEvent(answer['usage']), { type: 'stop', stopReason }];
}

/** Throws a StreamError where the model's own output could not be made into an answer. */
export function readStopReason(value: unknown): StopReason {
  const reason = asString(value) ?? '';
  if (reason.startsWith('malformed_'))
    throw new StreamError({ kind: 'failed', message: `the model wrote something that is no answer (${reason})`, mayHaveRun: true });
  return lookUp(STOP_REASONS, reason) ?? 'unknown';
}

/** Bedrock counts cached tokens beside `inputTokens`; ours include them. */
export function usageEvent(value: unknown): ChatEvent {
  const usage = asObject(value);
  const read = asCount(usage['cacheReadInputTokens']);
  const written = asCount(usage['cacheWriteInputTokens']);
  return {
    type: 'usage',
    usage: {
      inputTokens: sumCounts(asCount(usage['inputTokens']), read, written),
      outputTokens: asCount(usage['outputTokens']),
      cacheReadTokens: read,
      cacheWriteTokens: written,
    },
  };
}

/** A whole block as the one piece of its kind. Kinds that are not known yet are skipped. */
function addWhole(blocks: AnswerBlocks, index: number, block: Record<string, unknown>): ChatEvent[] {
  if (block['toolUse'] !== undefined) {
    const { input = {} } = asObject(block['toolUse']);
    if (!isObject(input)) throw malformed('a tool call has arguments that are no JSON object');
    blocks.open(index, block, input);
    return [];
  }
  if (block['reasoningContent'] !== undefined) {
    const reasoning = asObject(block['reasoningContent']);
    return blocks.add(index, { reasoningContent: { ...asObject(reasoning['reasoningText']), redactedContent: reasoning['redactedContent'] } });
  }
  return blocks.add(index, { text: block['text'] });
}
