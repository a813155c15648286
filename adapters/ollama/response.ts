// An Ollama answer, whole or one line of a stream, as events. Pure: no I/O.
import type { ChatEvent, ReportedUsage, StopReason } from '../../core/index.ts';
import { logprobsIn } from '../shared/logprobs.ts';
import { malformed, StreamError } from '../shared/provider.ts';
import { asCount, asObject, asString, countOfRequest, expectList, expectObject, expectText, lookUp, parseArguments } from '../shared/read.ts';
import { lineError } from './errors.ts';

/** `load` and `unload` answer a request without messages. */
const STOP_REASONS: Record<string, StopReason> = { stop: 'end_turn', load: 'end_turn', unload: 'end_turn', length: 'max_tokens' };

/** A whole answer is a single line that has `done: true`. */
export function readAnswer(json: unknown): ChatEvent[] {
  const { done, error, message } = asObject(json);
  if (error === undefined && done !== true) throw malformed('it is not marked as done');
  if (error === undefined && message === undefined) throw malformed('it has no message');
  return readLine(json);
}

/** Events of one line. Throws a StreamError for a line with an error. */
export function readLine(json: unknown): ChatEvent[] {
  const line = expectObject(json, 'a line');
  if (line['error'] !== undefined) throw new StreamError(lineError(line));
  const message = expectObject(line['message'], 'the message');
  const events: ChatEvent[] = [];
  const thinking = asString(message['thinking']) ?? '';
  if (thinking !== '') events.push({ type: 'reasoning', text: thinking });
  const text = expectText(message['content'], 'the content');
  if (text !== '') events.push({ type: 'text', text });
  if (line['logprobs'] !== undefined) events.push(...logprobsIn(line['logprobs']));
  for (const call of expectList(message['tool_calls'], '`tool_calls`')) events.push(readToolCall(expectObject(call, 'a tool call')));
  if (line['done'] === true) events.push(...readEnd(line));
  return events;
}

function readToolCall(call: Record<string, unknown>): ChatEvent {
  const fn = expectObject(call['function'], 'the function of a tool call');
  const name = expectText(fn['name'], 'the name of a tool call');
  const given = fn['arguments'];
  // Old servers and compatible ones send the arguments as text.
  const args = typeof given === 'string' ? parseArguments(given) : expectObject(given, 'the arguments of a tool call');
  if (args === undefined || name === '') throw malformed('a tool call has no name, or its arguments are not a JSON object');
  return { type: 'toolCall', toolCall: { id: asString(call['id']) ?? '', name, arguments: args } };
}

/** The server leaves out counts of 0: in a done line, absent means 0. A fully cached prompt has no count either, and is left to the estimate (no-empty-request). */
export function readUsage(json: unknown): ReportedUsage | undefined {
  const { prompt_eval_count: input, eval_count: output } = asObject(json);
  if (input === undefined && output === undefined) return undefined;
  const outputTokens = asCount(output ?? 0);
  return { inputTokens: countOfRequest(asCount(input ?? 0), outputTokens), outputTokens };
}

/** The same as an event. */
export function usageIn(json: unknown): ChatEvent[] {
  const usage = readUsage(json);
  return usage === undefined ? [] : [{ type: 'usage', usage }];
}

function readEnd(line: Record<string, unknown>): ChatEvent[] {
  return [...usageIn(line), { type: 'stop', stopReason: lookUp(STOP_REASONS, line['done_reason']) ?? 'unknown' }];
}
