// Markdown as nodes: tokens become elements, never HTML. What is not known is shown as it was written.
//
// no-images: an image is its description and its address as text, because loading one would carry the conversation away.
// cut: long code is shown in part, and whole on demand.
import { Lexer, type Token, type Tokens } from 'marked';
import { Component, type ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Copy } from '../bits.tsx';
import { decodeEntities, followable, hiddenHost } from './links.ts';

const MOST_CODE_LINES = 400;
const SHOWN_CODE_LINES = 60;

/** A text as Markdown; drawn anew only when the text is another. */
export class Markdown extends Component<{ readonly text: string }> {
  override shouldComponentUpdate({ text }: { readonly text: string }): boolean {
    return text !== this.props.text;
  }
  override render() {
    return <>{nodesOf(this.props.text)}</>;
  }
}

function nodesOf(text: string): ComponentChildren {
  try {
    return new Lexer({ gfm: true, breaks: true }).lex(text).map(blockNode);
  } catch {
    return <p class="plain">{text}</p>; // nested too deep to be read
  }
}

function blockNode(token: Token, key: number): ComponentChildren {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'hr':
      return <hr key={key} />;
    case 'heading': {
      const { depth, tokens } = token as Tokens.Heading;
      // The page has an h1, and an answer is a part of it.
      return (
        <p key={key} class={`h h${Math.min(depth, 4)}`} role="heading" aria-level={Math.min(depth + 2, 6)}>
          {inline(tokens)}
        </p>
      );
    }
    case 'paragraph':
      return <p key={key}>{inline((token as Tokens.Paragraph).tokens)}</p>;
    case 'text':
      return <span key={key}>{(token as Tokens.Text).tokens === undefined ? decodeEntities(token.raw) : inline((token as Tokens.Text).tokens ?? [])}</span>;
    case 'blockquote':
      return <blockquote key={key}>{(token as Tokens.Blockquote).tokens.map(blockNode)}</blockquote>;
    case 'code':
      return <Code key={key} text={(token as Tokens.Code).text} language={(token as Tokens.Code).lang ?? ''} />;
    case 'list':
      return <List key={key} list={token as Tokens.List} />;
    case 'table':
      return <Table key={key} table={token as Tokens.Table} />;
    default:
      return (
        <p key={key} class="plain">
          {token.raw}
        </p>
      );
  }
}

function List({ list: { ordered, start, items } }: { readonly list: Tokens.List }) {
  const children = items.map(({ tokens, task, checked }, index) => (
    <li key={index} class={task ? 'task' : undefined}>
      {task && <input type="checkbox" checked={checked === true} disabled aria-label={checked === true ? 'done' : 'open'} />}
      {tokens.filter(({ type }) => type !== 'checkbox').map(blockNode)}
    </li>
  ));
  return ordered ? <ol start={start === '' ? 1 : start}>{children}</ol> : <ul>{children}</ul>;
}

function Table({ table: { header, rows, align } }: { readonly table: Tokens.Table }) {
  const shape = (index: number): string | undefined => (align[index] === 'right' ? 'end' : align[index] === 'center' ? 'mid' : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map(({ tokens }, index) => (
              <th key={index} scope="col" class={shape(index)}>
                {inline(tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map(({ tokens }, index) => (
                <td key={index} class={shape(index)}>
                  {inline(tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** cut. */
function Code({ text, language }: { readonly text: string; readonly language: string }) {
  const [isWhole, setWhole] = useState(false);
  const lines = text.split('\n');
  const isCut = !isWhole && lines.length > MOST_CODE_LINES;
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <pre tabIndex={0} role="group" aria-label={language === '' ? 'Code' : `Code, ${language}`}>
        <code>{isCut ? lines.slice(0, SHOWN_CODE_LINES).join('\n') : text}</code>
      </pre>
      <span class="copy">
        <Copy text={text} iconOnly />
      </span>
      {isCut && (
        <button type="button" class="btn small" onClick={() => setWhole(true)}>
          Show all {lines.length.toLocaleString()} lines
        </button>
      )}
    </div>
  );
}

function inline(tokens: readonly Token[] = []): ComponentChildren {
  return tokens.map(inlineNode);
}

function inlineNode(token: Token, key: number): ComponentChildren {
  switch (token.type) {
    case 'strong':
      return <strong key={key}>{inline((token as Tokens.Strong).tokens)}</strong>;
    case 'em':
      return <em key={key}>{inline((token as Tokens.Em).tokens)}</em>;
    case 'del':
      return <s key={key}>{inline((token as Tokens.Del).tokens)}</s>;
    case 'codespan':
      return <code key={key}>{(token as Tokens.Codespan).text}</code>;
    case 'br':
      return <br key={key} />;
    case 'escape':
      return (token as Tokens.Escape).text;
    case 'link':
      return <Link key={key} link={token as Tokens.Link} />;
    case 'image': {
      const { text, href } = token as Tokens.Image; // no-images
      return (
        <span key={key} class="t2">
          [{text === '' ? 'image' : text}: {href}]
        </span>
      );
    }
    case 'text': {
      const { tokens } = token as Tokens.Text;
      return tokens === undefined ? decodeEntities((token as Tokens.Text).text) : inline(tokens);
    }
    default:
      return token.raw;
  }
}

function Link({ link: { href, text, raw, tokens } }: { readonly link: Tokens.Link }) {
  const address = followable(href);
  if (address === undefined) return <>{raw}</>;
  const host = hiddenHost(address, text);
  return (
    <a class="link" href={address} target="_blank" rel="noopener noreferrer nofollow">
      {inline(tokens)}
      {host !== undefined && <span class="host"> ({host})</span>}
    </a>
  );
}
