// A canonical answer as lines of JSON. Pure: no I/O.
//
// one-line: each frame is one JSON object and a line feed. No reader takes comments or empty lines, so silence is filled with an object without text.
import type { AnswerPiece, BlockhouseError, ChatDone } from '../../../../core/index.ts';
import type { AnswerContext, DialectStream } from '../shared/dialect.ts';
import { errorBody } from './errors.ts';
import type { OllamaEcho } from './response.ts';
import { endOf, objectOf, type Shown, toolCallOf } from './response.ts';

/** The lines of one answer. */
export class OllamaLines implements DialectStream {
  readonly #context: AnswerContext<OllamaEcho>;
  #firstMs: number | undefined;
  #calls = 0;

  constructor(context: AnswerContext<OllamaEcho>) {
    this.#context = context;
  }

  pieces(pieces: readonly AnswerPiece[]): string {
    this.#firstMs ??= this.#context.elapsedMs?.();
    let lines = '';
    for (const piece of pieces) lines += this.#piece(piece);
    return lines;
  }

  done(done: ChatDone): string {
    return line(objectOf(this.#context, { content: '' }, endOf(this.#context, done, this.#firstMs ?? 0)));
  }

  error(failure: BlockhouseError): string {
    return line(errorBody(failure));
  }

  /** one-line. */
  keepAlive(): string {
    return this.#line({ content: '' });
  }

  /** The protocol has no pieces of a call, so a call comes when it is complete. */
  #piece(piece: AnswerPiece): string {
    const { echo } = this.#context.request;
    switch (piece.type) {
      case 'text':
        return this.#line({ content: piece.text });
      case 'reasoning':
        return echo.showsThinking ? this.#line({ content: '', thinking: piece.text }) : '';
      case 'toolCall': {
        const call = toolCallOf(piece.toolCall, this.#calls, echo);
        this.#calls += 1;
        return this.#line({ content: '', toolCalls: [call] });
      }
      default:
        return '';
    }
  }

  #line(shown: Shown): string {
    return line(objectOf(this.#context, shown, { done: false }));
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
