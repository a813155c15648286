// The tokens of markdown. Pure.
//
// no-references: `[text][1]` with its address elsewhere is shown as it was written, because a later line would change what is settled.
// never-throws: a text that the lexer can't take is one paragraph of plain text.
// in-parts: a paragraph that is long, or has very many marks, is read in parts, because each mark that nothing closes costs the rest of its part. A mark that
// spans two parts is shown as it was written.
// short-headings: a line of `===` or `---` makes a heading of the lines above it only within HEADING_CHARACTERS, because each line of an item looks for one.
// short-quotes: a longer quote is shown as several, because each of its lines without a mark costs all lines that follow.
// head-first: the rows of a table are read only if its head is one: lines that look like heads would each cost all lines that follow.
import { Lexer, type Token, Tokenizer } from 'marked';

/** Lines that nest deeper would exhaust the lexer. */
const TANGLED = /^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*){64}/m;
const HEAD = /^[^\n]*\n[^\n]*\n?/;
const HEADING_CHARACTERS = 512;
const QUOTE_CHARACTERS = 8192;
const PART_CHARACTERS = 4096;
/** More than any paragraph that is meant to be read. */
const PART_MARKS = 256;
const MARKS: ReadonlySet<string> = new Set('*_~`[@&');

const tokenizer = new Tokenizer();
tokenizer.def = () => undefined; // no-references
tokenizer.reflink = () => undefined;
const readTable = tokenizer.table.bind(tokenizer);
tokenizer.table = (src) => (readTable(HEAD.exec(src)?.[0] ?? '') === undefined ? undefined : readTable(src)); // head-first
const readHeading = tokenizer.lheading.bind(tokenizer);
tokenizer.lheading = (src) => readHeading(linesWithin(src, HEADING_CHARACTERS)); // short-headings
const readQuote = tokenizer.blockquote.bind(tokenizer);
tokenizer.blockquote = (src) => readQuote(linesWithin(src, QUOTE_CHARACTERS)); // short-quotes

/** The whole lines at the beginning that have at most so many characters, or the first line. */
function linesWithin(src: string, most: number): string {
  if (src.length <= most) return src;
  const end = src.lastIndexOf('\n', most - 1);
  return src.slice(0, (end === -1 ? src.indexOf('\n') : end) + 1) || src;
}

/** A part of a long paragraph. */
interface Part {
  readonly type: 'part';
  readonly raw: string;
  readonly tokens: readonly Token[];
}

/** Reads texts that have much in common with the last one: parts that it had are not read again. */
export class Reader {
  #known: ReadonlyMap<string, Part> = new Map();

  /** The blocks of a text, whose `raw` is the text again. */
  read(text: string): readonly Token[] {
    const plain = { type: 'paragraph', raw: text, text, tokens: [{ type: 'escape', raw: text, text }] };
    if (TANGLED.test(text)) return [plain]; // never-throws
    try {
      return this.#lexed(text);
    } catch {
      return [plain];
    }
  }

  #lexed(text: string): readonly Token[] {
    const lexer = new Lexer({ gfm: true, tokenizer });
    const blocks = lexer.blockTokens(text, lexer.tokens);
    const read = new Map<string, Part>();
    for (const { src, tokens } of lexer.inlineQueue) {
      if (endOfPart(src, 0) === src.length) {
        lexer.inlineTokens(src, tokens);
        continue;
      }
      for (const raw of partsOf(src)) {
        const part = this.#known.get(raw) ?? read.get(raw) ?? { type: 'part', raw, tokens: lexer.inlineTokens(raw, []) };
        read.set(raw, part);
        tokens.push(part as unknown as Token);
      }
    }
    this.#known = read;
    return blocks;
  }
}

/** in-parts. A part ends after white space if it has any. All parts except the last stay the same while the text grows. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  for (let end = endOfPart(text, start); end < text.length; end = endOfPart(text, start)) {
    const whole = text.slice(start, end).replace(/[\ud800-\udbff]$/, ''); // no half of a pair
    const part = whole.slice(0, whole.search(/\s\S*$/) + 1) || whole;
    parts.push(part);
    start += part.length;
  }
  parts.push(text.slice(start));
  return parts;
}

/** Where the part that begins here ends at the latest. */
function endOfPart(text: string, start: number): number {
  const end = Math.min(text.length, start + PART_CHARACTERS);
  let marks = 0;
  for (let at = start; at < end; at += 1) {
    if (MARKS.has(text[at] ?? '')) marks += 1;
    if (marks > PART_MARKS) return at;
  }
  return end;
}
