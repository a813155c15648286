// Targets of notifications, as text. Pure: no I/O.
import type { NotifyTarget, NotifyTest } from '../../core/index.ts';
import { relative } from '../terminal/format.ts';
import { type Column, table } from '../terminal/layout.ts';
import { oneLine } from '../terminal/output.ts';
import type { View } from './block-text.ts';

const COLUMNS: readonly Column[] = [
  { title: 'TARGET' },
  { title: 'STATE' },
  { title: 'ADDRESS' },
  { title: 'EVENTS', drop: 3 },
  { title: 'BLOCKS', drop: 4 },
  { title: 'LINKS', drop: 5 },
  { title: 'PENDING', align: 'right' },
  { title: 'DROPPED', align: 'right', drop: 1 },
  { title: 'LAST TRY', drop: 2 },
];

/** The table of `notify ls`. */
export function notifyTable(targets: readonly NotifyTarget[], view: View): string[] {
  if (targets.length === 0) return [];
  const rows = targets.map(({ name, state, url, events, blocks, links, pending, dropped, last }) => [
    oneLine(name),
    state,
    oneLine(url),
    events.join(', '),
    blocks === null ? 'all' : blocks.map(oneLine).join(', '),
    links ? 'yes' : 'no',
    String(pending),
    String(dropped),
    last === null ? 'never' : `${relative(last.at, view.now)}, ${last.status ?? 'no answer'}`,
  ]);
  return table(COLUMNS, rows, view);
}

/** What became of a test. */
export function testText(name: string, { delivered, status, problem, ms }: NotifyTest): string {
  if (delivered) return `${oneLine(name)} has taken it (${status}, in ${Math.round(ms)} ms).`;
  return `${oneLine(name)} has not taken it: ${problem === null ? `it answered ${status}` : oneLine(problem).replace(/\.$/, '')}.`;
}
