// A canonical answer as the events of a response. Pure: no I/O.
//
// created-first: the first events are `response.created` and `response.in_progress`, whatever comes.
// all-done: every item that is added is done before the end, and the end has the same items again.
// one-item: an item is done before the next one is added. What belongs to another item waits while a call is being written.
// state-in-place: the provider's state leaves with the reasoning that it belongs to. What comes later has an item of its own.
import { toJsonText } from '../../../../core/base/json-text.ts';
import type { AnswerPiece, BlockhouseError, ChatDone, ToolCall } from '../../../../core/index.ts';
import { answerId } from '../shared/answer-id.ts';
import type { AnswerContext, DialectStream } from '../shared/dialect.ts';
import { openAiError } from '../shared/openai-errors.ts';
import { packState } from '../shared/packed-state.ts';
import { callOf, WaitingPieces } from '../shared/waiting-pieces.ts';
import { ArgumentsText } from './arguments-text.ts';
import { EventWriter, frame, membersOf, type Place } from './events.ts';
import { callItem, type ItemStatus, messageItem, reasoningItem, summaryPart, textPart } from './items.ts';
import type { ResponsesEcho } from './request.ts';
import { endOf, inputOf, type ResponseState, responseText } from './response.ts';
import type { ClientTool } from './tools.ts';

interface OpenText {
  readonly kind: 'text' | 'reasoning';
  readonly place: Place;
  text: string;
}

interface OpenCall {
  readonly kind: 'call';
  /** The gateway's own index. */
  readonly key: number;
  readonly place: Place;
  readonly callId: string;
  readonly tool: ClientTool;
  readonly args: ArgumentsText;
}

/** The events of one answer. */
export class ResponseEvents implements DialectStream {
  readonly #context: AnswerContext<ResponsesEcho>;
  readonly #events: EventWriter;
  /** One of them answers the client: a reasoning alone does not. */
  #hasAnswer = false;
  /** one-item. */
  #open: OpenText | OpenCall | undefined;
  /** one-item. */
  readonly #waiting = new WaitingPieces();
  /** Keys of calls that are done, although the gateway has not said so yet. */
  readonly #early = new Set<number>();
  /** A call has no end. */
  #hasCut = false;
  /** Of the reasoning so far, until it has left (state-in-place). */
  #state: Record<string, unknown> | undefined;
  /** What the items behind the state that has left may be for it to be enough: a text and calls, calls alone, or nothing that fits; undefined until then. */
  #enoughFor: 'text' | 'calls' | 'nothing' | undefined;

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
    let frames = this.#begin();
    // A call that was cut off never gets its end.
    while (this.#open?.kind === 'call') frames += this.#cutCall(this.#open) + this.#takeWaiting();
    const end = endOf(done, this.#hasCut);
    frames += this.#closeText(end.status);
    if (end.status === 'completed' && !this.#hasAnswer) frames += this.#textPiece('text', '') + this.#closeText('completed');
    const { providerMetadata, toolCalls } = done;
    const isEnough = this.#enoughFor === 'text' || this.#enoughFor === 'calls';
    frames += this.#stateItem(this.#packed({ providerMetadata: isEnough ? undefined : providerMetadata, toolCalls }));
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
    if (this.#isEarly(piece)) return '';
    const open = this.#open;
    if (open?.kind !== 'call' || callOf(piece) === open.key) return this.#take(piece) + this.#takeWaiting();
    this.#waiting.add(piece);
    return this.#takeWaiting();
  }

  #take(piece: AnswerPiece): string {
    switch (piece.type) {
      case 'reasoningState':
        return this.#takeState(piece.providerMetadata);
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

  #takeWaiting(): string {
    let frames = '';
    while (!this.#waiting.isEmpty) {
      frames += this.#advance();
      const piece = this.#waiting.take(this.#open?.kind === 'call' ? this.#open.key : undefined);
      if (piece === undefined) break;
      if (!this.#isEarly(piece)) frames += this.#take(piece);
    }
    return frames;
  }

  /** one-item: what waits goes on as soon as the call before it is whole. Providers end their calls together, when the answer ends. */
  #advance(): string {
    const open = this.#open;
    if (open?.kind !== 'call' || !this.#waiting.blocks(open.key)) return '';
    const args = open.args.value();
    if (args === undefined) return '';
    this.#early.add(open.key);
    return this.#finishCall(open, { id: open.callId, name: open.tool.name, arguments: args });
  }

  #isEarly(piece: AnswerPiece): boolean {
    const call = callOf(piece);
    return call !== undefined && this.#early.has(call);
  }

  #textPiece(kind: OpenText['kind'], delta: string): string {
    const begin = this.#open?.kind === kind ? '' : this.#closeText('completed') + this.#openText(kind);
    if (this.#open?.kind !== kind || delta === '') return begin;
    this.#open.text += delta;
    const { place } = this.#open;
    if (kind === 'reasoning')
      return begin + this.#events.piece('response.reasoning_summary_text.delta', place, `"summary_index":0,"delta":${JSON.stringify(delta)}`);
    return begin + this.#events.piece('response.output_text.delta', place, `"content_index":0,"delta":${JSON.stringify(delta)},"logprobs":[]`);
  }

  #openText(kind: OpenText['kind']): string {
    this.#follow(kind);
    const place = this.#events.place(kind === 'text' ? 'message' : 'reasoning');
    this.#open = { kind, place, text: '' };
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
    if (this.#open === undefined || this.#open.kind === 'call') return '';
    const { kind, place } = this.#open;
    const text = toJsonText(this.#open.text);
    this.#open = undefined;
    if (kind === 'reasoning') {
      return (
        this.#events.piece('response.reasoning_summary_text.done', place, `"summary_index":0,"text":${text}`) +
        this.#events.piece('response.reasoning_summary_part.done', place, `"summary_index":0,"part":${summaryPart(text)}`) +
        this.#events.done(place, reasoningItem(place.item_id, text, this.#leaving()))
      );
    }
    return (
      this.#events.piece('response.output_text.done', place, `"content_index":0,"text":${text},"logprobs":[]`) +
      this.#events.piece('response.content_part.done', place, `"content_index":0,"part":${textPart(text)}`) +
      this.#events.done(place, messageItem(place.item_id, status, text))
    );
  }

  #start(key: number, callId: string, name: string): string {
    const close = this.#closeText('completed');
    this.#follow('call');
    const tool = this.#context.request.echo.toolbox.clientToolOf(name);
    const place = this.#events.place(tool.isCustom ? 'custom' : 'function');
    this.#open = { kind: 'call', key, place, callId, tool, args: new ArgumentsText() };
    this.#early.delete(key);
    this.#hasAnswer = true;
    return close + this.#events.added(place, callItem(place.item_id, 'in_progress', callId, tool, ''));
  }

  /** The pieces of a custom tool's text are wrapped in JSON until its end, so it comes whole. */
  #argument(key: number, delta: string): string {
    const call = this.#open;
    if (call?.kind !== 'call' || call.key !== key || delta === '') return '';
    call.args.add(delta);
    const { place, tool } = call;
    return tool.isCustom ? '' : this.#events.event('response.function_call_arguments.delta', { ...place, delta });
  }

  #wholeCall(toolCall: ToolCall, key: number | undefined): string {
    const open = this.#open;
    if (open?.kind === 'call' && open.key === key) return this.#finishCall(open, toolCall);
    const own = -1; // below every index of the gateway
    const begin = this.#start(own, toolCall.id, toolCall.name);
    return this.#open?.kind === 'call' ? begin + this.#finishCall(this.#open, toolCall) : begin;
  }

  #finishCall(call: OpenCall, toolCall: ToolCall): string {
    const { place, tool } = call;
    const { text } = call.args;
    if (!tool.isCustom && text !== '') return this.#closeCall(call, text, 'completed');
    const input = inputOf(toolCall, tool);
    const type = tool.isCustom ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta';
    return this.#events.event(type, { ...place, delta: input }) + this.#closeCall(call, input, 'completed');
  }

  /** What has come of a custom tool's text is no text yet. */
  #cutCall(call: OpenCall): string {
    this.#hasCut = true;
    return this.#closeCall(call, call.tool.isCustom ? '' : call.args.text, 'incomplete');
  }

  #closeCall({ place, callId, tool }: OpenCall, input: string, status: ItemStatus): string {
    this.#open = undefined;
    const end = tool.isCustom
      ? this.#events.event('response.custom_tool_call_input.done', { ...place, input })
      : this.#events.event('response.function_call_arguments.done', { ...place, name: tool.name, arguments: input });
    return end + this.#events.done(place, callItem(place.item_id, status, callId, tool, input));
  }

  /** The state of a reasoning of which nothing is shown has an item of its own. */
  #takeState(state: Record<string, unknown>): string {
    this.#state = state;
    return this.#open?.kind === 'reasoning' ? '' : this.#closeText('completed') + this.#stateItem(this.#leaving());
  }

  /** What leaves with a reasoning. */
  #leaving(): string | undefined {
    const packed = this.#packed({ providerMetadata: this.#state });
    this.#state = undefined;
    if (packed !== undefined) this.#enoughFor = 'text';
    return packed;
  }

  /** If the client has asked for it. */
  #packed(answer: Parameters<typeof packState>[0]): string | undefined {
    return this.#context.request.echo.packsState ? packState(answer) : undefined;
  }

  /** An item follows the state that has left. */
  #follow(kind: 'text' | 'reasoning' | 'call'): void {
    if (this.#enoughFor === undefined) return;
    const fits = kind === 'call' ? this.#enoughFor !== 'nothing' : kind === 'text' && this.#enoughFor === 'text';
    this.#enoughFor = fits ? 'calls' : 'nothing';
  }

  #stateItem(state: string | undefined): string {
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
