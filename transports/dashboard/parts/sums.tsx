// What calls have used and cost, as a table.
import type { ComponentChildren } from 'preact';
import type { CostBucket } from '../../../core/types.ts';
import { count } from '../base/format.ts';
import { costsText } from '../text/costs.ts';
import { Table } from './table.tsx';
import { Sum } from './widgets.tsx';

type Sums = Pick<CostBucket, 'calls' | 'input' | 'output' | 'costUsd' | 'unpricedCalls'> & { readonly cacheRead?: number };

interface SumsTableProps {
  /** What each row is one of. */
  readonly of: string;
  readonly rows: readonly (readonly [key: string, name: ComponentChildren, sums: Sums])[];
  /** Adds a column for input from the cache, and a last row. */
  readonly total?: Sums;
}

/** A row for each bucket. */
export function SumsTable({ of, rows, total }: SumsTableProps) {
  const cached = total === undefined ? [] : [costsText.cached];
  const heads = [costsText.calls, costsText.input, costsText.output, ...cached, costsText.cost].map((name) => [name, 'end'] as const);
  const foot = total && <Row name={costsText.all} sums={total} hasCached isTotal />;
  return (
    <Table shape="plain-rows" heads={[of, ...heads]} foot={foot}>
      {rows.map(([key, name, sums]) => (
        <Row key={key} name={name} sums={sums} hasCached={total !== undefined} />
      ))}
    </Table>
  );
}

interface RowProps {
  readonly name: ComponentChildren;
  readonly sums: Sums;
  readonly hasCached: boolean;
  readonly isTotal?: boolean;
}

function Row({ name, sums: { calls, input, output, cacheRead = 0, costUsd, unpricedCalls }, hasCached, isTotal = false }: RowProps) {
  return (
    <tr>
      <td class={isTotal ? 'b' : 'break'}>{name}</td>
      <td class="num end">{count(calls)}</td>
      <td class="num end">{count(input)}</td>
      <td class="num end">{count(output)}</td>
      {hasCached && <td class="num end">{isTotal ? '' : count(cacheRead)}</td>}
      <td class={`num end${isTotal ? ' b' : ''}`}>
        <Sum usd={costUsd} uncounted={unpricedCalls} />
      </td>
    </tr>
  );
}
