// How much of one answer is kept until its end: what decoders gather, and what is gathered of their events. Pure: no I/O.
//
// bounded: what exceeds ANSWER_LIMITS is refused as it comes, before it takes more memory than that.
import { BlockhouseError } from '../errors.ts';
import { ANSWER_LIMITS, PIECE_BYTES } from './answer-limits.ts';

/** Counts what one reader of an answer keeps. Every method throws UPSTREAM_MALFORMED for more than ANSWER_LIMITS allows. */
export class AnswerSize {
  #bytes = 0;
  #blocks = 0;

  /** Counts a piece of so many characters. */
  add(characters: number): void {
    this.#bytes += characters + PIECE_BYTES;
    if (this.#bytes > ANSWER_LIMITS.kept) throw unreadable(`more than ${ANSWER_LIMITS.kept} bytes of it would have to be kept`);
  }

  /** Counts JSON at the size of its values, which may take far more memory than its text. */
  addValue(value: unknown): void {
    this.add(bytesOf(value));
  }

  /** Counts a further content block or tool call. */
  addBlock(): void {
    this.#blocks += 1;
    if (this.#blocks > ANSWER_LIMITS.blocks) throw unreadable(`it has more than ${ANSWER_LIMITS.blocks} content blocks or tool calls`);
  }
}

/** What a value takes in memory, by estimate. It may nest to any depth, so this doesn't recurse. */
function bytesOf(value: unknown): number {
  let bytes = 0;
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string') bytes += next.length;
    if (typeof next !== 'object' || next === null) continue;
    for (const name of Array.isArray(next) ? [] : Object.keys(next)) bytes += name.length;
    for (const inner of Object.values(next)) {
      bytes += PIECE_BYTES;
      left.push(inner);
    }
  }
  return bytes;
}

function unreadable(why: string): BlockhouseError {
  return new BlockhouseError('UPSTREAM_MALFORMED', `The provider's answer could not be read: ${why}.`, { mayHaveRun: true });
}
