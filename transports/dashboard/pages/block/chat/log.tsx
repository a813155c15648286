// The entries of the chat, and how they are scrolled.
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { serverNow } from '../../../base/clock.ts';
import { dayName } from '../../../base/format.ts';
import { useKeys } from '../../../base/keys.ts';
import { tell, tellFailure } from '../../../base/toast.ts';
import { retryMessage } from '../../../data/blocks.ts';
import type { Line } from '../../../data/entries.ts';
import type { OpenBlock } from '../../../data/open-block.ts';
import { route } from '../../../data/route.ts';
import { Icon } from '../../../parts/icon.tsx';
import { Button, Empty, Problem } from '../../../parts/widgets.tsx';
import { chatText } from '../../../text/block.ts';
import { type Askable, askableOf, useAgainKey } from './again.tsx';
import { EntryView } from './entry.tsx';
import { Sending, Waiting } from './live.tsx';
import { Scroll } from './scroll.ts';
import { WhyCard } from './why-card.tsx';
import { useWindow } from './window.ts';

const LINK_PAGE = 200;
const LINK_PAGES = 50;

interface LogProps {
  readonly open: OpenBlock;
  readonly edit: (text: string) => void;
  /** Grows with every message that is sent: then the end is shown. */
  readonly sent: number;
}

/** The chat of a block. */
export function Log({ open, edit, sent }: LogProps) {
  const box = useRef<HTMLDivElement>(null);
  const scroll = useMemo(() => new Scroll(), [open]);
  const shown = useWindow(open, scroll);
  const linked = route.value.query.get('at') ?? undefined;
  const { lines, to } = shown.range;
  useLayoutEffect(() => scroll.settle());
  useEffect(() => (box.current === null ? undefined : scroll.attach(box.current, shown.onScroll)), [scroll]);
  useEffect(() => {
    if (linked !== undefined && open.isRead.value) void showLinked(open, scroll, linked, shown.reveal);
  }, [linked, open.isRead.value]);
  useEntryKeys(open, box);
  const newest = (): void => {
    shown.toNewest();
    scroll.toEnd();
  };
  const asked = (): void => {
    newest();
    scroll.begin();
  };
  useEffect(() => {
    if (sent > 0) asked();
  }, [sent]);
  const askable = askableOf(open, lines, asked);
  useAgainKey(askable);
  return (
    <div class="log-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the chat is scrolled by keys */}
      <div class="log" ref={box} role="log" aria-live="off" aria-label={chatText.chat} tabIndex={0}>
        <div class="log-inner">
          {shown.isReadingOlder && <p class="t3 sm center">{chatText.older}</p>}
          {open.error.value !== undefined && !open.isGone.value && (
            <Problem error={open.error.value}>
              <Button label={chatText.lookAgain} small run={() => open.want()} />
            </Problem>
          )}
          <Lines open={open} range={shown.range} linked={linked} askable={askable} edit={edit} />
        </div>
      </div>
      <Newest scroll={scroll} isCut={to < lines.length} run={newest} />
    </div>
  );
}

interface LinesProps {
  readonly open: OpenBlock;
  readonly range: ReturnType<typeof useWindow>['range'];
  readonly linked: string | undefined;
  readonly askable: Askable | undefined;
  readonly edit: (text: string) => void;
}

/** The lines with days between them; before the messages that wait or are on their way stands why the block stands still. */
function Lines({ open, range: { lines, from, to }, linked, askable, edit }: LinesProps) {
  const firstWaiting = lines.findIndex(({ kind }) => kind === 'waiting' || kind === 'sending');
  const cardAt = firstWaiting === -1 ? lines.length : firstWaiting;
  const card = <WhyCard key="why" open={open} />;
  return (
    <>
      {lines.length === 0 && <Empty text={open.isRead.value ? chatText.none : chatText.reading} />}
      {lines.slice(from, to).flatMap((line, index) => {
        const day = dayBefore(lines, from + index);
        return [
          ...(day === undefined ? [] : [<Day key={`day ${line.key}`} name={day} />]),
          ...(from + index === cardAt ? [card] : []),
          <LineView key={line.key} line={line} open={open} isLinked={'entry' in line && line.entry.id === linked} askable={askable} edit={edit} />,
        ];
      })}
      {cardAt === lines.length && to === lines.length && card}
    </>
  );
}

function Newest({ scroll, isCut, run }: { readonly scroll: Scroll; readonly isCut: boolean; readonly run: () => void }) {
  if (!scroll.isBehind.value && !isCut) return null;
  return (
    <button type="button" class="newest" onClick={run}>
      <Icon name="down" small />
      {chatText.newest}
    </button>
  );
}

interface LineProps {
  readonly line: Line;
  readonly open: OpenBlock;
  readonly isLinked: boolean;
  readonly askable: Askable | undefined;
  readonly edit: (text: string) => void;
}

function LineView({ line, open, isLinked, askable, edit }: LineProps) {
  if (line.kind === 'sending') return <Sending message={line.message} edit={edit} />;
  if (line.kind === 'waiting') return <Waiting block={open.name} entry={line.entry} before={line.before} isLinked={isLinked} />;
  if (line.kind === 'reply') return <EntryView open={open} entry={undefined} isLinked={isLinked} />;
  const { entry, versions } = line;
  const isLast = askable !== undefined && (entry === askable.shown || entry.replyTo === askable.shown.id);
  return <EntryView open={open} entry={entry} isLinked={isLinked} versions={versions} askable={isLast ? askable : undefined} />;
}

function Day({ name }: { readonly name: string }) {
  return <div class="day">{name}</div>;
}

/** The name of the day that begins with a line; undefined within a day. */
function dayBefore(lines: readonly Line[], index: number): string | undefined {
  const line = lines[index];
  const name = line === undefined ? undefined : dayOf(line);
  if (name === undefined) return undefined;
  const before = lines.slice(0, index).findLast((each) => dayOf(each) !== undefined);
  return before !== undefined && dayOf(before) === name ? undefined : name;
}

/** What is sent is said today. */
function dayOf(line: Line): string | undefined {
  const now = serverNow();
  if (line.kind === 'sending') return dayName(new Date(now).toISOString(), now);
  return line.kind === 'entry' ? dayName(line.entry.timestamp, now) : undefined;
}

/** Reads up to an entry, and shows it. */
async function showLinked(open: OpenBlock, scroll: Scroll, id: string, reveal: (id: string) => boolean): Promise<void> {
  try {
    for (let page = 0; page < LINK_PAGES && !open.entries.peek().has(id) && open.hasOlder.peek(); page += 1) await open.readOlder(LINK_PAGE);
  } catch (error) {
    tellFailure(error);
    return;
  }
  open.showVersion(id);
  if (!reveal(id)) {
    tell(chatText.noEntry);
    return;
  }
  scroll.isFollowing = false;
  requestAnimationFrame(() => {
    const element = document.getElementById(`entry-${id}`);
    if (element === null) return;
    scroll.show(element);
    element.focus({ preventScroll: true });
  });
}

/** J and K walk over the entries, R tries a failed one again. */
function useEntryKeys(open: OpenBlock, box: { readonly current: HTMLElement | null }): void {
  const move = (by: number) => (): void => {
    const list = [...(box.current?.querySelectorAll<HTMLElement>('[data-entry]') ?? [])];
    const at = list.indexOf(document.activeElement as HTMLElement);
    const next = list[at === -1 ? list.length - 1 : Math.max(0, Math.min(list.length - 1, at + by))];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: 'nearest' });
  };
  useKeys(
    [
      { keys: 'j', does: chatText.nextEntry, run: move(1) },
      { keys: 'k', does: chatText.entryBefore, run: move(-1) },
      {
        keys: 'r',
        does: chatText.retryHere,
        run() {
          const { entry, failed } = (document.activeElement as HTMLElement | null)?.dataset ?? {};
          if (entry !== undefined && failed !== undefined) void retryMessage(open.name, entry).catch(tellFailure);
        },
      },
    ],
    [open],
  );
}
