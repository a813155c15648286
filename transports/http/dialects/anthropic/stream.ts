// A canonical answer as the events of a message. Pure: no I/O.
//
// start-first: `message_start` comes before any block.
// one-block: blocks come one after the other, so what belongs to another block waits until a call that is being written is complete.
// known-types: only the event types that every reader knows; some give up at any other.
import type { AnswerPiece, BlockhouseError, ChatDone } from '../../../../core/index.ts';
import type { AnswerContext, DialectStream } from '../shared/dialect.ts';
import { callOf, WaitingPieces } from '../shared/waiting-pieces.ts';
import { anthropicError } from './errors.ts';
import type { MessagesEcho } from './request.ts';
import { countMembers, messageText, stateFor, stopMembers, toolUse } from './response.ts';

type OpenBlock = { readonly kind: 'text' | 'thinking' } | { readonly kind: 'call'; readonly key: number; hasInput: boolean };

/** The events of one answer. */
export class MessageEvents implements DialectStream {
  readonly #context: AnswerContext<MessagesEcho>;
  #hasStarted = false;
  /** The index of the next block. */
  #next = 0;
  #open: OpenBlock | undefined;
  /** one-block. */
  readonly #waiting = new WaitingPieces();

  constructor(context: AnswerContext<MessagesEcho>) {
    this.#context = context;
  }

  pieces(pieces: readonly AnswerPiece[]): string {
    let text = this.#start();
    for (const piece of pieces) text += this.#piece(piece);
    return text;
  }

  done(done: ChatDone): string {
    let text = this.#start();
    // A call that was cut off never gets its end.
    while (this.#open !== undefined || !this.#waiting.isEmpty) text += this.#close() + this.#takeWaiting();
    const state = stateFor(this.#context, done);
    if (state !== undefined) text += this.#begin({ kind: 'thinking' }, THINKING) + this.#delta({ type: 'signature_delta', signature: state }) + this.#close();
    if (this.#next === 0) text += this.#begin({ kind: 'text' }, TEXT) + this.#close();
    return `${text}${eventOf('message_delta', `"delta":{${stopMembers(done)}},"usage":{${countMembers(done.usage)}}`)}${event('message_stop', {})}`;
  }

  error(failure: BlockhouseError): string {
    return brokenMessage(failure);
  }

  keepAlive(): string {
    return this.#hasStarted ? event('ping', {}) : ': keep-alive\n\n';
  }

  /** start-first. */
  #start(): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    return eventOf('message_start', `"message":${messageText(this.#context, '[]')}`);
  }

  /** one-block. */
  #piece(piece: AnswerPiece): string {
    if (this.#open?.kind !== 'call' || callOf(piece) === this.#open.key) return this.#take(piece) + this.#takeWaiting();
    if (piece.type !== 'reasoningState') this.#waiting.add(piece);
    return '';
  }

  #take(piece: AnswerPiece): string {
    switch (piece.type) {
      case 'reasoningState':
        return ''; // the end has it
      case 'text':
        return this.#words('text', TEXT, `"text_delta","text":${JSON.stringify(piece.text)}`);
      case 'reasoning':
        return this.#context.request.echo.showsThinking ? this.#words('thinking', THINKING, `"thinking_delta","thinking":${JSON.stringify(piece.text)}`) : '';
      case 'toolCallStart':
        return this.#close() + this.#beginCall(piece.index, piece.id, piece.name);
      case 'toolCallDelta':
        return this.#input(piece.text);
      case 'toolCall':
        return this.#endCall(piece);
    }
  }

  /** `delta` is the JSON of its type and text: most events are of this form, and a template costs a quarter of an object. */
  #words(kind: 'text' | 'thinking', block: object, delta: string): string {
    const begin = this.#open?.kind === kind ? '' : this.#close() + this.#begin({ kind }, block);
    return `${begin}event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#next},"delta":{"type":${delta}}}\n\n`;
  }

  #beginCall(key: number, id: string, name: string): string {
    return this.#begin({ kind: 'call', key, hasInput: false }, toolUse(id, this.#context.request.echo.names.toTheirs(name), {}));
  }

  #input(json: string): string {
    if (this.#open?.kind !== 'call' || json === '') return '';
    this.#open.hasInput = true;
    return this.#delta({ type: 'input_json_delta', partial_json: json });
  }

  #endCall({ toolCall, index }: Extract<AnswerPiece, { readonly type: 'toolCall' }>): string {
    const isOpen = this.#open?.kind === 'call' && this.#open.key === index;
    const begin = isOpen ? '' : this.#close() + this.#beginCall(-1, toolCall.id, toolCall.name);
    const hasInput = this.#open?.kind === 'call' && this.#open.hasInput;
    const input = hasInput ? '' : this.#input(JSON.stringify(toolCall.arguments));
    return begin + input + this.#close();
  }

  #takeWaiting(): string {
    let text = '';
    while (!this.#waiting.isEmpty) {
      const piece = this.#waiting.take(this.#open?.kind === 'call' ? this.#open.key : undefined);
      if (piece === undefined) break;
      text += this.#take(piece);
    }
    return text;
  }

  #begin(open: OpenBlock, block: object): string {
    this.#open = open;
    return event('content_block_start', { index: this.#next, content_block: block });
  }

  #delta(delta: object): string {
    return event('content_block_delta', { index: this.#next, delta });
  }

  #close(): string {
    if (this.#open === undefined) return '';
    this.#open = undefined;
    const text = event('content_block_stop', { index: this.#next });
    this.#next += 1;
    return text;
  }
}

const TEXT = { type: 'text', text: '' };
const THINKING = { type: 'thinking', thinking: '', signature: '' };

/** The end of a stream that broke off. */
export function brokenMessage(failure: BlockhouseError): string {
  return event('error', { error: anthropicError(failure) });
}

/** known-types. */
function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** The same from the JSON of its fields. */
function eventOf(type: string, members: string): string {
  return `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`;
}
