// Markdown that grows: what is settled is never read again, only the open end is. Pure.
//
// settled: a block is settled when a blank line ends it and two more blocks stand behind it.
// no-references: `[text][1]` with its address elsewhere is shown as it was written, because a later line would change what is settled.
// never-throws: a text that the lexer can't take is one paragraph of plain text.
import { Lexer, type Token, Tokenizer } from 'marked';
import { type MdNode, nodesOf } from './nodes.ts';

/** A block of the text: a paragraph, a list, a table. Settled ones stay the same objects. */
export interface Piece {
  readonly nodes: readonly MdNode[];
}

/** Lines that nest deeper would exhaust the lexer. */
const TANGLED = /^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*){64}/m;
const BLOCKS_BEHIND = 2;

const tokenizer = new Tokenizer();
tokenizer.def = () => undefined; // no-references
tokenizer.reflink = () => undefined;

/** The pieces of a text that grows at its end. */
export class Tail {
  #settled: Piece[] = [];
  #open = '';
  #openPieces: readonly Piece[] = [];
  /** A carriage return at the end may be the first half of a line end. */
  #held = '';

  /** How many pieces of `pieces` stay as they are. */
  get settled(): number {
    return this.#settled.length;
  }

  get pieces(): readonly Piece[] {
    return [...this.#settled, ...this.#openPieces];
  }

  /** Adds text at the end. */
  push(text: string): void {
    const whole = this.#held + text;
    this.#held = whole.endsWith('\r') ? '\r' : '';
    this.#open += withNewlines(this.#held === '' ? whole : whole.slice(0, -1));
    const tokens = lexed(this.#open);
    const count = settledCount(tokens, this.#open);
    const pieces = tokens.map(pieceOf);
    this.#settled.push(...pieces.slice(0, count).filter(hasNodes));
    this.#open = this.#open.slice(lengthOf(tokens.slice(0, count)));
    this.#openPieces = pieces.slice(count).filter(hasNodes);
  }
}

/** The pieces of a whole text. */
export function piecesOf(text: string): readonly Piece[] {
  return lexed(withNewlines(text)).map(pieceOf).filter(hasNodes);
}

function lexed(text: string): readonly Token[] {
  const plain = { type: 'paragraph', raw: text, text, tokens: [{ type: 'escape', raw: text, text }] };
  if (TANGLED.test(text)) return [plain]; // never-throws
  try {
    return new Lexer({ gfm: true, tokenizer }).lex(text);
  } catch {
    return [plain];
  }
}

/** settled. Returns how many tokens at the beginning are. */
function settledCount(tokens: readonly Token[], text: string): number {
  if (lengthOf(tokens) !== text.length) return 0;
  const blocks = tokens.flatMap(({ type }, index) => (type === 'space' ? [] : [index]));
  for (let at = blocks.length - BLOCKS_BEHIND; at > 0; at -= 1) {
    const index = blocks[at] ?? 0;
    if (/\n[ \t]*\n$/.test(text.slice(0, lengthOf(tokens.slice(0, index))))) return index;
  }
  return 0;
}

function lengthOf(tokens: readonly Token[]): number {
  return tokens.reduce((sum, { raw }) => sum + raw.length, 0);
}

function withNewlines(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

function pieceOf(token: Token): Piece {
  return { nodes: nodesOf(token) };
}

function hasNodes({ nodes }: Piece): boolean {
  return nodes.length > 0;
}
