// A canonical answer as a response. Pure: no I/O.
import type { ChatDone, ToolCall, Usage } from '../../core/index.ts';
import { answerId } from '../answer-id.ts';
import type { AnswerContext, WholeAnswer } from '../dialect.ts';
import { packState } from '../packed-state.ts';
import { customInput } from '../tool-calls.ts';
import type { ResponseFields } from './echo.ts';
import { callItem, itemId, messageItem, reasoningItem } from './items.ts';
import type { ResponsesEcho } from './request.ts';
import type { ClientTool } from './tools.ts';

/** What makes a response differ from the beginning of one. */
export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output?: readonly object[];
  readonly usage?: Usage;
  readonly incomplete_details?: { readonly reason: string } | null;
  readonly error?: { readonly code: string; readonly message: string };
}

/** A response with every field, whatever its state. */
export function responseObject(context: AnswerContext<ResponsesEcho>, { status, output = [], usage, incomplete_details, error }: ResponseState): object {
  const { created, request } = context;
  const response: ResponseFields = { ...request.echo.blank };
  response.id = `resp_${answerId(context)}`;
  response.created_at = created;
  if (status === 'completed') response.completed_at = context.now?.() ?? created;
  response.status = status;
  response.error = error ?? null;
  response.incomplete_details = incomplete_details ?? null;
  response.model = request.model;
  response.output = output;
  if (usage !== undefined) response.usage = usageOf(usage);
  return response;
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

/** The body of a whole answer. */
export function toResponse({ pieces, done }: WholeAnswer, context: AnswerContext<ResponsesEcho>): object {
  const { toolbox } = context.request.echo;
  const base = answerId(context);
  const state = stateFor(context, done);
  const end = endOf(done);
  const stateAt = state === undefined ? -1 : pieces.findLastIndex(({ type }) => type === 'reasoning');
  const output: object[] = [];
  let hasAnswer = false;
  for (const piece of pieces) {
    const index = output.length;
    hasAnswer ||= piece.type !== 'reasoning';
    if (piece.type === 'reasoning') output.push(reasoningItem(itemId('reasoning', base, index), piece.text, index === stateAt ? state : undefined));
    else if (piece.type === 'text') {
      const isLast = index === pieces.length - 1;
      output.push(messageItem(itemId('message', base, index), isLast ? end.status : 'completed', piece.text));
    } else {
      const tool = toolbox.clientToolOf(piece.toolCall.name);
      output.push(callItem(itemId(tool.isCustom ? 'custom' : 'function', base, index), 'completed', piece.toolCall.id, tool, inputOf(piece.toolCall, tool)));
    }
  }
  if (end.status === 'completed' && !hasAnswer) output.push(messageItem(itemId('message', base, output.length), 'completed', ''));
  if (state !== undefined && stateAt === -1) output.push(reasoningItem(itemId('reasoning', base, output.length), undefined, state));
  return responseObject(context, Object.assign(end, { output, usage: done.usage }));
}

function usageOf({ inputTokens, outputTokens, totalTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 }: Usage): object {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: totalTokens,
  };
}
