// A canonical answer as a message. Every field of the published types is there, null where only Anthropic could fill it; but a text without citations has no
// field for them, since readers in use refuse null there. Pure: no I/O.
import { toJsonText } from '../../../../core/base/json-text.ts';
import type { ChatDone, StopReason, Usage } from '../../../../core/index.ts';
import { answerId } from '../shared/answer-id.ts';
import type { AnswerContext, WholeAnswer } from '../shared/dialect.ts';
import { packState } from '../shared/packed-state.ts';
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

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** The members of a message that say how it ended, as JSON without braces; without an end, those of a message that is being written. */
export function stopMembers(done?: ChatDone): string {
  const reason = done === undefined ? null : STOPS[done.stopReason];
  return `"stop_reason":${JSON.stringify(reason)},"stop_sequence":${JSON.stringify(done?.stopSequence ?? null)},"stop_details":null,"container":null`;
}

/** The counts at the end of a stream, as JSON without braces. `input_tokens` is without those of a cache. */
export function countMembers({ inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens }: Usage): string {
  return (
    `"input_tokens":${Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)},"cache_creation_input_tokens":${cacheWriteTokens}` +
    `,"cache_read_input_tokens":${cacheReadTokens},"output_tokens":${outputTokens}` +
    `,"output_tokens_details":${reasoningTokens === undefined ? 'null' : `{"thinking_tokens":${reasoningTokens}}`},"server_tool_use":null`
  );
}

/** A whole message around its content, which is a JSON list; without an end, one that is being written. A template costs a third of an object. */
export function messageText(context: AnswerContext<MessagesEcho>, content: string, done?: ChatDone): string {
  return (
    `{"id":"msg_${answerId(context)}","type":"message","role":"assistant","model":${JSON.stringify(context.request.model)},"content":${content}` +
    `,${stopMembers(done)},"diagnostics":null` +
    `,"usage":{${countMembers(done?.usage ?? NO_USAGE)},"cache_creation":null,"inference_geo":null,"service_tier":null,"speed":null}}`
  );
}

/** A call of a tool by the model itself. */
export function toolUse(id: string, name: string, input: object): object {
  return { type: 'tool_use', id: clientId(id), name, input, caller: { type: 'direct' } };
}

/** The state of the provider, for a client that asked for thinking and so brings its blocks back. */
export function stateFor({ request }: AnswerContext<MessagesEcho>, done: ChatDone): string | undefined {
  return request.echo.showsThinking ? packState(done, clientId) : undefined;
}

/** The body of a whole answer, as JSON. */
export function toMessage({ pieces, done }: WholeAnswer, context: AnswerContext<MessagesEcho>): string {
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
  return messageText(context, toJsonText(content), done);
}
