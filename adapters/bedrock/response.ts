// A Converse answer as events; whole answers and streams share the reading of stop reason and usage. Pure: no I/O.
import { isObject } from '../../core/base/json.ts';
import type { ChatEvent, ReportedUsage, StopReason } from '../../core/index.ts';
import { type ChatContext, malformed, StreamError } from '../shared/provider.ts';
import { asArray, asCount, asObject, asPart, asString, expectList, expectObject, lookUp, sumCounts } from '../shared/read.ts';
import { mayCostMore } from '../shared/tiers.ts';
import { AnswerBlocks, IMAGE_LEFT_OUT } from './blocks.ts';

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

/** Events of a whole answer. Throws UPSTREAM_MALFORMED for a body that is not one, a StreamError for output that the model broke off. */
export function readAnswer(json: unknown, context: ChatContext): ChatEvent[] {
  const answer = asObject(json);
  if (typeof answer['stopReason'] !== 'string') throw malformed('it has no stopReason');
  const stopReason = readStopReason(answer['stopReason']);
  const blocks = new AnswerBlocks(context);
  const message = expectObject(expectObject(answer['output'], '`output`')['message'], 'the message');
  const content = expectList(message['content'], 'the content').map((block) => expectObject(block, 'a content block'));
  // The event of the state that leads is left out: all of the state is there already.
  const said = content.map((block, index) => addWhole(blocks, index, block).filter(({ type }) => type !== 'reasoningState'));
  const calls = blocks.calls(stopReason);
  let next = 0;
  const events = said.flatMap((own, index) => (content[index]?.['toolUse'] === undefined ? own : calls.slice(next++, next)));
  return [...events, ...blocks.state(calls), { type: 'usage', usage: readUsage(answer) }, stopEvent(stopReason, answer['additionalModelResponseFields'])];
}

/** Throws a StreamError for a stop reason that means that the model's output is unusable. */
export function readStopReason(value: unknown): StopReason {
  const reason = asString(value) ?? '';
  if (reason.startsWith('malformed_')) throw new StreamError({ kind: 'failed', message: `the model's output is unusable (${reason})`, mayHaveRun: true });
  return lookUp(STOP_REASONS, reason) ?? 'unknown';
}

/** The end of an answer. `fields` are the model's own, in which Claude names the stop text: at one place in a whole answer, at another in a stream. */
export function stopEvent(stopReason: StopReason, fields: unknown): ChatEvent {
  const { stop_sequence: ofWhole, delta } = asObject(fields);
  const stopSequence = asString(ofWhole) ?? asString(asObject(delta)['stop_sequence']);
  return { type: 'stop', stopReason, ...(stopSequence !== undefined && { stopSequence }) };
}

/** From a whole answer, or from the frame of a stream with its metadata. Bedrock counts cached tokens beside `inputTokens`; ours include them. What the total has besides is output, which costs more. */
export function readUsage(json: unknown): ReportedUsage {
  const answer = asObject(json);
  const usage = asObject(answer['usage']);
  const read = asCount(usage['cacheReadInputTokens']);
  const written = asCount(usage['cacheWriteInputTokens']);
  const input = sumCounts(asCount(usage['inputTokens']), read, written) || undefined; // no request has 0 tokens
  return {
    inputTokens: input,
    outputTokens: withinTotal(asCount(usage['outputTokens']), input, asCount(usage['totalTokens'])),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    cacheWrite1hTokens: hoursIn(usage['cacheDetails']),
    unpricedTier: mayCostMore(asObject(answer['serviceTier'])['type']) || undefined,
  };
}

function withinTotal(output: number | undefined, input: number | undefined, total = 0): number | undefined {
  return input === undefined || total <= input + (output ?? 0) ? output : total - input;
}

function hoursIn(details: unknown): number | undefined {
  const counts = asArray(details).flatMap((detail) => (asObject(detail)['ttl'] === '1h' ? [asPart(asObject(detail)['inputTokens'])] : []));
  return sumCounts(0, ...counts) || undefined;
}

/** A whole block, added as one piece. Unknown kinds are skipped. */
function addWhole(blocks: AnswerBlocks, index: number, block: Record<string, unknown>): ChatEvent[] {
  if (block['toolUse'] !== undefined) {
    const { input = {} } = asObject(block['toolUse']);
    if (!isObject(input)) throw malformed('the arguments of a tool call are not a JSON object');
    blocks.open(index, block, input);
    return [];
  }
  if (block['reasoningContent'] !== undefined) {
    const reasoning = asObject(block['reasoningContent']);
    return blocks.add(index, { reasoningContent: { ...asObject(reasoning['reasoningText']), redactedContent: reasoning['redactedContent'] } });
  }
  if (block['image'] !== undefined) return [IMAGE_LEFT_OUT];
  return blocks.add(index, { text: block['citationsContent'] === undefined ? block['text'] : citedText(block['citationsContent']) });
}

/** A text whose sources are named beside it. In a stream, it is text like the rest. */
function citedText(block: unknown): string {
  return asArray(asObject(block)['content'])
    .map((piece) => asString(asObject(piece)['text']) ?? '')
    .join('');
}
