// Writes the text of a model while it comes, on a terminal broken between words.
//
// as-it-is: what is no terminal gets the text unchanged. On one, lines in code fences, indented code and tables keep their form.
// word-by-word: only a word that is not whole yet is held back, and it is shown once it is longer than a line.
import type { Writable } from 'node:stream';
import { displayWidth } from './layout.ts';
import { isTerminal, type SanitizeState, sanitize, widthOf, write } from './output.ts';

/** So narrow that it helps nobody. */
const NARROWEST = 20;
/** Inline code is copied, so it stays in one piece while it is no longer than this. */
const LONGEST_CODE = 40;
/** Between these, a line may end at any place, and the terminal ends it. */
const IDEOGRAPH = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uff60]/u;
const FENCE = /^(?:`{3,}|~{3,})/;
const LIST_MARK = /^(?:[-*+]|\d+[.)])$/;
const INDENT_OF_CODE = 4;
const TAB_COLUMNS = 8;

/** Writes the text of a model in fragments, sanitised (no-escapes in output.ts); `end` adds a final newline if it is missing. */
export class TextPrinter {
  readonly #stream: Writable;
  readonly #wrap: WordWrap | undefined;
  #state: SanitizeState = 'text';
  #midLine = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    if (isTerminal(stream)) this.#wrap = new WordWrap(() => widthOf(stream)); // as-it-is
  }

  async print(fragment: string): Promise<void> {
    const { text, state } = sanitize(fragment, this.#state);
    this.#state = state;
    if (text !== '') this.#midLine = !text.endsWith('\n');
    await write(this.#stream, this.#wrap?.add(text) ?? text);
  }

  async end(): Promise<void> {
    const rest = this.#wrap?.end() ?? '';
    await write(this.#stream, this.#midLine ? `${rest}\n` : rest);
    this.#midLine = false;
  }
}

/** Breaks lines between words. Pure but for what it keeps of the line that is not whole. */
export class WordWrap {
  readonly #width: () => number;
  #column = 0;
  #spaces = '';
  #word = '';
  /** Whether the line has a word already. */
  #hasWord = false;
  /** Whether the rest of the line, or of a word that is longer than a line, goes out as it is. */
  #asItIs: 'no' | 'word' | 'line' = 'no';
  /** The fence of the code that the line stands in. */
  #fence: string | undefined;
  #out = '';

  constructor(width: () => number) {
    this.#width = width;
  }

  /** What can be shown after the next fragment. */
  add(text: string): string {
    const width = this.#width();
    if (width < NARROWEST) return this.end() + text;
    for (const char of text) this.#take(char, width);
    return this.#taken();
  }

  /** What was held back. The next text starts on a new line. */
  end(): string {
    this.#place(this.#width());
    this.#out += this.#spaces;
    this.#startLine();
    this.#fence = undefined;
    return this.#taken();
  }

  #taken(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  #take(char: string, width: number): void {
    if (char === '\n') {
      this.#place(width);
      if (this.#column + this.#spaces.length <= width) this.#out += this.#spaces;
      this.#out += char;
      this.#startLine();
    } else if (this.#asItIs === 'line') this.#out += char;
    else if (char === ' ' || char === '\t') this.#takeSpace(char, width);
    else if (this.#asItIs === 'word') {
      this.#out += char;
      this.#column = columnAt(this.#column + displayWidth(char), width);
    } else {
      if (IDEOGRAPH.test(char)) this.#place(width);
      this.#word += char;
      if (IDEOGRAPH.test(char)) this.#place(width);
      else if (this.#word.length > width) this.#showLong(width);
    }
  }

  #takeSpace(char: string, width: number): void {
    if (this.#isInCode()) {
      this.#word += char;
      return;
    }
    this.#place(width);
    this.#asItIs = this.#asItIs === 'word' ? 'no' : this.#asItIs;
    if (this.#asItIs === 'line') this.#out += char;
    else this.#spaces += char;
  }

  #isInCode(): boolean {
    return this.#word.length < LONGEST_CODE && this.#word.split('`').length % 2 === 0 && !FENCE.test(this.#word);
  }

  /** word-by-word. */
  #showLong(width: number): void {
    this.#place(width);
    if (this.#asItIs === 'no') this.#asItIs = 'word';
  }

  /** Shows the word, on the next line if it does not fit. */
  #place(width: number): void {
    const word = this.#word;
    if (word === '') return;
    this.#word = '';
    if (!this.#hasWord && this.#hasOwnForm(word)) this.#asItIs = 'line';
    const [gap, wide] = [spaceWidth(this.#spaces, this.#column), displayWidth(word)];
    const isIdeograph = this.#spaces === '' && IDEOGRAPH.test(word);
    const isKept = this.#asItIs === 'line' || !this.#hasWord || isIdeograph || this.#column + gap + wide <= width;
    this.#out += isKept ? this.#spaces + word : `\n${word}`;
    const end = isKept ? this.#column + gap + wide : wide;
    this.#column = isIdeograph && end > width ? wide : columnAt(end, width);
    this.#spaces = '';
    this.#hasWord = true;
  }

  /** as-it-is. */
  #hasOwnForm(word: string): boolean {
    const [fence] = FENCE.exec(word) ?? [];
    const open = this.#fence;
    if (open === undefined) {
      this.#fence = fence;
      return fence !== undefined || word.startsWith('|') || (spaceWidth(this.#spaces, 0) >= INDENT_OF_CODE && !LIST_MARK.test(word));
    }
    if (fence === word && fence.startsWith(open)) this.#fence = undefined;
    return true;
  }

  #startLine(): void {
    this.#column = 0;
    this.#spaces = '';
    this.#hasWord = false;
    this.#asItIs = 'no';
  }
}

/** Where a terminal stands that has ended full lines by itself. */
function columnAt(end: number, width: number): number {
  return end > width ? ((end - 1) % width) + 1 : end;
}

function spaceWidth(spaces: string, from: number): number {
  let column = from;
  for (const space of spaces) column = space === '\t' ? (Math.floor(column / TAB_COLUMNS) + 1) * TAB_COLUMNS : column + 1;
  return column - from;
}
