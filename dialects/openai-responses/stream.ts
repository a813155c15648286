// A canonical answer as the events of a response. Pure: no I/O.
//
// created-first: the first events are `response.created` and `response.in_progress`, whatever comes.
// added-and-done: every item that is added is done before the end, and the end has the same items again.
// one-text: at most one message or reasoning is open; calls may be open beside each other.
import type { AnswerPiece, BlockhouseError, ChatDone, ToolCall } from '../../core/index.ts';
import type { AnswerContext, DialectStream } from '../dialect.ts';
import { openAiError } from '../openai-errors.ts';
import { callItem, type ItemStatus, itemId, messageItem, reasoningItem, summaryPart, textPart } from './items.ts';
import type { ResponsesEcho } from './request.ts';
import { baseOf, endOf, inputOf, type ResponseState, responseObject, stateFor } from './response.ts';
import type { ClientTool } from './tools.ts';

/** Where an open item is. */
interface Place {
  readonly item_id: string;
  readonly output_index: number;
}

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
  readonly #base: string;
  #sequence = 0;
  /** The items that are done, by their index. */
  readonly #output: object[] = [];
  #items = 0;
  /** One of them answers the client: a reasoning alone does not. */
  #hasAnswer = false;
  /** one-text. */
  #text: OpenText | undefined;
  /** By the gateway's own index. */
  readonly #calls = new Map<number, OpenCall>();

  constructor(context: AnswerContext<ResponsesEcho>) {
    this.#context = context;
    this.#base = baseOf(context);
  }

  pieces(pieces: readonly AnswerPiece[]): string {
    let frames = this.#begin();
    for (const piece of pieces) frames += this.#piece(piece);
    return frames;
  }

  done(done: ChatDone): string {
    const end = endOf(done, this.#calls.size > 0);
    let frames = this.#begin() + this.#closeText(end.status);
    for (const [key, call] of this.#calls) frames += this.#closeCall(key, call, call.tool.isCustom ? '' : call.text, 'incomplete');
    if (end.status === 'completed' && !this.#hasAnswer) frames += this.#textPiece('text', '') + this.#closeText('completed');
    frames += this.#state(stateFor(this.#context, done));
    return `${frames}${this.#response({ ...end, output: this.#output, usage: done.usage })}data: [DONE]\n\n`;
  }

  /** `error` has the fields twice: flat as documented, and as an object, without which the official client would not throw. */
  error(failure: BlockhouseError): string {
    const error = errorFields(failure);
    const { code, message } = error;
    return this.#begin() + this.#event('error', error) + this.#response({ status: 'failed', output: this.#output.filter(Boolean), error: { code, message } });
  }

  keepAlive(): string {
    return ': keep-alive\n\n';
  }

  /** created-first. */
  #begin(): string {
    if (this.#sequence > 0) return '';
    const response = responseObject(this.#context, { status: 'in_progress' });
    return this.#event('response.created', { response }) + this.#event('response.in_progress', { response });
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
    if (kind === 'reasoning') return begin + this.#event('response.reasoning_summary_text.delta', { ...place, summary_index: 0, delta });
    return begin + this.#event('response.output_text.delta', { ...place, content_index: 0, delta, logprobs: [] });
  }

  #openText(kind: OpenText['kind']): string {
    const place = this.#place(kind === 'text' ? 'message' : 'reasoning');
    this.#text = { kind, place, text: '' };
    if (kind === 'reasoning') {
      return (
        this.#added(place, reasoningItem(place.item_id)) +
        this.#event('response.reasoning_summary_part.added', { ...place, summary_index: 0, part: summaryPart('') })
      );
    }
    this.#hasAnswer = true;
    return (
      this.#added(place, messageItem(place.item_id, 'in_progress')) +
      this.#event('response.content_part.added', { ...place, content_index: 0, part: textPart('') })
    );
  }

  #closeText(status: ItemStatus): string {
    if (this.#text === undefined) return '';
    const { kind, place, text } = this.#text;
    this.#text = undefined;
    if (kind === 'reasoning') {
      return (
        this.#event('response.reasoning_summary_text.done', { ...place, summary_index: 0, text }) +
        this.#event('response.reasoning_summary_part.done', { ...place, summary_index: 0, part: summaryPart(text) }) +
        this.#done(place, reasoningItem(place.item_id, text))
      );
    }
    return (
      this.#event('response.output_text.done', { ...place, content_index: 0, text, logprobs: [] }) +
      this.#event('response.content_part.done', { ...place, content_index: 0, part: textPart(text) }) +
      this.#done(place, messageItem(place.item_id, status, text))
    );
  }

  #start(key: number, callId: string, name: string): string {
    const close = this.#closeText('completed');
    const tool = this.#context.request.echo.toolbox.clientToolOf(name);
    const place = this.#place(tool.isCustom ? 'custom' : 'function');
    this.#calls.set(key, { place, callId, tool, text: '' });
    this.#hasAnswer = true;
    return close + this.#added(place, callItem(place.item_id, 'in_progress', callId, tool, ''));
  }

  /** The pieces of a custom tool's text are wrapped in JSON until its end, so it comes whole. */
  #argument(key: number, delta: string): string {
    const call = this.#calls.get(key);
    if (call === undefined || delta === '') return '';
    call.text += delta;
    return call.tool.isCustom ? '' : this.#event('response.function_call_arguments.delta', { ...call.place, delta });
  }

  #wholeCall(toolCall: ToolCall, key: number | undefined): string {
    const known = key === undefined ? undefined : this.#calls.get(key);
    if (key !== undefined && known !== undefined) return this.#finishCall(key, known, toolCall);
    const own = -1 - this.#items; // below every index of the gateway
    const begin = this.#start(own, toolCall.id, toolCall.name);
    const call = this.#calls.get(own);
    return call === undefined ? begin : begin + this.#finishCall(own, call, toolCall);
  }

  #finishCall(key: number, call: OpenCall, toolCall: ToolCall): string {
    const { place, tool, text } = call;
    if (!tool.isCustom && text !== '') return this.#closeCall(key, call, text, 'completed');
    const input = inputOf(toolCall, tool);
    const type = tool.isCustom ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta';
    return this.#event(type, { ...place, delta: input }) + this.#closeCall(key, call, input, 'completed');
  }

  #closeCall(key: number, { place, callId, tool }: OpenCall, input: string, status: ItemStatus): string {
    this.#calls.delete(key);
    const end = tool.isCustom
      ? this.#event('response.custom_tool_call_input.done', { ...place, input })
      : this.#event('response.function_call_arguments.done', { ...place, name: tool.name, arguments: input });
    return end + this.#done(place, callItem(place.item_id, status, callId, tool, input));
  }

  #state(state: string | undefined): string {
    if (state === undefined) return '';
    const place = this.#place('reasoning');
    return this.#added(place, reasoningItem(place.item_id)) + this.#done(place, reasoningItem(place.item_id, undefined, state));
  }

  #place(kind: Parameters<typeof itemId>[0]): Place {
    const place = { item_id: itemId(kind, this.#base, this.#items), output_index: this.#items };
    this.#items += 1;
    return place;
  }

  #added({ output_index }: Place, item: object): string {
    return this.#event('response.output_item.added', { output_index, item });
  }

  /** added-and-done. */
  #done({ output_index }: Place, item: object): string {
    this.#output[output_index] = item;
    return this.#event('response.output_item.done', { output_index, item });
  }

  #response(state: ResponseState): string {
    return this.#event(`response.${state.status}`, { response: responseObject(this.#context, state) });
  }

  #event(type: string, fields: object): string {
    const text = frame(type, this.#sequence, fields);
    this.#sequence += 1;
    return text;
  }
}

/** The end of a stream of which only the failure is known. Readers differ in which of the two events they heed. */
export function brokenResponse(failure: BlockhouseError): string {
  const error = errorFields(failure);
  const { code, message } = error;
  return frame('error', 0, error) + frame('response.failed', 1, { response: { object: 'response', status: 'failed', output: [], error: { code, message } } });
}

function errorFields(failure: BlockhouseError) {
  const error = openAiError(failure);
  const { message, type, param } = error;
  return { code: error.code ?? type, message, param, error };
}

function frame(type: string, sequence: number, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...fields })}\n\n`;
}
