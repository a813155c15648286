// The table of `costs --reconcile`: what a bill and the own ledgers don't agree on. Pure: no I/O.
import type { BillComparison } from '../../core/index.ts';
import { count } from '../terminal/format.ts';
import { type Column, table } from '../terminal/layout.ts';
import type { View } from './block-text.ts';

const LINES: readonly Column[] = [
  { title: 'DAY' },
  { title: 'MODEL', min: 8 },
  { title: '' },
  { title: 'OURS', align: 'right' },
  { title: 'THEIRS', align: 'right' },
  { title: 'NOT COUNTED', align: 'right', drop: 1 },
];

type Difference = BillComparison['differs'][number];

/** A row for each kind of amount that the bill tells; where it has nothing, for all of ours. */
export function differenceTable(differs: readonly Difference[], view: Omit<View, 'now'>): string[] {
  const told = (['usd', 'input', 'output'] as const).filter((part) => differs.some(({ theirs }) => theirs?.[part] !== undefined));
  const parts = told.length === 0 ? (['usd', 'input', 'output'] as const) : told;
  const rows = differs.flatMap(({ date, model, ours, theirs }) =>
    parts.map((part) => [
      date,
      model,
      part,
      shown(part, ours?.[part]),
      shown(part, theirs?.[part]),
      ours === null || part !== 'usd' ? '' : String(ours.unpricedCalls),
    ]),
  );
  return table(LINES, rows, view);
}

function shown(part: string, amount: number | undefined): string {
  if (amount === undefined) return '-';
  return part === 'usd' ? `$${amount.toFixed(6)}` : count(amount);
}
