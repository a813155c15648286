// Markdown tokens as plain nodes: no HTML, no image, no address that could run something. Pure.
//
// html-is-text: markup in the text is shown as it was written.
// items-stand-alone: an item of a list does not change when a blank line sets off a later one.
// place-as-it-is: letters of a model that turn the direction of the text leave the place of a link readable from its front.
// no-image: an image would carry the conversation to its address; its description and address are shown instead.
import type { Token, Tokens } from 'marked';
import { safeLink } from './links.ts';

/** A node to draw. */
export type MdNode = string | MdElement;
type TextTag = 'p' | 'h3' | 'h4' | 'h5' | 'h6' | 'strong' | 'em' | 'del' | 'bdi' | 'code' | 'br' | 'a' | 'pre' | 'blockquote' | 'hr';
type ItemTag = 'ul' | 'ol' | 'li' | 'table' | 'thead' | 'tbody' | 'tr' | 'th' | 'td';
export interface MdElement {
  readonly tag: TextTag | ItemTag;
  readonly href?: string;
  readonly language?: string;
  /** Of code whose end has come. */
  readonly isClosed?: true;
  readonly start?: number;
  readonly align?: 'left' | 'center' | 'right';
  readonly children: readonly MdNode[];
}

/** Deeper than this, the text is shown as it was written. */
const DEEPEST = 24;
/** A paragraph of more parts is shown as several. */
const PARAGRAPH_PARTS = 16;
const FENCE_AT_END = /\n {0,3}(?:`{3,}|~{3,})[ \t]*\n*$/;
const HEADINGS = ['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const;

/** The nodes of a token; none for space. */
export function nodesOf(token: Token, depth = 0): readonly MdNode[] {
  if (depth > DEEPEST) return [token.raw];
  const make = MAKERS[token.type];
  return make === undefined ? [token.raw] : make(token, depth);
}

type Maker = (token: Token, depth: number) => readonly MdNode[];

const MAKERS: Readonly<Record<string, Maker>> = {
  space: () => [],
  paragraph: (token, depth) => paragraphsOf(token).map((each) => element('p', inner(each, depth))),
  part: (token, depth) => inner(token, depth),
  heading: (token, depth) => [element(HEADINGS[(token as Tokens.Heading).depth - 1] ?? 'h6', inner(token, depth))],
  blockquote: (token, depth) => [element('blockquote', inner(token, depth))],
  hr: () => [element('hr', [])],
  code(token) {
    const { text, lang, raw } = token as Tokens.Code;
    const language = lang?.match(/^\S+/)?.[0];
    return [{ tag: 'pre', ...(language !== undefined && { language }), ...(FENCE_AT_END.test(raw) && { isClosed: true }), children: [text] }];
  },
  list(token, depth) {
    const { ordered, start, items } = token as Tokens.List;
    const children = items.map((item) => element('li', itemOf(item, depth)));
    return [{ tag: ordered ? 'ol' : 'ul', ...(ordered && start !== '' && start !== 1 && { start }), children }];
  },
  table: (token, depth) => [tableOf(token as Tokens.Table, depth)],
  text: (token, depth) => ('tokens' in token && token.tokens !== undefined ? inner(token, depth) : [decoded((token as Tokens.Text).text)]),
  escape: ({ raw, text }: Token & { readonly text?: string }) => [text === '(' || text === ')' ? raw : (text ?? raw)], // `\(x\)` is a formula
  strong: (token, depth) => [element('strong', inner(token, depth))],
  em: (token, depth) => [element('em', inner(token, depth))],
  del: (token, depth) => [element('del', inner(token, depth))],
  codespan: (token) => [element('code', [(token as Tokens.Codespan).text])],
  br: () => [element('br', [])],
  checkbox: (token) => [(token as Tokens.Checkbox).checked ? '☑ ' : '☐ '],
  link(token, depth) {
    const { href, text, raw } = token as Tokens.Link;
    const link = safeLink(href, text);
    if (link === undefined) return [raw];
    const children = link.hidden === undefined ? [] : [' ', element('bdi', [`(${link.hidden})`])]; // place-as-it-is
    return [{ tag: 'a', href: link.href, children: inner(token, depth) }, ...children];
  },
  image(token) {
    const { href, text } = token as Tokens.Image; // no-image
    return [text === '' ? href : `${text} (${href})`];
  },
  html: ({ raw }) => (/^<br\s*\/?>$/i.test(raw.trim()) ? [element('br', [])] : [raw]), // html-is-text
};

/** A very long paragraph as several, because the browser lays out each alone; any other paragraph as it is. */
function paragraphsOf(token: Token): readonly Token[] {
  const { tokens = [] } = token as Tokens.Paragraph;
  if (tokens.length <= PARAGRAPH_PARTS || tokens.some(({ type }) => type !== 'part')) return [token];
  return Array.from({ length: Math.ceil(tokens.length / PARAGRAPH_PARTS) }, (_, index) => {
    const own = tokens.slice(index * PARAGRAPH_PARTS, (index + 1) * PARAGRAPH_PARTS);
    return { ...token, tokens: own } as Token;
  });
}

/** items-stand-alone: the first text of an item stands without a paragraph; each later text has one. */
function itemOf({ tokens }: Tokens.ListItem, depth: number): readonly MdNode[] {
  const first = tokens.findIndex(({ type }) => type === 'text' || type === 'paragraph');
  const isAhead = first === 0 || (first === 1 && tokens[0]?.type === 'checkbox');
  return joined(
    tokens.flatMap((token, index) => {
      if (token.type !== 'text' && token.type !== 'paragraph') return nodesOf(token, depth + 1);
      return isAhead && index === first ? inner(token, depth + 1) : nodesOf({ ...token, type: 'paragraph' } as Token, depth + 1);
    }),
  );
}

function tableOf({ header, rows, align }: Tokens.Table, depth: number): MdElement {
  const row = (cells: readonly Tokens.TableCell[], tag: 'th' | 'td'): MdElement =>
    element(
      'tr',
      cells.map((cell, index) => {
        const side = align[index];
        return { tag, ...(side !== null && side !== undefined && { align: side }), children: all(cell.tokens, depth) };
      }),
    );
  return element('table', [
    element('thead', [row(header, 'th')]),
    element(
      'tbody',
      rows.map((cells) => row(cells, 'td')),
    ),
  ]);
}

function element(tag: MdElement['tag'], children: readonly MdNode[]): MdElement {
  return { tag, children };
}

function inner(token: Token, depth: number): readonly MdNode[] {
  return 'tokens' in token && token.tokens !== undefined ? all(token.tokens, depth) : [token.raw];
}

/** The nodes of several tokens; texts beside each other become one. */
function all(tokens: readonly Token[], depth: number): readonly MdNode[] {
  return joined(tokens.flatMap((token) => nodesOf(token, depth + 1)));
}

function joined(list: readonly MdNode[]): readonly MdNode[] {
  const nodes: MdNode[] = [];
  for (const node of list) {
    const last = nodes.at(-1);
    if (typeof node === 'string' && typeof last === 'string') nodes[nodes.length - 1] = last + node;
    else nodes.push(node);
  }
  return nodes;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Entities that models write; any other stays as it is. */
function decoded(text: string): string {
  return text.replace(/&(?:([a-z]{2,4})|#(\d{1,7})|#x([\da-f]{1,6}));/gi, (whole, name?: string, decimal?: string, hex?: string) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? whole) : whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10_ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}
