// A canonical answer as chunks of a completion. Pure: no I/O.
import type { AnswerPiece, BlockhouseError, ChatDone } from '../../../../core/index.ts';
import type { AnswerContext, DialectStream } from '../shared/dialect.ts';
import { errorChunk, finishReason, usageText } from '../shared/openai-answers.ts';
import type { CompletionEcho } from './request.ts';
import { choiceOf, headOf } from './response.ts';

/** The chunks of one answer. */
export class CompletionChunks implements DialectStream {
  readonly #includesUsage: boolean;
  readonly #head: string;

  constructor(context: AnswerContext<CompletionEcho>) {
    this.#includesUsage = context.request.echo.includeUsage;
    this.#head = `data: ${headOf(context)}`;
  }

  pieces(pieces: readonly AnswerPiece[]): string {
    let frames = '';
    for (const piece of pieces) if (piece.type === 'text') frames += this.#choice(piece.text);
    return frames;
  }

  done({ stopReason, usage }: ChatDone): string {
    const counted = this.#includesUsage ? `${this.#head}],"usage":${usageText(usage)}}\n\n` : '';
    return `${this.#choice('', finishReason(stopReason))}${counted}data: [DONE]\n\n`;
  }

  error(failure: BlockhouseError): string {
    return errorChunk(failure);
  }

  keepAlive(): string {
    return ': keep-alive\n\n';
  }

  #choice(text: string, finish: string | null = null): string {
    return `${this.#head}${choiceOf(JSON.stringify(text), finish)}]}\n\n`;
  }
}
