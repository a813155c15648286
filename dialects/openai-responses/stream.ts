// A canonical answer as the events of a response. Pure: no I/O.
//
// created-first: the first events are `response.created` and `response.in_progress`, whatever comes.
// all-done: every item that is added is done before the end, and the end has the same items again.
// one-text: at most one message or reasoning is open; calls may be open beside each other.
import { type AnswerPiece, type BlockhouseError, type ChatDone, type ToolCall, toJsonText } from '../../core/index.ts';
import { answerId } from '../answer-id.ts';
import type { AnswerContext, DialectStream } from '../dialect.ts';
import { openAiError } from '../openai-errors.ts';
import { EventWriter, frame, membersOf, type Place } from './events.ts';
import { callItem, type ItemStatus, messageItem, reasoningItem, summaryPart, textPart } from './items.ts';
import type { ResponsesEcho } from './request.ts';
import { endOf, inputOf, type ResponseState, responseText, stateFor } from './response.ts';
import type { ClientTool } from './tools.ts';

interface OpenText {
  readonly kind: 'text' | 'reasoning';
  readonly place: Place;
  text: string;
}

interface OpenCall {
  readonly place: Place;
  readonly callId: string;
  readonly tool: ClientTool;
  /** The JSON that has come so far. */
  text: string;
}

/** The events of one answer. */
export class ResponseEvents implements DialectStream {
  readonly #context: AnswerContext<ResponsesEcho>;
  readonly #events: EventWriter;
  /** One of them answers the client: a reasoning alone does not. */
  #hasAnswer = false;
  /** one-text. */
  #text: OpenText | undefined;
  /** By the gateway's own index. */
  readonly #calls = new Map<number, OpenCall>();

  constructor(context: AnswerContext<ResponsesEcho>) {
    this.#context = context;
    this.#events = new EventWriter(answerId(context));
  }

  pieces(pieces: readonly AnswerPiece[]): string {
    let frames = this.#begin();
    for (const piece of pieces) frames += this.#piece(piece);
    return frames;
  }

  done(done: ChatDone): string {
    const end = endOf(done, this.#calls.size > 0);
    let frames = this.#begin() + this.#closeText(end.status);
    for (const [key, call] of this.#calls) frames += this.#cutCall(key, call);
    if (end.status === 'completed' && !this.#hasAnswer) frames += this.#textPiece('text', '') + this.#closeText('completed');
    frames += this.#state(stateFor(this.#context, done));
    return `${frames}${this.#response({ ...end, output: this.#events.output, usage: done.usage })}data: [DONE]\n\n`;
  }

  error(failure: BlockhouseError): string {
    const error = errorFields(failure);
    const { code, message } = error;
    return this.#begin() + this.#events.event('error', error) + this.#response({ status: 'failed', output: this.#events.output, error: { code, message } });
  }

  keepAlive(): string {
    return ': keep-alive\n\n';
  }

  /** created-first. */
  #begin(): string {
    if (this.#events.hasBegun) return '';
    const response = responseText(this.#context, { status: 'in_progress' });
    return this.#events.response('response.created', response) + this.#events.response('response.in_progress', response);
  }

  #piece(piece: AnswerPiece): string {
    switch (piece.type) {
      case 'text':
      case 'reasoning':
        return this.#textPiece(piece.type, piece.text);
      case 'toolCallStart':
        return this.#start(piece.index, piece.id, piece.name);
      case 'toolCallDelta':
        return this.#argument(piece.index, piece.text);
      case 'toolCall':
        return this.#wholeCall(piece.toolCall, piece.index);
    }
  }

  #textPiece(kind: OpenText['kind'], delta: string): string {
    const begin = this.#text?.kind === kind ? '' : this.#closeText('completed') + this.#openText(kind);
    if (this.#text === undefined || delta === '') return begin;
    this.#text.text += delta;
    const { place } = this.#text;
    if (kind === 'reasoning')
      return begin + this.#events.piece('response.reasoning_summary_text.delta', place, `"summary_index":0,"delta":${JSON.stringify(delta)}`);
    return begin + this.#events.piece('response.output_text.delta', place, `"content_index":0,"delta":${JSON.stringify(delta)},"logprobs":[]`);
  }

  #openText(kind: OpenText['kind']): string {
    const place = this.#events.place(kind === 'text' ? 'message' : 'reasoning');
    this.#text = { kind, place, text: '' };
    if (kind === 'reasoning') {
      return (
        this.#events.added(place, reasoningItem(place.item_id)) +
        this.#events.piece('response.reasoning_summary_part.added', place, `"summary_index":0,"part":${summaryPart('""')}`)
      );
    }
    this.#hasAnswer = true;
    return (
      this.#events.added(place, messageItem(place.item_id, 'in_progress')) +
      this.#events.piece('response.content_part.added', place, `"content_index":0,"part":${textPart('""')}`)
    );
  }

  #closeText(status: ItemStatus): string {
    if (this.#text === undefined) return '';
    const { kind, place } = this.#text;
    const text = toJsonText(this.#text.text);
    this.#text = undefined;
    if (kind === 'reasoning') {
      return (
        this.#events.piece('response.reasoning_summary_text.done', place, `"summary_index":0,"text":${text}`) +
        this.#events.piece('response.reasoning_summary_part.done', place, `"summary_index":0,"part":${summaryPart(text)}`) +
        this.#events.done(place, reasoningItem(place.item_id, text))
      );
    }
    return (
      this.#events.piece('response.output_text.done', place, `"content_index":0,"text":${text},"logprobs":[]`) +
      this.#events.piece('response.content_part.done', place, `"content_index":0,"part":${textPart(text)}`) +
      this.#events.done(place, messageItem(place.item_id, status, text))
    );
  }

  #start(key: number, callId: string, name: string): string {
    const open = this.#calls.get(key);
    const close = this.#closeText('completed') + (open === undefined ? '' : this.#cutCall(key, open)); // all-done
    const tool = this.#context.request.echo.toolbox.clientToolOf(name);
    const place = this.#events.place(tool.isCustom ? 'custom' : 'function');
    this.#calls.set(key, { place, callId, tool, text: '' });
    this.#hasAnswer = true;
    return close + this.#events.added(place, callItem(place.item_id, 'in_progress', callId, tool, ''));
  }

  /** The pieces of a custom tool's text are wrapped in JSON until its end, so it comes whole. */
  #argument(key: number, delta: string): string {
    const call = this.#calls.get(key);
    if (call === undefined || delta === '') return '';
    call.text += delta;
    return call.tool.isCustom ? '' : this.#events.event('response.function_call_arguments.delta', { ...call.place, delta });
  }

  #wholeCall(toolCall: ToolCall, key: number | undefined): string {
    const known = key === undefined ? undefined : this.#calls.get(key);
    if (key !== undefined && known !== undefined) return this.#finishCall(key, known, toolCall);
    const own = -1; // below every index of the gateway
    const begin = this.#start(own, toolCall.id, toolCall.name);
    const call = this.#calls.get(own);
    return call === undefined ? begin : begin + this.#finishCall(own, call, toolCall);
  }

  #finishCall(key: number, call: OpenCall, toolCall: ToolCall): string {
    const { place, tool, text } = call;
    if (!tool.isCustom && text !== '') return this.#closeCall(key, call, text, 'completed');
    const input = inputOf(toolCall, tool);
    const type = tool.isCustom ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta';
    return this.#events.event(type, { ...place, delta: input }) + this.#closeCall(key, call, input, 'completed');
  }

  /** What has come of a custom tool's text is no text yet. */
  #cutCall(key: number, call: OpenCall): string {
    return this.#closeCall(key, call, call.tool.isCustom ? '' : call.text, 'incomplete');
  }

  #closeCall(key: number, { place, callId, tool }: OpenCall, input: string, status: ItemStatus): string {
    this.#calls.delete(key);
    const end = tool.isCustom
      ? this.#events.event('response.custom_tool_call_input.done', { ...place, input })
      : this.#events.event('response.function_call_arguments.done', { ...place, name: tool.name, arguments: input });
    return end + this.#events.done(place, callItem(place.item_id, status, callId, tool, input));
  }

  #state(state: string | undefined): string {
    if (state === undefined) return '';
    const place = this.#events.place('reasoning');
    return this.#events.added(place, reasoningItem(place.item_id)) + this.#events.done(place, reasoningItem(place.item_id, undefined, state));
  }

  #response(state: ResponseState): string {
    return this.#events.response(`response.${state.status}`, responseText(this.#context, state));
  }
}

/** The end of a stream of which only the failure is known. Readers differ in which of the two events they heed. */
export function brokenResponse(failure: BlockhouseError): string {
  const error = errorFields(failure);
  const { code, message } = error;
  const response = { object: 'response', status: 'failed', output: [], error: { code, message } };
  return frame('error', 0, membersOf(error)) + frame('response.failed', 1, membersOf({ response }));
}

/** The fields come twice: flat as documented, and as an object, without which the official client would not throw. */
function errorFields(failure: BlockhouseError) {
  const { message, type, param, ...rest } = openAiError(failure);
  const code = rest.code ?? type;
  return { code, message, param, error: { message, type, param, code } };
}
