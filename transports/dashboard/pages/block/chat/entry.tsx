// One entry of the conversation: a message, or an answer.
import { Component } from 'preact';
import { useState } from 'preact/hooks';
import type { ChatEntry } from '../../../../../core/types.ts';
import { clock, fullTime } from '../../../app/format.ts';
import { blockPath } from '../../../app/router.ts';
import { answerFacts, chatText, outcomeText, waitsText } from '../../../app/text.ts';
import type { OpenBlock } from '../../../data/block.ts';
import { Button, Copy, Problem } from '../../../parts/bits.tsx';
import { Mark } from '../../../parts/mark.tsx';
import { Markdown } from '../../../parts/markdown/nodes.tsx';

/** Longer texts are shown in part, and whole on demand. */
const MOST_CHARACTERS = 64 * 1024;

interface EntryProps {
  readonly block: OpenBlock;
  readonly entry: ChatEntry;
  /** Waiting messages before this one. */
  readonly before: number;
}

/** Drawn anew only when its entry is another. */
export class Entry extends Component<EntryProps> {
  override shouldComponentUpdate({ entry, before }: EntryProps): boolean {
    return entry !== this.props.entry || before !== this.props.before;
  }
  override render() {
    const { block, entry, before } = this.props;
    if (entry.role === 'user' && entry.status === 'queued') return <Waiting block={block} entry={entry} before={before} />;
    return <Told block={block} entry={entry} />;
  }
}

function Told({ block, entry }: { readonly block: OpenBlock; readonly entry: ChatEntry }) {
  const isUser = entry.role === 'user';
  const isWell = entry.status === 'done' || entry.status === 'processing';
  const facts = isUser ? [] : answerFacts(entry);
  return (
    <article class={`entry${isUser ? ' user' : ''}`} id={`e-${entry.id}`}>
      <div class="who">
        <b>{isUser ? chatText.you : block.name}</b>
        <time dateTime={entry.timestamp} title={fullTime(entry.timestamp)}>
          {clock(entry.timestamp)}
        </time>
        {isUser && entry.channel !== 'web' && <span class="chip">{entry.channel}</span>}
        {!isWell && <span class="chip warn">{outcomeText(entry.status)}</span>}
        <span class="tools">
          <Copy text={entry.content} label={chatText.copyMarkdown} iconOnly />
          <Copy text={() => `${location.origin}${blockPath(block.name)}?at=${entry.id}`} label={chatText.link} iconOnly />
        </span>
      </div>
      <Text text={entry.content} isPlain={isUser} />
      {entry.error !== undefined && entry.error !== null && (
        <Problem error={new Error(`${entry.error.message} (${entry.error.code})`)}>
          {isUser && <Button label={chatText.retry} small run={() => block.retry(entry.id)} />}
        </Problem>
      )}
      {facts.length > 0 && (
        <div class="facts num">
          {facts.map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </div>
      )}
    </article>
  );
}

function Waiting({ block, entry, before }: EntryProps) {
  return (
    <article class="entry waiting" id={`e-${entry.id}`}>
      <Mark state="stopped" named={false} />
      <span class="grow clip">{entry.content}</span>
      {entry.error !== undefined && entry.error !== null && <span class="warn clip">{entry.error.message}</span>}
      <span class="chip">{waitsText(before)}</span>
      <Button label={chatText.cancel} small kind="quiet" run={() => block.cancel(entry.id)} />
    </article>
  );
}

/** A text that may be very long. */
export function Text({ text, isPlain }: { readonly text: string; readonly isPlain: boolean }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > MOST_CHARACTERS;
  const shown = isCut ? text.slice(0, MOST_CHARACTERS) : text;
  return (
    <div class="prose">
      {isPlain ? <p class="plain">{shown}</p> : <Markdown text={shown} />}
      {isCut && (
        <button type="button" class="btn small" onClick={() => setWhole(true)}>
          {chatText.showAll}
        </button>
      )}
    </div>
  );
}
