// Bars side by side, with their spread, as a picture. Pure: no I/O.
import type { Spread } from './stats.ts';

export interface Chart {
  /** File name without its end. */
  readonly file: string;
  readonly title: string;
  readonly unit: string;
  /** Names of the bars in each group. */
  readonly series: readonly string[];
  readonly groups: readonly { readonly label: string; readonly bars: readonly Spread[] }[];
}

const WIDTH = 820;
const LABEL_WIDTH = 210;
const VALUE_WIDTH = 120;
const BAR_HEIGHT = 14;
const GROUP_GAP = 14;
const TOP = 64;
const COLORS = ['#9aa5b1', '#4c78a8', '#e4572e', '#76b041', '#8e6c8a'];

export function toSvg(chart: Chart): string {
  const groupHeight = chart.series.length * BAR_HEIGHT + GROUP_GAP;
  const height = TOP + chart.groups.length * groupHeight + 10;
  const most = Math.max(...chart.groups.flatMap(({ bars }) => bars.map(({ high }) => high)).filter(Number.isFinite));
  const scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / (most || 1);
  const groups = chart.groups.map(({ label, bars }, index) => group(label, bars, TOP + index * groupHeight, scale));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${escaped(chart.title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="10" y="22" font-size="15" font-weight="600" fill="#1f2933">${escaped(chart.title)} (${escaped(chart.unit)})</text>`,
    legend(chart.series),
    ...groups,
    '</svg>',
    '',
  ].join('\n');
}

function legend(series: readonly string[]): string {
  return series
    .map((name, index) => {
      const x = LABEL_WIDTH + index * 120;
      return `<rect x="${x}" y="36" width="10" height="10" fill="${color(index)}"/><text x="${x + 15}" y="45" fill="#1f2933">${escaped(name)}</text>`;
    })
    .join('');
}

function group(label: string, bars: readonly Spread[], top: number, scale: number): string {
  const middle = top + (bars.length * BAR_HEIGHT) / 2 + 4;
  const drawn = bars.map((bar, index) => drawBar(bar, index, top + index * BAR_HEIGHT, scale));
  return `<text x="${LABEL_WIDTH - 10}" y="${middle}" text-anchor="end" fill="#1f2933">${escaped(label)}</text>${drawn.join('')}`;
}

function drawBar({ median, low, high }: Spread, index: number, y: number, scale: number): string {
  if (!Number.isFinite(median)) return '';
  const at = (value: number): string => (LABEL_WIDTH + value * scale).toFixed(1);
  const middle = y + BAR_HEIGHT / 2 - 1;
  return [
    `<rect x="${LABEL_WIDTH}" y="${y}" width="${Math.max(1, median * scale).toFixed(1)}" height="${BAR_HEIGHT - 2}" fill="${color(index)}"/>`,
    `<path d="M${at(low)} ${middle}H${at(high)}" stroke="#1f2933" stroke-width="1"/>`,
    `<text x="${(LABEL_WIDTH + high * scale + 6).toFixed(1)}" y="${y + 10}" font-size="11" fill="#1f2933">${median >= 100 ? Math.round(median) : median.toPrecision(3)}</text>`,
  ].join('');
}

function color(index: number): string {
  return COLORS[index % COLORS.length] ?? '#1f2933';
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
