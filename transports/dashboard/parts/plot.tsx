// A plot over time, drawn as SVG. Crosshair and zoom are shared by the plots of a page.
//
// also-as-text: each plot has a sentence, and its values as a table.
import { type Signal, useSignal } from '@preact/signals';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { pathThrough, stackedSums, timeMarks, topOf, valueMarks } from '../base/axes.ts';
import { clock, clockSeconds, markText } from '../base/format.ts';
import { type Command, useKeys } from '../base/keys.ts';
import { type Span, type Step, stepped } from '../base/zoom.ts';
import { plotText, spanText } from '../text/plot.ts';
import { Table } from './table.tsx';
import { Button } from './widgets.tsx';

/** One line, or one layer of a stack. */
export interface Line {
  readonly label: string;
  /** A token of the colours: `c1`. */
  readonly tone: string;
  readonly values: readonly (number | null)[];
}

interface PlotProps {
  /** Epoch milliseconds, growing. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly stacked?: boolean;
  /** True for whole numbers of things that came since the time before: the table has sums of them, and the axis no part of one. */
  readonly isCounted?: boolean;
  /** The text for screen readers. */
  readonly sentence: string;
  /** A value as a person reads it. */
  readonly show: (value: number) => string;
}

interface Shared {
  readonly isTable: boolean;
  readonly span: Span;
  /** The time under the crosshair, in epoch milliseconds. */
  readonly at: Signal<number | undefined>;
  zoom(span: Span): void;
}

const Group = createContext<Shared | undefined>(undefined);

/** Pixels: of the drawing, and of what stands at its sides. */
const HEIGHT = 150;
const START = 44;
const END = 20;
const TOP = 8;
const BOTTOM = 24;
const GROUND = HEIGHT - TOP - BOTTOM;
/** The least between two marks. */
const MARK_HEIGHT = 30;
const MARK_WIDTH = 60;
/** A shorter drag is a click. */
const MIN_DRAG = 3;
/** Rows of the table, evenly chosen. */
const TABLE_ROWS = 24;

const STEPS: readonly (readonly [string, Step])[] = [
  ['shift+ArrowUp', 'in'],
  ['shift+ArrowDown', 'out'],
  ['shift+ArrowLeft', 'back'],
  ['shift+ArrowRight', 'on'],
];

/** The plots of a page, all of these times: they share crosshair, zoom and keys. */
export function PlotGroup({ times, children }: { readonly times: readonly number[]; readonly children: ComponentChildren }) {
  const [isTable, setTable] = useState(false);
  const [span, zoom] = useState<Span>(undefined);
  const at = useSignal<number | undefined>(undefined);
  const whole: readonly Command[] = span === undefined ? [] : [{ keys: 'Escape', does: plotText.whole, run: () => zoom(undefined) }];
  useKeys(
    [
      { keys: 't', does: plotText.asTables, run: () => setTable((is) => !is) },
      ...STEPS.map(([keys, step]) => ({ keys, does: plotText[step], run: () => zoom((now) => stepped(now, times, step)) })),
      ...whole,
    ],
    [times, span],
  );
  return (
    <Group.Provider value={{ isTable, span, at, zoom }}>
      {span !== undefined && (
        <div class="plot-span row wrap">
          <span class="num">{spanText(span.from, span.to)}</span>
          <Button label={plotText.whole} kind="quiet" small run={() => zoom(undefined)} />
        </div>
      )}
      {children}
    </Group.Provider>
  );
}

/** The plot, or its table. */
export function Plot(props: PlotProps) {
  const group = useContext(Group);
  if (group === undefined) return null;
  return (
    <figure class="plot">
      <figcaption class="sr">{props.sentence}</figcaption>
      {group.isTable ? <Values {...props} {...group} /> : <Drawing {...props} {...group} />}
      <div class="row wrap">
        {props.lines.map(({ label, tone }) => (
          <span key={label} class="legend">
            <i class={tone} />
            {label}
          </span>
        ))}
      </div>
    </figure>
  );
}

/** The place of the drawing, whose pixels are those of its units. */
function Drawing(props: PlotProps & Shared) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const watcher = new ResizeObserver(() => setWidth(element.clientWidth));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  const { times, span } = props;
  const { from, to } = span ?? { from: times[0] ?? 0, to: times.at(-1) ?? 1 };
  return (
    <div ref={box} class="drawn" aria-hidden="true">
      {width > START + END && <Axes {...props} from={from} to={Math.max(to, from + 1)} width={width - START - END} />}
    </div>
  );
}

interface Shown {
  /** The times at the edges. */
  readonly from: number;
  readonly to: number;
  /** Of the area without what stands at its sides. */
  readonly width: number;
}

function Axes({ times, lines, stacked = false, isCounted = false, from, to, width, at, zoom }: PlotProps & Shared & Shown) {
  const values = stacked ? stackedSums(lines.map((line) => line.values)) : lines.map((line) => line.values);
  const shown = values.flatMap((line) => line.filter((_, index) => (times[index] ?? 0) >= from && (times[index] ?? 0) <= to));
  const top = topOf(shown);
  const x = (time: number): number => ((time - from) / (to - from)) * width;
  const y = (value: number): number => GROUND - (value / top) * GROUND;
  const across = timeMarks(from, to, width / MARK_WIDTH);
  const up = valueMarks(top, GROUND / MARK_HEIGHT, isCounted);
  const paths = values.map((line) => pathThrough(line.map((value, index) => ({ x: x(times[index] ?? 0), y: value === null ? null : y(value) }))));
  const ends = `V${GROUND}H${x(times[0] ?? 0).toFixed(1)}Z`;
  return (
    <svg width={width + START + END} height={HEIGHT}>
      {up.marks.map((mark) => (
        <g key={mark}>
          <line class="grid" x1={START} x2={START + width} y1={TOP + y(mark)} y2={TOP + y(mark)} />
          <text class="up" x={START - 8} y={TOP + y(mark) + 4}>
            {markText(mark, up.step)}
          </text>
        </g>
      ))}
      {across.marks.map((mark) => (
        <text key={mark} x={START + x(mark)} y={HEIGHT - 6}>
          {across.step < 60_000 ? clockSeconds(mark) : clock(mark)}
        </text>
      ))}
      <svg x={START} y={TOP} width={width} height={GROUND}>
        {lines // the highest sum first, so that the lower layers are drawn over it
          .map(({ label, tone }, index) => (
            <g key={label} class={tone}>
              {stacked && <path class="under" d={paths[index] + ends} />}
              <path d={paths[index]} />
            </g>
          ))
          .reverse()}
        <Pointer at={at} from={from} to={to} width={width} zoom={zoom} />
      </svg>
    </svg>
  );
}

/** The crosshair, and the part that is dragged out. A finger scrolls the page. */
function Pointer({ at, from, to, width, zoom }: Shown & Pick<Shared, 'at' | 'zoom'>) {
  const start = useSignal<number | undefined>(undefined);
  const x = (time: number): number => ((time - from) / (to - from)) * width;
  const timeAt = (event: PointerEvent): number => {
    const { left } = (event.currentTarget as Element).getBoundingClientRect();
    return from + (Math.min(Math.max(event.clientX - left, 0), width) / width) * (to - from);
  };
  const ended = (event: PointerEvent): void => {
    const [one, other] = [start.value ?? 0, timeAt(event)].sort((a, b) => a - b) as [number, number];
    if (start.value !== undefined && x(other) - x(one) >= MIN_DRAG) zoom({ from: one, to: other });
    start.value = undefined;
  };
  const now = at.value;
  return (
    <>
      {now !== undefined && <line class="crosshair" x1={x(now)} x2={x(now)} y1="0" y2={GROUND} />}
      {now !== undefined && start.value !== undefined && (
        <rect class="dragged" x={Math.min(x(start.value), x(now))} width={Math.abs(x(now) - x(start.value))} height={GROUND} />
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys do the same */}
      <rect
        class="hit"
        width={width}
        height={GROUND}
        onPointerDown={(event) => {
          if (event.pointerType === 'touch' || event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          start.value = timeAt(event);
        }}
        onPointerMove={(event) => {
          if (event.pointerType !== 'touch') at.value = timeAt(event);
        }}
        onPointerUp={ended}
        onPointerLeave={() => {
          at.value = undefined;
        }}
        onDblClick={() => zoom(undefined)}
      />
    </>
  );
}

function Values({ times, lines, isCounted = false, show, span }: PlotProps & Shared) {
  const inSpan = times.flatMap((time, index) => (span === undefined || (time >= span.from && time <= span.to) ? [index] : []));
  const step = Math.max(1, Math.floor(inSpan.length / TABLE_ROWS));
  const rows = inSpan.filter((_, place) => place % step === 0);
  const valueAt = (values: Line['values'], row: number): number | null | undefined =>
    isCounted
      ? inSpan.slice(row * step, (row + 1) * step).reduce((sum, index) => sum + (values[index] ?? 0), 0) // none is left out
      : values[rows[row] ?? 0];
  const shown = (value: number | null | undefined): string => (value === null || value === undefined ? '–' : show(value));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <div class="plot-table" tabIndex={0} role="group" aria-label={plotText.values}>
      <Table heads={[plotText.time, ...lines.map(({ label }) => [label, 'end'] as const)]} isBare>
        {rows.map((index, row) => (
          <tr key={index}>
            <td class="num">{clock(times[index] ?? 0)}</td>
            {lines.map(({ label, values }) => (
              <td key={label} class="num end">
                {shown(valueAt(values, row))}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </div>
  );
}
