// A canonical answer as a chat completion. Pure: no I/O.
import { toJsonText } from '../../../../core/base/json-text.ts';
import type { ChatDone, TokenLogprob, ToolCall } from '../../../../core/index.ts';
import { answerId } from '../shared/answer-id.ts';
import type { AnswerContext, WholeAnswer } from '../shared/dialect.ts';
import { finishReason, usageText } from '../shared/openai-answers.ts';
import { customInput } from '../shared/tool-calls.ts';
import type { ChatEcho } from './request.ts';

/** The id of an answer. */
export function completionId(context: AnswerContext): string {
  return `chatcmpl-${answerId(context)}`;
}

/** A tool call of a whole message. */
export function toolCallOf(call: ToolCall, { names, customTools }: ChatEcho): object {
  const { id, arguments: args } = call;
  const name = names.toTheirs(call.name);
  const shape = customTools.has(name)
    ? { type: 'custom', custom: { name, input: customInput({ arguments: args }) } }
    : { type: 'function', function: { name, arguments: JSON.stringify(args) } };
  return { id, ...shape, ...stateOf(call) };
}

/** What the provider wants back with the call. Clients that keep the field make its reasoning go on; the others lose only that. */
export function stateOf({ providerMetadata }: ToolCall): { extra_content?: object } {
  return providerMetadata === undefined ? {} : { extra_content: providerMetadata };
}

/** The body of a whole answer, as JSON. */
export function toCompletion({ pieces, done }: WholeAnswer, context: AnswerContext<ChatEcho>): string {
  let content = '';
  let reasoning = '';
  const calls: object[] = [];
  for (const piece of pieces) {
    if (piece.type === 'text') content += piece.text;
    else if (piece.type === 'reasoning') reasoning += piece.text;
    else calls.push(toolCallOf(piece.toolCall, context.request.echo));
  }
  const written = toJsonText(content);
  let message = `{"role":"assistant","content":${content === '' && calls.length > 0 ? 'null' : written},"refusal":${isRefusal(done) ? written : 'null'},"annotations":[]`;
  if (reasoning !== '') message += `,"reasoning_content":${toJsonText(reasoning)}`;
  if (calls.length > 0) message += `,"tool_calls":${toJsonText(calls)}`;
  return (
    `{"id":"${completionId(context)}","object":"chat.completion","created":${context.created},"model":${JSON.stringify(context.request.model)}` +
    `,"choices":[{"index":0,"message":${message}},"logprobs":${JSON.stringify(logprobsOf(done))},"finish_reason":"${finishReason(done.stopReason)}"}]` +
    `,"usage":${usageText(done.usage)}}`
  );
}

/** The probabilities of the tokens; null without any. */
export function logprobsOf({ logprobs }: ChatDone): object | null {
  if (logprobs === undefined) return null;
  const entry = ({ token, logprob, bytes }: Omit<TokenLogprob, 'topLogprobs'>) => ({ token, logprob, bytes: bytes ?? null });
  return { content: logprobs.map((one) => ({ ...entry(one), top_logprobs: (one.topLogprobs ?? []).map(entry) })), refusal: null };
}

function isRefusal({ stopReason }: ChatDone): boolean {
  return stopReason === 'refusal';
}
