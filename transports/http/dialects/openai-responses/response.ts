// A canonical answer as a response. Pure: no I/O.
import { toJsonText } from '../../../../core/base/json-text.ts';
import type { ChatDone, ToolCall, Usage } from '../../../../core/index.ts';
import { answerId } from '../shared/answer-id.ts';
import type { AnswerContext, WholeAnswer } from '../shared/dialect.ts';
import { packState } from '../shared/packed-state.ts';
import { customInput } from '../shared/tool-calls.ts';
import { callItem, itemId, messageItem, reasoningItem } from './items.ts';
import type { ResponsesEcho } from './request.ts';
import type { ClientTool } from './tools.ts';

/** What makes a response differ from the beginning of one. */
export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  /** The items, as JSON. */
  readonly output?: readonly string[];
  readonly usage?: Usage;
  readonly incomplete_details?: { readonly reason: string } | null;
  readonly error?: { readonly code: string; readonly message: string };
}

/** A response with every field, whatever its state, as JSON. */
export function responseText(context: AnswerContext<ResponsesEcho>, { status, output, usage, incomplete_details, error }: ResponseState): string {
  const { created, request } = context;
  const completedAt = status === 'completed' ? (context.now?.() ?? created) : null;
  return (
    `{"id":"resp_${answerId(context)}","object":"response","created_at":${created},"completed_at":${completedAt},"status":"${status}"` +
    `,"error":${JSON.stringify(error ?? null)},"incomplete_details":${JSON.stringify(incomplete_details ?? null)},"model":${JSON.stringify(request.model)}` +
    `,"output":[${output === undefined ? '' : output.join(',')}],${request.echo.members},"usage":${usage === undefined ? 'null' : usageText(usage)}}`
  );
}

/** How an answer ended. A call that has no end was cut off by the limit of tokens, whatever else the answer has. */
export function endOf({ stopReason }: ChatDone, isCut = false): Pick<ResponseState, 'incomplete_details'> & { readonly status: 'completed' | 'incomplete' } {
  if (stopReason === 'content_filter' || stopReason === 'refusal') return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
  if (stopReason === 'max_tokens' || isCut) return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  return { status: 'completed' };
}

/** What a call hands to its tool. */
export function inputOf(call: ToolCall, { isCustom }: ClientTool): string {
  return isCustom ? customInput(call) : JSON.stringify(call.arguments);
}

/** The state of the provider, if the client asked for it and there is one. */
export function stateFor({ request }: AnswerContext<ResponsesEcho>, done: ChatDone): string | undefined {
  return request.echo.packsState ? packState(done) : undefined;
}

/** The body of a whole answer, as JSON. */
export function toResponse({ pieces, done }: WholeAnswer, context: AnswerContext<ResponsesEcho>): string {
  const { toolbox } = context.request.echo;
  const base = answerId(context);
  const state = stateFor(context, done);
  const end = endOf(done);
  const stateAt = state === undefined ? -1 : pieces.findLastIndex(({ type }) => type === 'reasoning');
  const output: string[] = [];
  let hasAnswer = false;
  for (const piece of pieces) {
    const index = output.length;
    hasAnswer ||= piece.type !== 'reasoning';
    if (piece.type === 'reasoning') output.push(reasoningItem(itemId('reasoning', base, index), toJsonText(piece.text), index === stateAt ? state : undefined));
    else if (piece.type === 'text') {
      const isLast = index === pieces.length - 1;
      output.push(messageItem(itemId('message', base, index), isLast ? end.status : 'completed', toJsonText(piece.text)));
    } else {
      const tool = toolbox.clientToolOf(piece.toolCall.name);
      output.push(callItem(itemId(tool.isCustom ? 'custom' : 'function', base, index), 'completed', piece.toolCall.id, tool, inputOf(piece.toolCall, tool)));
    }
  }
  if (end.status === 'completed' && !hasAnswer) output.push(messageItem(itemId('message', base, output.length), 'completed', '""'));
  if (state !== undefined && stateAt === -1) output.push(reasoningItem(itemId('reasoning', base, output.length), undefined, state));
  return responseText(context, Object.assign(end, { output, usage: done.usage }));
}

function usageText({ inputTokens, outputTokens, totalTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 }: Usage): string {
  return (
    `{"input_tokens":${inputTokens},"input_tokens_details":{"cached_tokens":${cacheReadTokens},"cache_write_tokens":${cacheWriteTokens}}` +
    `,"output_tokens":${outputTokens},"output_tokens_details":{"reasoning_tokens":${reasoningTokens}},"total_tokens":${totalTokens}}`
  );
}
