// Which lines of the chat are in the page.
//
// bounded: at most 400 entries are; those far off are left out, and the line in view stays.
import { useRef, useState } from 'preact/hooks';
import { tellFailure } from '../../../base/toast.ts';
import type { Line } from '../../../data/entries.ts';
import { type OpenBlock, PAGE_ENTRIES } from '../../../data/open-block.ts';
import type { Scroll } from './scroll.ts';

const MAX_SHOWN = 400;
const NEAR_PX = 800;

/** Keys of the first line that is shown, and of the last one where the end is left out. */
interface Edge {
  readonly first?: string | undefined;
  readonly last?: string | undefined;
}

interface Range {
  readonly lines: readonly Line[];
  readonly from: number;
  readonly to: number;
}

function rangeOf(lines: readonly Line[], edge: Edge): Range {
  const placeOf = (wanted: string | undefined): number => (wanted === undefined ? -1 : lines.findIndex(({ key }) => key === wanted));
  const [first, last] = [placeOf(edge.first), placeOf(edge.last)];
  const to = last === -1 ? lines.length : last + 1;
  return { lines, from: Math.max(to - MAX_SHOWN, first === -1 ? to - PAGE_ENTRIES : first, 0), to };
}

/** The lines that are shown, and how others come into view. */
export function useWindow(open: OpenBlock, scroll: Scroll) {
  const [edge, setEdge] = useState<Edge>({});
  const [isReadingOlder, setReading] = useState(false);
  const range = rangeOf(open.lines.value, edge);
  const now = useRef(range);
  now.current = range;
  const isReading = useRef(false);
  const set = (start: number, end: number): void => {
    const list = now.current.lines;
    setEdge({ first: list[Math.max(0, start)]?.key, last: end >= list.length ? undefined : list[end - 1]?.key });
  };
  const showOlder = (): void => {
    const begin = Math.max(0, now.current.from - PAGE_ENTRIES);
    set(begin, Math.min(now.current.to, begin + MAX_SHOWN));
  };
  const older = async (): Promise<void> => {
    const { lines: list, from: start, to: end } = now.current;
    if (start > 0) showOlder();
    if (start > 0 || !open.hasOlder.peek()) return;
    isReading.current = true;
    setReading(true);
    // In one pass: without the older entries there is no room above that the line in view could be kept by.
    const show = (): void => {
      const at = open.lines.peek().findIndex(({ key }) => key === list[0]?.key);
      now.current = { lines: open.lines.peek(), from: Math.max(0, at), to: end + Math.max(0, at) };
      showOlder();
      setReading(false);
    };
    await open.readOlder(PAGE_ENTRIES, show).catch(tellFailure);
    isReading.current = false;
    setReading(false);
  };
  const newer = (): void => {
    const end = Math.min(now.current.lines.length, now.current.to + PAGE_ENTRIES);
    set(Math.max(now.current.from, end - MAX_SHOWN), end);
  };
  const onScroll = (): void => {
    const element = document.querySelector<HTMLElement>('.log');
    if (element === null || isReading.current || scroll.isFollowing) return;
    const below = element.scrollHeight - element.clientHeight - element.scrollTop;
    if (element.scrollTop < NEAR_PX) void older();
    else if (now.current.to < now.current.lines.length && below < NEAR_PX) newer();
  };
  /** Shows the lines around an entry; false if it is not known. */
  const reveal = (id: string): boolean => {
    const list = open.lines.peek();
    const at = list.findIndex((line) => 'entry' in line && line.entry.id === id);
    if (at === -1) return false;
    now.current = { ...now.current, lines: list };
    set(at - PAGE_ENTRIES / 2, Math.max(at + PAGE_ENTRIES, Math.min(list.length, at + MAX_SHOWN / 2)));
    return true;
  };
  return { range, isReadingOlder, onScroll, toNewest: () => setEdge({}), reveal };
}
