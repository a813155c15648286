// What a stream shows of an answer besides its text, for a reader that asked for it. Pure: no I/O.
//
// each-call-in-pieces: A call that an adapter hands over whole is shown as a start and one delta, so that a reader knows one form only.
import { isObject } from '../base/json.ts';
import type { AnswerPiece } from '../ports.ts';
import type { StreamOptions } from '../types.ts';

/** A part of an answer as a stream shows it. */
export type VisiblePart =
  | { readonly type: 'content'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A tool call begins. `index` counts the calls of the answer from 0. */
  | { readonly type: 'toolCallStart'; readonly index: number; readonly id: string; readonly name: string }
  /** The next piece of the arguments; together, the pieces of a call are JSON. */
  | { readonly type: 'toolCallDelta'; readonly index: number; readonly text: string };

/** What a request asks its stream to show besides the text; undefined for nothing. The request may not have been checked yet. */
export function streamOptionsOf(request: unknown): StreamOptions | undefined {
  const stream = isObject(request) ? request['stream'] : undefined;
  return isObject(stream) && (stream['reasoning'] === true || stream['toolDeltas'] === true) ? stream : undefined;
}

/** Shows one answer. Keeps the numbers of its calls. */
export class VisibleParts {
  readonly #options: StreamOptions;
  /** From the adapter's index to the one that is shown. */
  readonly #indexes = new Map<number, number>();
  #calls = 0;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** What is shown of these parts, in their order. */
  of(pieces: readonly AnswerPiece[]): VisiblePart[] {
    const shown: VisiblePart[] = [];
    for (const piece of pieces) this.#show(piece, shown);
    return shown;
  }

  #show(piece: AnswerPiece, shown: VisiblePart[]): void {
    if (piece.type === 'text') shown.push({ type: 'content', text: piece.text });
    else if (piece.type === 'reasoning') {
      if (this.#options.reasoning === true) shown.push(piece);
    } else if (piece.type !== 'reasoningState' && this.#options.toolDeltas === true) this.#showCall(piece, shown);
  }

  #showCall(piece: Extract<AnswerPiece, { readonly type: `toolCall${string}` }>, shown: VisiblePart[]): void {
    const known = piece.index === undefined ? undefined : this.#indexes.get(piece.index);
    if (piece.type === 'toolCallDelta') {
      if (known !== undefined) shown.push({ type: 'toolCallDelta', index: known, text: piece.text });
      return;
    }
    if (known !== undefined) return;
    const index = this.#calls++;
    if (piece.index !== undefined) this.#indexes.set(piece.index, index);
    const { id, name } = piece.type === 'toolCall' ? piece.toolCall : piece;
    shown.push({ type: 'toolCallStart', index, id, name });
    // each-call-in-pieces
    if (piece.type === 'toolCall') shown.push({ type: 'toolCallDelta', index, text: JSON.stringify(piece.toolCall.arguments) });
  }
}
