// A canonical answer in Ollama's words. Pure: no I/O.
import { toJsonText } from '../../../../core/base/json-text.ts';
import type { ChatDone, ToolCall } from '../../../../core/index.ts';
import type { ToolNames } from '../shared/conversation.ts';
import type { AnswerContext, WholeAnswer } from '../shared/dialect.ts';

/** What an answer depends on. */
export interface OllamaEcho {
  readonly names: ToolNames;
  readonly shape: Shape;
  /** False for a client that wants no thinking, whatever the provider sends. */
  readonly showsThinking: boolean;
  /** Set if the client asks for no answer. */
  readonly only?: 'load' | 'unload';
}

/** What one object of an answer shows. */
export interface Shown {
  readonly content: string;
  readonly thinking?: string;
  readonly toolCalls?: readonly object[];
}

/** Where an object of an answer has its text. */
export type Shape = (shown: Shown) => object;

/** `/api/chat`. */
export const toMessage: Shape = ({ content, thinking, toolCalls }) => ({
  message: { role: 'assistant', content, ...(thinking !== undefined && { thinking }), ...(toolCalls !== undefined && { tool_calls: toolCalls }) },
});

/** `/api/generate`. */
export const toResponse: Shape = ({ content, thinking }) => ({ response: content, ...(thinking !== undefined && { thinking }) });

/** One object of an answer. */
export function objectOf({ created, request }: AnswerContext<OllamaEcho>, shown: Shown, rest: object): object {
  return { model: request.model, created_at: new Date(created * 1000).toISOString(), ...request.echo.shape(shown), ...rest };
}

/** A tool call. The newer clients send its id back with its result. */
export function toolCallOf({ id, name, arguments: args }: ToolCall, index: number, { names }: OllamaEcho): object {
  return { id, function: { index, name: names.toTheirs(name), arguments: args } };
}

/** The end of an answer, whose first piece came after `firstMs`. */
export function endOf(context: AnswerContext, { stopReason, usage }: ChatDone, firstMs: number): object {
  const totalMs = context.elapsedMs?.() ?? 0;
  return {
    done: true,
    done_reason: stopReason === 'max_tokens' ? 'length' : 'stop',
    total_duration: nanoseconds(totalMs),
    load_duration: 0,
    prompt_eval_count: usage.inputTokens,
    prompt_eval_duration: nanoseconds(firstMs),
    eval_count: usage.outputTokens,
    eval_duration: nanoseconds(totalMs - firstMs),
  };
}

/** The body of a whole answer, as JSON. */
export function toAnswer({ pieces, done }: WholeAnswer, context: AnswerContext<OllamaEcho>): string {
  const { echo } = context.request;
  const textOf = (type: 'text' | 'reasoning'): string => pieces.map((piece) => (piece.type === type ? piece.text : '')).join('');
  const calls = pieces.flatMap((piece) => (piece.type === 'toolCall' ? [piece.toolCall] : []));
  const thinking = echo.showsThinking ? textOf('reasoning') : '';
  const shown = {
    content: textOf('text'),
    ...(thinking !== '' && { thinking }),
    ...(calls.length > 0 && { toolCalls: calls.map((call, index) => toolCallOf(call, index, echo)) }),
  };
  return toJsonText(objectOf(context, shown, endOf(context, done, 0)));
}

/** The answer to a request that only loads or unloads a model. */
export function toReady(context: AnswerContext<OllamaEcho>): object | undefined {
  const { only } = context.request.echo;
  return only === undefined ? undefined : objectOf(context, { content: '' }, { done: true, done_reason: only });
}

/** Clients divide by it, so it is never 0. */
function nanoseconds(ms: number): number {
  return Math.max(1, Math.round(ms * 1e6));
}
