// The rows of the list. Only those in view are in the document; each is drawn by its own signal.
//
// calm: while the pointer rests on the rows, their order stays.
import { signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { startOrStop } from '../../actions/start-or-stop.ts';
import { navigate, setQuery } from '../../base/address.ts';
import { useKeys } from '../../base/keys.ts';
import { tellFailure } from '../../base/toast.ts';
import { rows } from '../../data/fleet.ts';
import { blockPath } from '../../data/route.ts';
import { fleetText, KEY_WORDS, LABELS, WORDS } from '../../text/index.ts';
import { FleetRow } from './row.tsx';
import { progress, Selection, selected } from './selection.tsx';
import type { Sort, View } from './view.ts';

/** Rows above and below the view, so that scrolling shows no gap. */
const SPARE_ROWS = 6;

const COLUMNS: readonly { readonly id: Sort | undefined; readonly label: string; readonly shape?: string }[] = [
  { id: 'name', label: fleetText.block },
  { id: 'model', label: fleetText.model, shape: 'c-model' },
  { id: undefined, label: fleetText.activity, shape: 'c-act' },
  { id: 'waiting', label: fleetText.waiting, shape: 'end' },
  { id: 'last', label: fleetText.last, shape: 'end c-last' },
  { id: 'today', label: fleetText.today, shape: 'c-today' },
];

/** The name of the row that the keys move. */
const current = signal<string | undefined>(undefined);

type Box = RefObject<HTMLDivElement | null>;
const scrollerOf = (box: Box): HTMLElement | undefined => box.current?.closest<HTMLElement>('.page') ?? undefined;

/** How far the list is scrolled, what is in view of it, and the height of a row. */
function useArea(box: Box) {
  const [area, setArea] = useState({ top: 0, height: 600, row: 36 });
  useEffect(() => {
    const element = box.current;
    const scroller = scrollerOf(box);
    if (element === null || scroller === undefined) return;
    const measure = (): void => {
      const row = element.querySelector('.tr')?.getBoundingClientRect().height ?? 36;
      setArea({ top: Math.max(0, scroller.scrollTop - element.offsetTop), height: scroller.clientHeight, row: row || 36 });
    };
    const watcher = new ResizeObserver(measure);
    watcher.observe(scroller);
    scroller.addEventListener('scroll', measure, { passive: true });
    return () => {
      watcher.disconnect();
      scroller.removeEventListener('scroll', measure);
    };
  }, []);
  return area;
}

/** calm. */
function useCalm(wanted: readonly string[], view: View) {
  const rest = useRef<{ names: readonly string[]; view: View } | undefined>(undefined);
  const [, settle] = useState(0);
  const names = rest.current?.view === view ? calmed(rest.current.names, wanted) : wanted;
  const hold = (): void => {
    rest.current = { names, view };
  };
  const release = (): void => {
    rest.current = undefined;
    settle((turn) => turn + 1);
  };
  return { names, hold, release };
}

/** The row that the keys move, and what they do with it. Returns what a press on a row does. */
function useRowKeys(box: Box, names: readonly string[], area: ReturnType<typeof useArea>) {
  const at = (): number => names.indexOf(current.peek() ?? '');
  const move = (to: number): void => {
    const index = Math.max(0, Math.min(names.length - 1, to));
    current.value = names[index];
    const element = box.current;
    const scroller = scrollerOf(box);
    if (element === null || scroller === undefined) return;
    const top = element.offsetTop + index * area.row;
    if (index === 0) scroller.scrollTop = 0;
    else if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + area.row * 2 > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + area.row * 2 - scroller.clientHeight;
    requestAnimationFrame(() => element.querySelector<HTMLElement>(`[data-name="${names[index]}"] a`)?.focus({ preventScroll: true }));
  };
  const toggle = (name: string, isRange: boolean): void => {
    const next = new Set(selected.peek());
    const [from, to] = [at(), names.indexOf(name)].sort((one, other) => one - other) as [number, number];
    if (isRange && from >= 0) for (const each of names.slice(from, to + 1)) next.add(each);
    else if (!next.delete(name)) next.add(name);
    selected.value = next;
    current.value = name;
  };
  const onCurrent = (act: (name: string) => unknown) => () => {
    const name = current.peek();
    if (name !== undefined && rows.peek().has(name)) void Promise.resolve(act(name)).catch(tellFailure);
  };
  const step = (by: number) => () => move(at() + by);
  const extend = (by: number) => () => {
    move(at() + by);
    onCurrent((name) => toggle(name, false))();
  };
  const page = Math.max(1, Math.floor(area.height / area.row) - 1);
  const moves: readonly (readonly [keys: string, does: string, run: () => void])[] = [
    ['j', KEY_WORDS.nextBlock, step(1)],
    ['k', KEY_WORDS.blockBefore, step(-1)],
    ['ArrowDown', KEY_WORDS.nextBlock, step(1)],
    ['ArrowUp', KEY_WORDS.blockBefore, step(-1)],
    ['PageDown', KEY_WORDS.nextPage, step(page)],
    ['PageUp', KEY_WORDS.pageBefore, step(-page)],
    ['Home', KEY_WORDS.firstBlock, () => move(0)],
    ['End', KEY_WORDS.lastBlock, () => move(names.length - 1)],
    ['x', KEY_WORDS.select, onCurrent((name) => toggle(name, false))],
    ['shift+ArrowDown', KEY_WORDS.selectDown, extend(1)],
    ['shift+ArrowUp', KEY_WORDS.selectUp, extend(-1)],
    ['s', KEY_WORDS.startOrStop, onCurrent(startOrStop)],
    ['m', KEY_WORDS.message, onCurrent((name) => navigate(blockPath(name, 'chat', { write: '1' })))],
    ['w', WORDS.why, onCurrent((name) => navigate(blockPath(name, 'history')))],
    ['b', KEY_WORDS.budget, onCurrent((name) => navigate(blockPath(name, 'costs')))],
  ];
  useKeys(
    moves.map(([keys, does, run]) => ({ keys, does, run })),
    [names, area],
  );
  return toggle;
}

/** The list; `names` are its blocks in their order. */
export function FleetTable({ names: wanted, view }: { readonly names: readonly string[]; readonly view: View }) {
  const box = useRef<HTMLDivElement>(null);
  const area = useArea(box);
  const { names, hold, release } = useCalm(wanted, view);
  const toggle = useRowKeys(box, names, area);
  // A list that a filter has made shorter is measured after it is drawn: until then its end is shown, and not the void below it.
  const top = Math.min(area.top, Math.max(0, names.length * area.row - area.height));
  const first = Math.max(0, Math.floor(top / area.row) - SPARE_ROWS);
  const last = Math.min(names.length, Math.ceil((top + area.height) / area.row) + SPARE_ROWS);
  return (
    <>
      {(selected.value.size > 0 || progress.value !== undefined) && <Selection names={names} />}
      <div ref={box} role="grid" aria-label={LABELS.blocks} aria-rowcount={names.length + 1} onPointerEnter={hold} onPointerLeave={release}>
        <div class="tb th" role="row" aria-rowindex={1}>
          {COLUMNS.map((column) => (
            <Heading key={column.label} {...column} view={view} />
          ))}
        </div>
        <div class="window" style={{ height: `${names.length * area.row}px` }}>
          <div style={{ transform: `translateY(${first * area.row}px)` }}>
            {names.slice(first, last).map((name, index) => {
              const row = rows.value.get(name);
              return row === undefined ? null : (
                <FleetRow
                  key={name}
                  row={row}
                  index={first + index + 2}
                  isCurrent={current.value === name}
                  isSelected={selected.value.has(name)}
                  toggle={toggle}
                  focus={() => (current.value = name)}
                />
              );
            })}
          </div>
        </div>
      </div>
    </>
  );
}

/** The wanted blocks in the order that they have on the screen; new ones last. */
function calmed(shown: readonly string[], wanted: readonly string[]): readonly string[] {
  const left = new Set(wanted);
  const kept = shown.filter((name) => left.delete(name));
  return left.size === 0 ? kept : [...kept, ...left];
}

const ASCENDING = { name: 'ascending', mark: ' ↑' } as const;
const DESCENDING = { name: 'descending', mark: ' ↓' } as const;

function Heading({ id, label, shape = '', view }: (typeof COLUMNS)[number] & { readonly view: View }) {
  if (id === undefined)
    return (
      <span role="columnheader" class={shape}>
        {label}
      </span>
    );
  const isSorted = view.sort === id;
  const next = isSorted && !view.isDescending ? `-${id}` : id;
  const order = view.isDescending ? DESCENDING : ASCENDING;
  return (
    <span role="columnheader" class={shape} aria-sort={isSorted ? order.name : 'none'}>
      <button type="button" onClick={() => setQuery({ sort: next === 'name' ? undefined : next })}>
        {label}
        {isSorted && id !== 'name' ? order.mark : ''}
      </button>
    </span>
  );
}
