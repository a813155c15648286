// A provider's bill beside the calls of blocks and of clients.
import type { BillComparison } from '../../../core/types.ts';
import { ApiError } from './api-error.ts';
import { call } from './http.ts';

/** The server refuses a larger file; a browser may not hear that while it still sends. */
export const MAX_BILL_BYTES = 8 * 1024 * 1024;
/** So many rows are drawn. */
export const MAX_ROWS = 200;

/** How a bill is read, as a person types it; empty for what the server chooses. */
export interface BillChoices {
  readonly connection: string;
  readonly columns: string;
}

/** Compares an export, a CSV file. Rejects with an ApiError. */
export async function compareBill(file: Blob, choices: BillChoices): Promise<BillComparison> {
  if (file.size > MAX_BILL_BYTES) throw new ApiError('The file is larger than 8 MiB. Export fewer days.', { status: 413, code: 'BODY_TOO_LARGE' });
  const query = new URLSearchParams(Object.entries(choices).filter(([, text]) => text !== ''));
  const { data } = await call<BillComparison>('POST', `/api/costs/reconcile?${query}`, { raw: file, headers: { 'content-type': 'text/csv' } });
  return data;
}

/** An amount of a day and model on which the two don't agree; undefined for a side that does not tell it. */
export interface BillRow {
  readonly day: string;
  readonly model: string;
  readonly amount: 'usd' | 'input' | 'output';
  readonly ours: number | undefined;
  readonly theirs: number | undefined;
  /** Our calls without a price, beside an amount of USD. */
  readonly uncounted: number;
}

/** A row for each kind of amount that the bill tells; where it has nothing, for all of ours. */
export function billRows({ differs }: BillComparison): readonly BillRow[] {
  const all = ['usd', 'input', 'output'] as const;
  const told = all.filter((amount) => differs.some(({ theirs }) => theirs?.[amount] !== undefined));
  return differs.flatMap(({ date, model, ours, theirs }) =>
    (told.length === 0 ? all : told).map((amount) => ({
      day: date,
      model,
      amount,
      ours: ours?.[amount],
      theirs: theirs?.[amount],
      uncounted: amount === 'usd' ? (ours?.unpricedCalls ?? 0) : 0,
    })),
  );
}
