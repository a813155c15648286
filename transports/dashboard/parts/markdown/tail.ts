// A text that grows: its settled beginning, which is never looked at again, and its open end. Pure.
//
// settled: a block of Markdown is settled when at least two more stand behind it, because what comes later can still change the last ones: a list or a
//   quote goes on, a line becomes a heading.
import { Lexer } from 'marked';

/** Blocks behind a settled one. */
const OPEN_BLOCKS = 2;
/** The open end is looked at only when it has grown by so much, so that the cost of a piece does not grow with the answer. */
const MOST_OPEN = 200_000;

/** Splits a growing text into settled blocks and an open end. */
export class Tail {
  readonly #settled: string[] = [];
  #open = '';

  /** Sources of the settled blocks, in their order; the same array while it grows. */
  get settled(): readonly string[] {
    return this.#settled;
  }

  get open(): string {
    return this.#open;
  }

  get text(): string {
    return this.#settled.join('') + this.#open;
  }

  add(piece: string): void {
    this.#open += piece;
    if (!/\n\s*\n/.test(this.#open) || this.#open.length > MOST_OPEN) return;
    const blocks = blocksOf(this.#open);
    const ready = blocks.length - OPEN_BLOCKS;
    if (ready <= 0) return;
    const done = blocks.slice(0, ready);
    this.#settled.push(...done); // settled
    this.#open = this.#open.slice(done.join('').length);
  }

  clear(): void {
    this.#settled.length = 0;
    this.#open = '';
  }
}

/** The sources of the blocks of a text, blank lines with the block before them; one block if the text can't be read. */
export function blocksOf(text: string): string[] {
  try {
    const blocks: string[] = [];
    let length = 0;
    for (const { type, raw } of new Lexer().lex(text)) {
      length += raw.length;
      if (type === 'space' && blocks.length > 0) blocks[blocks.length - 1] += raw;
      else blocks.push(raw);
    }
    // Where the lexer has changed characters (CR, tabs), its pieces are not those of the source.
    return length === text.length && blocks.join('') === text ? blocks : [text];
  } catch {
    return [text]; // nested too deep
  }
}
