// One entry of the chat: a message or an answer.
import { Component, type ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ChatEntry } from '../../../../../core/types.ts';
import { clock, duration, fullTime, usd } from '../../../base/format.ts';
import { retryMessage } from '../../../data/blocks.ts';
import type { Versions } from '../../../data/entries.ts';
import type { OpenBlock } from '../../../data/open-block.ts';
import { blockPath } from '../../../data/route.ts';
import { beginningOf } from '../../../parts/markdown/cut.ts';
import { Markdown } from '../../../parts/markdown/markdown.tsx';
import { type Choice, Menu } from '../../../parts/menu.tsx';
import { Button, Copy } from '../../../parts/widgets.tsx';
import { chatText, inText, outcomeText, outText, restText, senderText, stopText, timesText } from '../../../text/block.ts';
import { type Askable, askAsIs, editAgain, VersionSwitch } from './again.tsx';
import { Run, Running, Waits } from './run.tsx';
import { WritingFacts, WritingWho } from './writing.tsx';

interface EntryProps {
  readonly open: OpenBlock;
  /** Undefined for the reply that is being written, which becomes its entry in the same place. */
  readonly entry: ChatEntry | undefined;
  readonly isLinked: boolean;
  /** Of a message that was asked again. */
  readonly versions?: Versions | undefined;
  /** Set on the last message and its answers, if it can be asked again. */
  readonly askable?: Askable | undefined;
}

/** An entry; drawn again only when it has changed. */
export class EntryView extends Component<EntryProps> {
  override shouldComponentUpdate(next: EntryProps): boolean {
    const { entry, isLinked, versions, askable } = this.props;
    if (next.entry !== entry || next.isLinked !== isLinked || next.askable?.id !== askable?.id || next.askable?.shown !== askable?.shown) return true;
    return next.versions?.at !== versions?.at || next.versions?.ids.length !== versions?.ids.length || next.versions?.isSeen !== versions?.isSeen;
  }
  override render() {
    const { entry } = this.props;
    return entry?.role === 'user' ? <Message {...this.props} entry={entry} /> : <Answer {...this.props} />;
  }
}

function Message({ open, entry, isLinked, versions, askable }: EntryProps & { readonly entry: ChatEntry }) {
  const { id, status, content } = entry;
  const isFailed = status === 'failed' || status === 'cancelled' || status === 'expired';
  return (
    <article class={`m u ${isLinked ? 'linked' : ''}`} id={`entry-${id}`} data-line data-entry={id} data-failed={isFailed ? '' : undefined} tabIndex={-1}>
      <Who block={open.name} entry={entry} askable={askable}>
        {versions !== undefined && <VersionSwitch open={open} versions={versions} />}
      </Who>
      <Plain text={content} />
      {status === 'waiting-approval' && <Waits entry={entry} />}
      {status === 'processing' && <Running open={open} messageId={id} />}
      <Outcome entry={entry}>{isFailed && <Button label={chatText.retry} icon="restart" small run={() => retryMessage(open.name, id)} />}</Outcome>
    </article>
  );
}

/** An answer, also while it is written: then it alone is drawn again with each piece. */
function Answer({ open, entry, isLinked, askable }: EntryProps) {
  const reply = entry === undefined ? open.reply.value : undefined;
  const isWriting = reply?.phase === 'writing';
  const id = entry?.id;
  return (
    <article
      class={`m ${isLinked ? 'linked' : ''}`}
      id={id === undefined ? undefined : `entry-${id}`}
      data-line
      data-entry={id}
      data-live={isWriting ? '' : undefined}
      aria-busy={isWriting}
      tabIndex={-1}
    >
      {entry === undefined ? <WritingWho block={open.name} reply={reply} /> : <Who block={open.name} entry={entry} askable={askable} />}
      <Markdown source={entry?.content ?? reply?.text ?? ''} />
      {entry === undefined ? <WritingFacts block={open.name} reply={reply} /> : <Outcome entry={entry} />}
      {entry !== undefined && <Run block={open.name} entry={entry} />}
      {entry !== undefined && <Facts entry={entry} />}
    </article>
  );
}

function Outcome({ entry: { status, error }, children }: { readonly entry: ChatEntry; readonly children?: ComponentChildren }) {
  if (status === 'done' || status === 'processing' || status === 'waiting-approval') return null;
  return (
    <div class={`row wrap outcome ${status === 'failed' ? 'bad' : 't2'}`}>
      <span class="grow break">{error?.message ?? outcomeText(status)}</span>
      {error !== null && error !== undefined && <span class="num t3">{error.code}</span>}
      {children}
    </div>
  );
}

interface WhoProps {
  readonly block: string;
  readonly entry: ChatEntry;
  readonly askable: Askable | undefined;
  readonly children?: ComponentChildren;
}

function Who({ block, entry, askable, children }: WhoProps) {
  const { id, role, channel, timestamp, content } = entry;
  const copy = (text: string) => (): Promise<void> => navigator.clipboard.writeText(text);
  const isQuestion = role === 'user';
  return (
    <div class="who">
      <h2 class="clip">{isQuestion ? senderText(entry) : block}</h2>
      <time dateTime={timestamp} title={fullTime(timestamp)}>
        {clock(timestamp)}
      </time>
      {channel !== 'web' && <span class="chip">{channel}</span>}
      {children}
      <span class={`row tools ${askable === undefined ? '' : 'shown'}`}>
        {askable !== undefined && isQuestion && <Button label={chatText.editAgain} icon="edit" iconOnly kind="quiet" small run={() => editAgain(askable)} />}
        {askable !== undefined && !isQuestion && <Button label={chatText.askAgain} icon="restart" iconOnly kind="quiet" small run={() => askAsIs(askable)} />}
        <Copy text={content} label={chatText.copyMarkdown} iconOnly />
        <Menu
          label={chatText.more}
          small
          choices={[
            ...againChoices(askable),
            { label: chatText.copyText, icon: 'copy', run: () => copy(plainText(id, content))() },
            { label: chatText.copyMarkdown, icon: 'copy', run: copy(content) },
            { label: chatText.copyLink, icon: 'link', run: copy(`${location.origin}${blockPath(block, 'chat', { at: id })}`) },
          ]}
        />
      </span>
    </div>
  );
}

function againChoices(askable: Askable | undefined): readonly Choice[] {
  if (askable === undefined) return [];
  return [
    { label: chatText.askAgain, icon: 'restart', run: () => askAsIs(askable) },
    { label: chatText.editAgain, icon: 'edit', keys: 'e', run: () => editAgain(askable) },
    { label: chatText.askOther, icon: 'gateway', run: () => editAgain(askable, true) },
  ];
}

/** The text as it is shown, without its marks. */
function plainText(id: string, markdown: string): string {
  return document.getElementById(`entry-${id}`)?.querySelector<HTMLElement>('.prose')?.innerText ?? markdown;
}

/** A message as it was typed; a long one is cut. */
export function Plain({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : beginningOf(text);
  return (
    <div class="prose typed" dir="auto">
      {shown}
      {shown.length < text.length && (
        <p class="row rest">
          <span class="t3 sm">{restText(text.length - shown.length)}</span>
          <Button label={chatText.showAll} small run={() => setWhole(true)} />
        </p>
      )}
    </div>
  );
}

function Facts({ entry }: { readonly entry: ChatEntry }) {
  const { provider, model, usage, costUsd, ttftMs, latencyMs, stopReason } = entry;
  const first = ttftMs === null || ttftMs === undefined ? undefined : duration(ttftMs);
  const whole = latencyMs === null || latencyMs === undefined ? undefined : duration(latencyMs);
  const facts = [
    model,
    provider === model ? undefined : provider,
    usage === null || usage === undefined ? undefined : inText(usage.inputTokens),
    usage === null || usage === undefined ? undefined : outText(usage.outputTokens),
    costUsd === null || costUsd === undefined ? undefined : usd(costUsd),
    timesText(first, whole) || undefined,
    stopText(stopReason),
  ].filter((fact) => fact !== undefined);
  if (facts.length === 0) return null;
  return (
    <div class="meta num">
      {facts.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
    </div>
  );
}
