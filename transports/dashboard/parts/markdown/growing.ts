// A list or a table that is still growing: its first items are settled long before its end is known. Pure.
//
// one-by-one: reading begins anew at the end of the last settled item, so that later text can't change settled items.
import type { Token, Tokens } from 'marked';
import type { MdElement, MdNode } from './nodes.ts';

/** The last items are read again with every piece: what follows may still belong to them. */
const OPEN_ITEMS = 2;
/** The fewest items that are settled at once. */
const MIN_ITEMS = 8;

/** Where a text can be cut, and what has to be read again. */
export interface Cut {
  /** Characters up to which nothing changes any more. */
  readonly end: number;
  /** What stands before the rest when it is read: the head of a table. */
  readonly head: string;
  /** Items that are settled. */
  readonly count: number;
}

/** Where a list or a table can be cut; undefined while it is short, and for every other token. */
export function cutOf(token: Token): Cut | undefined {
  if (token.type === 'list') return cutList((token as Tokens.List).items);
  return token.type === 'table' ? cutTable(token as Tokens.Table) : undefined;
}

function cutList(items: readonly Tokens.ListItem[]): Cut | undefined {
  const count = items.length - OPEN_ITEMS;
  if (count < MIN_ITEMS) return undefined;
  return { end: items.slice(0, count).reduce((sum, { raw }) => sum + raw.length, 0), head: '', count };
}

function cutTable({ raw, rows }: Tokens.Table): Cut | undefined {
  const count = rows.length - OPEN_ITEMS;
  if (count < MIN_ITEMS) return undefined;
  const lines = raw.split('\n').map((line) => `${line}\n`);
  return { end: lines.slice(0, 2 + count).join('').length, head: lines.slice(0, 2).join(''), count };
}

/** The items of a list, the rows of a table. */
export function itemsOf({ tag, children }: MdElement): readonly MdNode[] {
  return tag === 'table' ? (children[1] as MdElement).children : children;
}

/** The same list or table with other items. */
export function withItems(node: MdElement, items: readonly MdNode[]): MdElement {
  if (node.tag !== 'table') return { ...node, children: items };
  const [head, body] = node.children as readonly [MdElement, MdElement];
  return { ...node, children: [head, { ...body, children: items }] };
}
