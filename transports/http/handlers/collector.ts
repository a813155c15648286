// Collects an answer whose dialect writes it in one. Pure: no I/O.
import type { AnswerPiece, ChatDone, StreamSink } from '../../../core/index.ts';
import type { WholeAnswer } from '../dialects/shared/dialect.ts';

/** The parts of a whole answer are bounded like those of `/v1/chat`: the adapters refuse more than they may hold. */
export class Collector implements StreamSink {
  readonly whole = true;
  readonly opened = false;
  readonly opensInMs = Number.POSITIVE_INFINITY;
  readonly #pieces: WholeAnswer['pieces'][number][] = [];

  start(): void {
    // The answer says at its end which model it is from.
  }

  content(fragments: readonly string[]): boolean {
    return this.pieces(fragments.map((text) => ({ type: 'text', text })));
  }

  pieces(pieces: readonly AnswerPiece[]): boolean {
    for (const piece of pieces) {
      if (piece.type === 'toolCallStart' || piece.type === 'toolCallDelta' || piece.type === 'reasoningState') continue; // the end has it
      const last = this.#pieces.at(-1);
      if (piece.type !== 'toolCall' && last?.type === piece.type) this.#pieces[this.#pieces.length - 1] = { type: piece.type, text: last.text + piece.text };
      else this.#pieces.push(piece);
    }
    return true;
  }

  onceWritable(resume: () => void): void {
    resume();
  }

  answer(done: ChatDone): WholeAnswer {
    return { pieces: this.#pieces, done };
  }
}
