// Markdown that grows: what is settled is never read again, only the open end is. Pure.
//
// settled: a block is settled when a blank line ends it and two more blocks follow.
// grows-at-its-end: the first items of a long list, and the first rows of a long table, are settled, too.
import type { Token } from 'marked';
import { cutOf, itemsOf, withItems } from './growing.ts';
import { Reader } from './lexed.ts';
import { type MdElement, type MdNode, nodesOf } from './nodes.ts';

/** A block of the text: a paragraph, a list, a table. Settled ones stay the same objects. */
export interface Piece {
  readonly nodes: readonly MdNode[];
}

const BLOCKS_BEHIND = 2;

/** The pieces of a text that grows at its end. */
export class Tail {
  #settled: Piece[] = [];
  /** What is read again with every piece. */
  #open = '';
  /** The settled beginning of the list or table that the open text goes on with. */
  #begun: MdElement | undefined;
  readonly #reader = new Reader();
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
    const tokens = this.#reader.read(this.#open);
    const pieces = tokens.map(pieceOf);
    if (this.#begun !== undefined) pieces[0] = continued(this.#begun, pieces[0]);
    const count = settledCount(tokens, this.#open);
    if (count > 0) this.#begun = undefined;
    this.#settled.push(...pieces.slice(0, count).filter(hasNodes));
    this.#open = this.#open.slice(lengthOf(tokens.slice(0, count)));
    this.#openPieces = pieces.slice(count).filter(hasNodes);
    this.#cut(tokens.slice(count), pieces.slice(count));
  }

  /** grows-at-its-end. What stands before a list of several items is settled with them. */
  #cut(tokens: readonly Token[], pieces: readonly Piece[]): void {
    const index = tokens.findIndex((token) => cutOf(token) !== undefined);
    const [token, node] = [tokens[index], pieces[index]?.nodes[0]];
    const cut = token === undefined ? undefined : cutOf(token);
    if (cut === undefined || typeof node !== 'object' || lengthOf(tokens) !== this.#open.length) return;
    const before = pieces.slice(0, index).filter(hasNodes);
    const known = index === 0 && this.#begun !== undefined ? itemsOf(this.#begun).length : 0;
    this.#settled.push(...before);
    this.#openPieces = this.#openPieces.slice(before.length);
    this.#begun = withItems(node, itemsOf(node).slice(0, known + cut.count));
    this.#open = cut.head + this.#open.slice(lengthOf(tokens.slice(0, index)) + cut.end);
  }
}

/** The pieces of a whole text. */
export function piecesOf(text: string): readonly Piece[] {
  return new Reader().read(withNewlines(text)).map(pieceOf).filter(hasNodes);
}

/** What follows the beginning of a list or table, joined to it. */
function continued(begun: MdElement, piece: Piece | undefined): Piece {
  const node = piece?.nodes[0];
  const rest = typeof node === 'object' ? itemsOf(node) : [];
  return { nodes: [withItems(begun, [...itemsOf(begun), ...rest])] };
}

/** settled. Returns how many tokens at the beginning are. */
function settledCount(tokens: readonly Token[], text: string): number {
  if (lengthOf(tokens) !== text.length) return 0;
  const blocks = tokens.flatMap(({ type }, index) => (type === 'space' ? [] : [index]));
  const last = blocks.at(-BLOCKS_BEHIND) ?? 0;
  const first = blocks[0] ?? 0;
  let count = 0;
  let end = 0;
  tokens.slice(0, last).forEach(({ raw }, index) => {
    end += raw.length;
    if (index >= first && endsBlank(text, end) && tokens[index + 1]?.type !== 'space') count = index + 1;
  });
  return count;
}

/** True if an empty line ends there. */
function endsBlank(text: string, end: number): boolean {
  if (text[end - 1] !== '\n') return false;
  let at = end - 2;
  while (text[at] === ' ' || text[at] === '\t') at -= 1;
  return text[at] === '\n';
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
