// A canonical answer as a message. Every field of the published types is there, null where only Anthropic could fill it; but a text without citations has no
// field for them, since readers in use refuse null there. Pure: no I/O.
import type { ChatDone, StopReason, Usage } from '../../core/index.ts';
import { answerId } from '../answer-id.ts';
import type { AnswerContext, WholeAnswer } from '../dialect.ts';
import { packState } from '../packed-state.ts';
import { clientId } from './messages.ts';
import type { MessagesEcho } from './request.ts';

const STOPS: Readonly<Record<StopReason, string>> = {
  end_turn: 'end_turn',
  unknown: 'end_turn',
  max_tokens: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_use',
  content_filter: 'refusal',
  refusal: 'refusal',
};

/** What a message says of its end before it. */
export const NOT_STOPPED = { stop_reason: null, stop_sequence: null, stop_details: null, container: null } as const;

/** Why an answer ended. */
export function stopOf({ stopReason, stopSequence }: ChatDone) {
  return { stop_reason: STOPS[stopReason], stop_sequence: stopSequence ?? null, stop_details: null, container: null };
}

/** The usage of a message. Written out, since a spread would make the object slow to serialise. */
export function usageOf({ inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens }: Usage) {
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
    output_tokens_details: reasoningTokens === undefined ? null : { thinking_tokens: reasoningTokens },
    server_tool_use: null,
    cache_creation: null,
    inference_geo: null,
    service_tier: null,
    speed: null,
  };
}

/** The counts at the end of a stream. `input_tokens` is without those of a cache. */
export function countsOf(usage: Usage): object {
  const { cache_creation, inference_geo, service_tier, speed, ...counts } = usageOf(usage);
  return counts;
}

/** A message without its content. */
export function messageHead(context: AnswerContext<MessagesEcho>) {
  return { id: `msg_${answerId(context)}`, type: 'message', role: 'assistant', model: context.request.model, diagnostics: null } as const;
}

/** A call of a tool by the model itself. */
export function toolUse(id: string, name: string, input: object): object {
  return { type: 'tool_use', id: clientId(id), name, input, caller: { type: 'direct' } };
}

/** The state of the provider, for a client that asked for thinking and so brings its blocks back. */
export function stateFor({ request }: AnswerContext<MessagesEcho>, done: ChatDone): string | undefined {
  return request.echo.showsThinking ? packState(done, clientId) : undefined;
}

/** The whole message. */
export function toMessage({ pieces, done }: WholeAnswer, context: AnswerContext<MessagesEcho>): object {
  const { names, showsThinking } = context.request.echo;
  const state = stateFor(context, done);
  const lastThought = state === undefined ? -1 : pieces.findLastIndex(({ type }) => type === 'reasoning');
  const content: object[] = [];
  for (const [index, piece] of pieces.entries()) {
    if (piece.type === 'text') content.push({ type: 'text', text: piece.text });
    else if (piece.type === 'toolCall') {
      const { id, name, arguments: input } = piece.toolCall;
      content.push(toolUse(id, names.toTheirs(name), input));
    } else if (showsThinking) content.push({ type: 'thinking', thinking: piece.text, signature: index === lastThought ? state : '' });
  }
  if (state !== undefined && lastThought < 0) content.push({ type: 'thinking', thinking: '', signature: state });
  if (content.length === 0) content.push({ type: 'text', text: '' });
  const { id, type, role, model, diagnostics } = messageHead(context);
  const { stop_reason, stop_sequence, stop_details, container } = stopOf(done);
  return { id, type, role, model, content, stop_reason, stop_sequence, stop_details, container, diagnostics, usage: usageOf(done.usage) };
}
