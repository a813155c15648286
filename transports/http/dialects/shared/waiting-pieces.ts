// Pieces of an answer that wait while a call is being written. Pure: no I/O.
//
// in-order: what waits leaves in the order in which it came, but for the pieces of the call that is being written, which leave first.
// linear: a piece is added once and taken once, however many calls wait beside it.
// joined: what goes on with a text, or with the arguments of a call, waits with it as one piece: an answer may come in millions of them.
import type { AnswerPiece } from '../../../../core/index.ts';

interface Waiting {
  piece: AnswerPiece;
  isTaken: boolean;
}

/** Items that are added at the end and taken from the front. */
class Line {
  #items: Waiting[] = [];
  #first = 0;

  add(item: Waiting): void {
    this.#items.push(item);
  }

  last(): Waiting | undefined {
    return this.#items.at(-1);
  }

  /** The first item that has not been taken. */
  first(): Waiting | undefined {
    while (this.#items[this.#first]?.isTaken === true) this.#first += 1;
    const first = this.#items[this.#first];
    if (first === undefined && this.#first > 0) {
      this.#items = [];
      this.#first = 0;
    }
    return first;
  }
}

/** The pieces of one answer that wait. A call is named by the gateway's index of it. */
export class WaitingPieces {
  readonly #all = new Line();
  /** Pieces of calls that go on, by the call. */
  readonly #ofCall = new Map<number, Line>();

  add(piece: AnswerPiece): void {
    const call = callOf(piece);
    const line = call === undefined ? this.#all : (this.#ofCall.get(call) ?? new Line());
    const last = line.last();
    const joined = last?.isTaken === false ? joinedPiece(last.piece, piece) : undefined;
    if (last !== undefined && joined !== undefined) {
      last.piece = joined;
      return;
    }
    const waiting = { piece, isTaken: false };
    this.#all.add(waiting);
    if (call === undefined) return;
    this.#ofCall.set(call, line);
    line.add(waiting);
  }

  /** True if nothing waits. */
  get isEmpty(): boolean {
    return this.#all.first() === undefined;
  }

  /** True if the piece that has waited longest is not one of the call. */
  blocks(call: number): boolean {
    const first = this.#all.first();
    return first !== undefined && callOf(first.piece) !== call;
  }

  /** Removes and returns the next piece of the call that is being written, or the next of all if there is none (in-order). */
  take(call?: number): AnswerPiece | undefined {
    const next = call === undefined ? this.#all.first() : this.#ofCall.get(call)?.first();
    if (next === undefined) return undefined;
    next.isTaken = true;
    return next.piece;
  }
}

/** joined. Undefined for what does not go on with the piece before. */
function joinedPiece(before: AnswerPiece, piece: AnswerPiece): AnswerPiece | undefined {
  return 'text' in before && 'text' in piece && before.type === piece.type ? { ...piece, text: before.text + piece.text } : undefined;
}

/** The call that the piece goes on with, or ends; undefined for one that begins something. */
export function callOf(piece: AnswerPiece): number | undefined {
  return piece.type === 'toolCallDelta' || piece.type === 'toolCall' ? piece.index : undefined;
}
