// A plot over time: drawn by uPlot, whose code is loaded with the first plot. Crosshair and zoom are shared by the plots of a page.
//
// also-as-text: each plot has a sentence, and its values as a table. A browser that can't draw it shows the table: the code may not have come, and it
//   refuses languages such as the `en-US@posix` of a browser that was started without a locale.
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { clock, markText } from '../base/format.ts';
import { type Command, useKeys } from '../base/keys.ts';
import { type Span, type Step, stepped } from '../base/zoom.ts';
import { theme } from '../data/settings.ts';
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
  /** The text for screen readers. */
  readonly sentence: string;
  /** A value as a person reads it. */
  readonly show: (value: number) => string;
}

interface Shared {
  readonly isTable: boolean;
  readonly span: Span;
  /** Plots of one name share their crosshair. */
  readonly name: string;
  zoom(span: Span): void;
}

const Group = createContext<Shared>({ isTable: false, span: undefined, name: '', zoom: () => undefined });

const HEIGHT = 150;
/** Rows of the table, evenly chosen. */
const TABLE_ROWS = 24;

const STEPS: readonly (readonly [string, Step])[] = [
  ['shift+ArrowUp', 'in'],
  ['shift+ArrowDown', 'out'],
  ['shift+ArrowLeft', 'back'],
  ['shift+ArrowRight', 'on'],
];

/** The plots of a page, all of these times: they share crosshair, zoom and keys. */
export function PlotGroup({ name, times, children }: { readonly name: string; readonly times: readonly number[]; readonly children: ComponentChildren }) {
  const [isTable, setTable] = useState(false);
  const [span, zoom] = useState<Span>(undefined);
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
    <Group.Provider value={{ isTable, span, name, zoom }}>
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
  const { isTable } = useContext(Group);
  const [isRefused, setRefused] = useState(false);
  return (
    <figure class="plot">
      <figcaption class="sr">{props.sentence}</figcaption>
      {isRefused && <p class="hint">{plotText.refused}</p>}
      {isTable || isRefused ? <Values {...props} /> : <Canvas {...props} refused={() => setRefused(true)} />}
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

function Canvas({ times, lines, stacked = false, refused }: PlotProps & { refused(): void }) {
  const { name, span, zoom } = useContext(Group);
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data = dataOf(times, lines, stacked);
  const shape = `${lines.map(({ label, tone }) => label + tone).join()} ${stacked} ${theme.value} ${isDark()}`;
  useEffect(() => {
    const element = box.current;
    let isGone = false;
    let watcher: ResizeObserver | undefined;
    void import('uplot').then(({ default: Plotter }) => {
      if (isGone || element === null) return;
      plot.current = new Plotter(optionsOf(Plotter, element, lines, stacked, { name, zoom }), data, element);
      if (span !== undefined) zoomTo(plot.current, span);
      watcher = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
      watcher.observe(element);
    }, refused); // also-as-text
    return () => {
      isGone = true;
      watcher?.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => {
    const drawn = plot.current;
    if (drawn === undefined) return;
    if (span === undefined) drawn.setData(data);
    else
      drawn.batch(() => {
        drawn.setData(data, false);
        zoomTo(drawn, span);
      });
  }, [times, lines, span]);
  return <div ref={box} class="canvas" aria-hidden="true" />;
}

function zoomTo(plot: uPlot, { from, to }: NonNullable<Span>): void {
  plot.setScale('x', { min: from / 1000, max: to / 1000 });
}

function Values({ times, lines, show }: PlotProps) {
  const { span } = useContext(Group);
  const inSpan = times.flatMap((time, index) => (span === undefined || (time >= span.from && time <= span.to) ? [index] : []));
  const step = Math.max(1, Math.floor(inSpan.length / TABLE_ROWS));
  const rows = inSpan.filter((_, place) => place % step === 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <div class="plot-table" tabIndex={0} role="group" aria-label={plotText.values}>
      <Table heads={[plotText.time, ...lines.map(({ label }) => [label, 'end'] as const)]} isBare>
        {rows.map((index) => (
          <tr key={index}>
            <td class="num">{clock(times[index] ?? 0)}</td>
            {lines.map(({ label, values }) => (
              <td key={label} class="num end">
                {values[index] === null || values[index] === undefined ? '–' : show(values[index])}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </div>
  );
}

/** Layers of a stack are drawn from the highest sum down. */
function dataOf(times: readonly number[], lines: readonly Line[], stacked: boolean): uPlot.AlignedData {
  const seconds = times.map((ms) => ms / 1000);
  if (!stacked) return [seconds, ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
  const sums = times.map(() => 0);
  const layers = lines.map(({ values }) =>
    values.map((value, index) => {
      sums[index] = (sums[index] ?? 0) + (value ?? 0);
      return sums[index] ?? 0;
    }),
  );
  return [seconds, ...layers.reverse()] as uPlot.AlignedData;
}

function optionsOf(
  Plotter: typeof uPlot,
  element: HTMLElement,
  lines: readonly Line[],
  stacked: boolean,
  { name, zoom }: Pick<Shared, 'name' | 'zoom'>,
): uPlot.Options {
  const color = (token: string, alpha = 1): string => colorOf(element, token, alpha);
  const drawn = stacked ? [...lines].reverse() : lines;
  const axis = { stroke: color('text-3'), grid: { stroke: color('line-1'), width: 1 }, ticks: { show: false }, font: '11px "Geist Mono Variable", monospace' };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: {
      sync: { key: name },
      points: { show: false },
      drag: { x: true, y: false, setScale: false },
      bind: {
        dblclick: () => () => {
          zoom(undefined);
          return null;
        },
      },
    },
    hooks: {
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width <= 0) return;
          zoom({ from: plot.posToVal(left, 'x') * 1000, to: plot.posToVal(left + width, 'x') * 1000 });
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
    padding: [8, 20, 0, 0], // the last time is centred at the edge
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(high ?? 0, 0.001) * 1.1] } },
    axes: [
      { ...axis, grid: { show: false }, size: 24, values: (_plot, ticks) => ticks.map((tick) => clock(tick * 1000)) },
      { ...axis, size: 44, values: (_plot, ticks, _axis, _space, step) => ticks.map((tick) => markText(tick, step)) },
    ],
    series: [
      {},
      ...drawn.map(({ label, tone }) => ({
        label,
        stroke: color(tone),
        width: 1.4,
        ...(stacked && { fill: color(tone, 0.22) }),
        points: { show: true, size: 3, width: 0, fill: color(tone), filter: alone },
        ...(Plotter.paths.linear === undefined ? {} : { paths: Plotter.paths.linear() }),
      })),
    ],
  };
}

/** Points that no line goes to or from: they would not be seen. */
function alone(plot: uPlot, series: number): number[] {
  const values = [...(plot.data[series] ?? [])];
  return values.flatMap((value, index) => (value != null && values[index - 1] == null && values[index + 1] == null ? [index] : []));
}

/** A token as a colour that a canvas takes: light or dark is decided by the element. */
function colorOf(element: HTMLElement, token: string, alpha: number): string {
  const before = element.style.color;
  element.style.color = `var(--${token})`;
  const [red = '0', green = '0', blue = '0'] = getComputedStyle(element).color.match(/[\d.]+/g) ?? [];
  element.style.color = before;
  return `rgb(${red} ${green} ${blue} / ${alpha})`;
}

function isDark(): boolean {
  return matchMedia('(prefers-color-scheme: dark)').matches;
}
