// The conversation with a block, as it goes on.

import { effect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { ChatEntry } from '../../../../../core/types.ts';
import { announce } from '../../../app/announce.ts';
import { dayName } from '../../../app/format.ts';
import { useKeys } from '../../../app/keys.ts';
import { pathOf, route } from '../../../app/router.ts';
import { chatText, heard } from '../../../app/text.ts';
import { tellFailure } from '../../../app/toast.ts';
import { OpenBlock, type Sending } from '../../../data/block.ts';
import { now } from '../../../data/clock.ts';
import { readAloud } from '../../../data/settings.ts';
import { Button, Empty, Problem } from '../../../parts/bits.tsx';
import { Icon } from '../../../parts/icon.tsx';
import type { TabProps } from '../block.tsx';
import { Composer } from './composer.tsx';
import { Entry, Text } from './entry.tsx';
import { Following } from './following.ts';
import { Rail } from './rail.tsx';
import { WritingReply } from './writing.tsx';

/** Older entries are read when the reader comes so near to the beginning. */
const READ_OLDER_PX = 400;

/** The tab. */
export function Chat({ name }: TabProps) {
  const block = useMemo(() => new OpenBlock(name), [name]);
  const following = useMemo(() => new Following(), [name]);
  useEffect(() => block.open(), [block]);
  useEffect(() => effect(() => tellListeners(block)), [block]);
  useKeys(
    [
      {
        keys: 'Escape',
        does: chatText.stopReply,
        run: () => {
          const writing = block.writing.peek();
          if (writing !== undefined && !writing.isDone) void block.cancel(writing.id).catch(tellFailure);
        },
      },
      {
        keys: 'r',
        does: chatText.retry,
        run: () => {
          const failed = block.entries.peek().findLast(({ role, status }) => role === 'user' && status === 'failed');
          if (failed !== undefined) void block.retry(failed.id).catch(tellFailure);
        },
      },
    ],
    [block],
  );
  if (block.isGone.value)
    return (
      <Empty text={chatText.gone}>
        <a class="btn" href={pathOf('archive')}>
          {chatText.toArchive}
        </a>
      </Empty>
    );
  return (
    <div class="chat-page">
      <section class="chat" aria-label="Chat">
        {block.failure.value !== undefined && <Problem error={block.failure.value} />}
        <Log block={block} following={following} />
        <Composer block={block} sent={() => following.toEnd()} />
      </section>
      <Rail block={block} />
    </div>
  );
}

function Log({ block, following }: { readonly block: OpenBlock; readonly following: Following }) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isReading = useRef(false);
  useEffect(() => {
    if (scroller.current === null || content.current === null) return;
    return following.watch(scroller.current, content.current);
  }, [following, block.isRead.value]);
  useEffect(() => {
    if (block.isRead.value) void showLinked(block);
  }, [block.isRead.value]);
  const older = async (): Promise<void> => {
    if (isReading.current || !block.hasOlder.peek() || (scroller.current?.scrollTop ?? 0) > READ_OLDER_PX) return;
    isReading.current = true;
    const before = scroller.current?.scrollHeight ?? 0;
    try {
      await block.readOlder();
      requestAnimationFrame(() => {
        if (scroller.current !== null) scroller.current.scrollTop += scroller.current.scrollHeight - before;
      });
    } catch (error) {
      tellFailure(error);
    } finally {
      isReading.current = false;
    }
  };
  const entries = block.entries.value;
  const waiting = entries.filter(({ role, status }) => role === 'user' && status === 'queued').map(({ id }) => id);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <div ref={scroller} class="log" role="log" aria-live="off" aria-label="Conversation" tabIndex={0} onScroll={() => void older()}>
      <div ref={content} class="log-content">
        {!block.isRead.value && block.failure.value === undefined && <p class="empty">{chatText.reading}</p>}
        {block.isRead.value && entries.length === 0 && block.sending.value.length === 0 && <Empty text={chatText.empty} />}
        {entries.map((entry, index) => [
          isNewDay(entry, entries[index - 1]) && (
            <p key={`day ${entry.id}`} class="day">
              {dayName(entry.timestamp, now.peek())}
            </p>
          ),
          entry.role === 'user' && entry.status === 'queued' && block.writing.value !== undefined && waiting[0] === entry.id && (
            <WritingReply key="writing" block={block} />
          ),
          <Entry key={entry.id} block={block} entry={entry} before={Math.max(0, waiting.indexOf(entry.id))} />,
        ])}
        {waiting.length === 0 && <WritingReply key="writing" block={block} />}
        {block.sending.value.map((message) => (
          <OnItsWay key={message.clientId} block={block} message={message} />
        ))}
      </div>
      {!following.isOn.value && (
        <button type="button" class="newest" onClick={() => following.toEnd()}>
          <Icon name="down" small /> {chatText.newest}
        </button>
      )}
    </div>
  );
}

function OnItsWay({ block, message: { clientId, text, problem } }: { readonly block: OpenBlock; readonly message: Sending }) {
  return (
    <article class="entry user">
      <div class="who">
        <b>{chatText.you}</b>
        <span class="chip">{chatText.sending}</span>
      </div>
      <Text text={text} isPlain />
      {problem !== undefined && (
        <p class="row sm warn">
          {problem} <Button label={chatText.takeBack} small kind="quiet" run={() => block.forget(clientId)} />
        </p>
      )}
    </article>
  );
}

function isNewDay(entry: ChatEntry, before: ChatEntry | undefined): boolean {
  return before === undefined || new Date(entry.timestamp).toDateString() !== new Date(before.timestamp).toDateString();
}

/** A link to an entry loads up to it, and shows it. */
async function showLinked(block: OpenBlock): Promise<void> {
  const id = route.peek().query.get('at');
  if (id === null) return;
  while (!block.entries.peek().some((entry) => entry.id === id) && block.hasOlder.peek()) await block.readOlder();
  requestAnimationFrame(() => {
    const element = document.getElementById(`e-${id}`);
    element?.scrollIntoView({ block: 'center' });
    element?.classList.add('linked');
  });
}

/** A screen reader is told of the beginning and the end of an answer, and not of its growth. */
function tellListeners(block: OpenBlock): void {
  const state = block.writing.value;
  const key = state === undefined ? 'none' : state.isDone ? 'done' : `writes ${state.id}`;
  const before = told.get(block);
  if (before === key) return;
  told.set(block, key);
  if (key.startsWith('writes')) announce(heard.writes(block.name));
  else if (before?.startsWith('writes') === true || before === 'done') {
    const last = block.entries.peek().at(-1);
    if (key === 'done') announce(readAloud.peek() ? block.tail.text : heard.complete(last?.usage?.outputTokens));
    else if (last?.status === 'failed') announce(heard.failed(last.error?.message ?? ''));
  }
}

const told = new WeakMap<OpenBlock, string>();
