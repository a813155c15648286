// Draws markdown. A text that grows keeps every node that is settled.
import { Component, type ComponentChildren, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { chatText, restLinesText, restText } from '../../text/block.ts';
import { Button, Copy } from '../widgets.tsx';
import { beginningOf, linesOf, MAX_CHARACTERS, steadyPieces } from './cut.ts';
import type { MdElement, MdNode } from './nodes.ts';
import { type Piece, Tail } from './tail.ts';

/** A text of a model. A long one is cut; all of it comes in parts, so that the page answers keys meanwhile. */
export function Markdown({ source }: { readonly source: string }) {
  const [isWhole, setWhole] = useState(false);
  const [most, setMost] = useState(MAX_CHARACTERS);
  const shown = beginningOf(source, most);
  const pieces = useTail(shown);
  useEffect(() => {
    if (!isWhole || shown.length === source.length) return;
    const timer = setTimeout(() => setMost(most + MAX_CHARACTERS), 0);
    return () => clearTimeout(timer);
  }, [isWhole, most, source]);
  return (
    <div class="prose">
      {partsOf(pieces).map((part, index) => (
        <Part key={index} pieces={part} />
      ))}
      {shown.length < source.length && (
        <p class="row rest">
          <span class="t3 sm">{restText(source.length - shown.length)}</span>
          <Button label={chatText.showAll} small run={() => setWhole(true)} />
        </p>
      )}
    </div>
  );
}

/** So many blocks are laid out, or left out, together: a block that each frame had to look at would make the end of a long answer dear. */
const PART_BLOCKS = 16;

function partsOf(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  return Array.from({ length: Math.ceil(pieces.length / PART_BLOCKS) }, (_, index) => pieces.slice(index * PART_BLOCKS, (index + 1) * PART_BLOCKS));
}

/** The pieces of a text; a text that has only grown is not read again. */
function useTail(source: string): readonly Piece[] {
  const last = useRef<{ source: string; tail: Tail; pieces: readonly Piece[] } | undefined>(undefined);
  const before = last.current;
  if (before?.source === source) return before.pieces;
  const isGrown = before !== undefined && source.startsWith(before.source);
  const tail = isGrown ? before.tail : new Tail();
  tail.push(isGrown ? source.slice(before.source.length) : source);
  last.current = { source, tail, pieces: tail.pieces };
  return last.current.pieces;
}

/** A paragraph, an item or a row: drawn again only when it has changed. */
class Steady extends Component<{ readonly node: MdElement }> {
  override shouldComponentUpdate({ node }: { readonly node: MdElement }): boolean {
    const before = this.props.node;
    if (node === before) return false;
    return node.tag !== before.tag || node.children.length !== before.children.length || node.children.some((child, at) => child !== before.children[at]);
  }
  override render() {
    const { node } = this.props;
    return h(node.tag, OWN_WAY.has(node.tag) ? { dir: 'auto' } : null, ...drawn(node));
  }
}

const STEADY: ReadonlySet<MdElement['tag']> = new Set(['p', 'li', 'tr']);
/** What reads from right to left if its first letter does. */
const OWN_WAY: ReadonlySet<MdElement['tag']> = new Set(['p', 'ul', 'ol', 'blockquote', 'table']);
/** All are of one level below that of the message, since a text may begin with any and leave some out; they only look different. */
const HEADINGS: ReadonlySet<MdElement['tag']> = new Set(['h3', 'h4', 'h5', 'h6']);

/** Some blocks of the text; drawn again only when one of them has changed. */
class Part extends Component<{ readonly pieces: readonly Piece[] }> {
  override shouldComponentUpdate({ pieces }: { readonly pieces: readonly Piece[] }): boolean {
    const before = this.props.pieces;
    return pieces.length !== before.length || pieces.some((piece, at) => piece !== before[at]);
  }
  override render() {
    return (
      <div class="part">
        {this.props.pieces.map((piece, index) => (
          <Block key={index} piece={piece} />
        ))}
      </div>
    );
  }
}

/** One block of the text; a settled one is never drawn again. */
class Block extends Component<{ readonly piece: Piece }> {
  override shouldComponentUpdate(next: { readonly piece: Piece }): boolean {
    return next.piece !== this.props.piece;
  }
  override render() {
    return <>{this.props.piece.nodes.map(draw)}</>;
  }
}

function draw(node: MdNode): ComponentChildren {
  if (typeof node === 'string') return <>{steadyPieces(node)}</>;
  if (node.tag === 'pre') return <Code code={String(node.children[0] ?? '')} language={node.language} isClosed={node.isClosed === true} />;
  if (node.tag === 'table') return <div class="scroll table">{h('table', null, ...drawn(node))}</div>;
  if (node.tag === 'a')
    return (
      <a class="link" href={node.href ?? ''} target="_blank" rel="noopener noreferrer nofollow">
        {drawn(node)}
      </a>
    );
  if (STEADY.has(node.tag)) return <Steady node={node} />;
  if (HEADINGS.has(node.tag)) return h('h3', { class: node.tag, dir: 'auto' }, ...drawn(node));
  const props = {
    ...(OWN_WAY.has(node.tag) && { dir: 'auto' }),
    ...(node.start !== undefined && { start: node.start }),
    ...(node.align !== undefined && { class: `to-${node.align}` }),
  };
  return h(node.tag, props, ...drawn(node));
}

function drawn({ children }: MdElement): readonly ComponentChildren[] {
  return children.map(draw);
}

interface CodeProps {
  readonly code: string;
  readonly language: string | undefined;
  readonly isClosed: boolean;
}

/** A block of code with its language and a button that copies it. */
function Code({ code, language = '', isClosed }: CodeProps) {
  const [isWhole, setWhole] = useState(false);
  const element = useRef<HTMLElement>(null);
  const shown = isWhole ? code : linesOf(code);
  const isColoured = isClosed && shown.length <= MAX_CHARACTERS && COLOURED.test(language);
  useEffect(() => (isColoured && element.current !== null ? coloured(element.current, language) : undefined), [isColoured && shown, language]);
  return (
    <div class="code">
      <div class="code-head">
        <span class="xs t3">{language}</span>
        <Copy text={code} label={chatText.copyCode} iconOnly />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: code that is wider than the page is scrolled by keys */}
      <pre tabIndex={0}>
        <code ref={element}>{steadyPieces(shown)}</code>
      </pre>
      {shown.length < code.length && (
        <p class="row rest">
          <span class="t3 sm">{restLinesText(code.slice(shown.length + 1).split('\n').length)}</span>
          <Button label={chatText.showAll} small run={() => setWhole(true)} />
        </p>
      )}
    </div>
  );
}

/** The languages with colours. */
const COLOURED = /^([cm]?[jt]sx?|(java|type)script|py(thon)?|bash|sh|zsh|shell|console|json[c5]?|html|xml|svg|s?css|less|sql|go(lang)?|ya?ml)$/i;

/** Colours come when their code is there; without it, the text stays plain. */
function coloured(element: Element, language: string): () => void {
  let undo: (() => void) | undefined;
  let isGone = false;
  import('./colours.ts').then(
    ({ colour }) => {
      if (!isGone) undo = colour(element, language);
    },
    () => undefined,
  );
  return () => {
    isGone = true;
    undo?.();
  };
}
