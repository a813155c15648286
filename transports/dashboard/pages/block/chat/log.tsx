// The entries of the chat, and how they are scrolled.
//
// bounded: at most 400 entries are in the page; those far off are left out, and the line in view stays.
import { useComputed } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { serverNow } from '../../../base/clock.ts';
import { dayName } from '../../../base/format.ts';
import { useKeys } from '../../../base/keys.ts';
import { tell, tellFailure } from '../../../base/toast.ts';
import { retryMessage } from '../../../data/blocks.ts';
import type { Line } from '../../../data/entries.ts';
import { type OpenBlock, PAGE_ENTRIES } from '../../../data/open-block.ts';
import { route } from '../../../data/route.ts';
import { outbox } from '../../../data/services.ts';
import { Icon } from '../../../parts/icon.tsx';
import { Button, Empty, Problem } from '../../../parts/widgets.tsx';
import { chatText } from '../../../text/block.ts';
import { EntryView } from './entry.tsx';
import { Sending, Waiting } from './live.tsx';
import { Scroll } from './scroll.ts';
import { WhyCard } from './why-card.tsx';

const MOST_SHOWN = 400;
const NEAR_PX = 800;
const LINK_PAGE = 200;
const LINK_PAGES = 50;

/** The chat of a block. */
export function Log({
  open,
  edit,
  sent,
}: {
  readonly open: OpenBlock;
  readonly edit: (text: string) => void;
  /** Grows with every message that is sent: then the end is shown. */
  readonly sent: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const scroll = useMemo(() => new Scroll(), [open]);
  const shown = useWindow(open, scroll);
  const pending = useComputed(() => {
    const known = new Set([...open.entries.value.values()].map(({ clientId }) => clientId));
    return outbox.messages.value.filter(({ block, clientId }) => block === open.name && !known.has(clientId));
  });
  const linked = route.value.query.get('at') ?? undefined;
  const { lines, from, to } = shown.range;
  const firstWaiting = lines.findIndex(({ kind }) => kind === 'waiting');
  const cardAt = firstWaiting === -1 ? lines.length : firstWaiting;
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
  useEffect(() => {
    if (sent === 0) return;
    newest();
    scroll.begin();
  }, [sent]);
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
          {lines.length === 0 && pending.value.length === 0 && <Empty text={open.isRead.value ? chatText.none : chatText.reading} />}
          {lines.slice(from, to).flatMap((line, index) => {
            const day = dayBefore(lines, from + index);
            const view = <LineView key={line.key} line={line} open={open} isLinked={line.kind === 'entry' && line.entry.id === linked} />;
            const card = from + index === cardAt ? [<WhyCard key="why" open={open} />] : [];
            return day === undefined ? [...card, view] : [<Day key={`day ${line.key}`} name={day} />, ...card, view];
          })}
          {cardAt === lines.length && to === lines.length && <WhyCard key="why" open={open} />}
          {to === lines.length && pending.value.map((message) => <Sending key={message.clientId} message={message} edit={edit} />)}
        </div>
      </div>
      <Newest scroll={scroll} isCut={to < lines.length} run={newest} />
    </div>
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

function LineView({ line, open, isLinked }: { readonly line: Line; readonly open: OpenBlock; readonly isLinked: boolean }) {
  if (line.kind === 'waiting') return <Waiting block={open.name} entry={line.entry} before={line.before} />;
  return <EntryView open={open} entry={line.kind === 'entry' ? line.entry : undefined} isLinked={isLinked} />;
}

function Day({ name }: { readonly name: string }) {
  return <div class="day">{name}</div>;
}

/** The name of the day that begins with a line; undefined within a day. */
function dayBefore(lines: readonly Line[], index: number): string | undefined {
  const line = lines[index];
  if (line?.kind !== 'entry') return undefined;
  const name = dayName(line.entry.timestamp, serverNow());
  const before = lines.slice(0, index).findLast(({ kind }) => kind === 'entry');
  return before?.kind === 'entry' && dayName(before.entry.timestamp, serverNow()) === name ? undefined : name;
}

/** bounded. */
function useWindow(open: OpenBlock, scroll: Scroll) {
  const lines = open.lines.value;
  // Keys of the first line that is shown, and of the last one where the end is left out.
  const [edge, setEdge] = useState<{ readonly first?: string | undefined; readonly last?: string | undefined }>({});
  const [isReadingOlder, setReading] = useState(false);
  const last = edge.last === undefined ? -1 : lines.findIndex(({ key }) => key === edge.last);
  const to = last === -1 ? lines.length : last + 1;
  const first = edge.first === undefined ? -1 : lines.findIndex(({ key }) => key === edge.first);
  const from = Math.max(to - MOST_SHOWN, first === -1 ? Math.max(0, to - PAGE_ENTRIES) : first, 0);
  const range = { lines, from, to };
  const now = useRef(range);
  now.current = range;
  const state = useRef({ isReading: false });
  const set = (start: number, end: number): void => {
    const list = now.current.lines;
    setEdge({ first: list[Math.max(0, start)]?.key, last: end >= list.length ? undefined : list[end - 1]?.key });
  };
  const showOlder = (): void => {
    const begin = Math.max(0, now.current.from - PAGE_ENTRIES);
    set(begin, Math.min(now.current.to, begin + MOST_SHOWN));
  };
  const older = async (): Promise<void> => {
    const { lines: list, from: start, to: end } = now.current;
    if (start > 0) showOlder();
    if (start > 0 || !open.hasOlder.peek()) return;
    state.current.isReading = true;
    setReading(true);
    // In one pass: without the older entries there is no room above that the line in view could be kept by.
    const show = (): void => {
      const at = open.lines.peek().findIndex(({ key }) => key === list[0]?.key);
      now.current = { lines: open.lines.peek(), from: Math.max(0, at), to: end + Math.max(0, at) };
      showOlder();
      setReading(false);
    };
    await open.readOlder(PAGE_ENTRIES, show).catch(tellFailure);
    state.current.isReading = false;
    setReading(false);
  };
  const onScroll = (): void => {
    const element = document.querySelector<HTMLElement>('.log');
    if (element === null || state.current.isReading || scroll.isFollowing) return;
    if (element.scrollTop < NEAR_PX) void older();
    else if (now.current.to < now.current.lines.length && element.scrollHeight - element.clientHeight - element.scrollTop < NEAR_PX) {
      const end = Math.min(now.current.lines.length, now.current.to + PAGE_ENTRIES);
      set(Math.max(now.current.from, end - MOST_SHOWN), end);
    }
  };
  return {
    range,
    isReadingOlder,
    onScroll,
    toNewest: () => setEdge({}),
    /** Shows the lines around an entry. */
    reveal(id: string): boolean {
      const list = open.lines.peek();
      const at = list.findIndex((line) => line.kind !== 'reply' && line.entry.id === id);
      if (at === -1) return false;
      now.current = { ...now.current, lines: list };
      set(at - PAGE_ENTRIES / 2, Math.max(at + PAGE_ENTRIES, Math.min(list.length, at + MOST_SHOWN / 2)));
      return true;
    },
  };
}

/** Reads up to an entry, and shows it. */
async function showLinked(open: OpenBlock, scroll: Scroll, id: string, reveal: (id: string) => boolean): Promise<void> {
  try {
    for (let page = 0; page < LINK_PAGES && !open.entries.peek().has(id) && open.hasOlder.peek(); page += 1) await open.readOlder(LINK_PAGE);
  } catch (error) {
    tellFailure(error);
    return;
  }
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
