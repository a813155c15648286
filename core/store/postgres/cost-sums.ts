// Reports of what calls of blocks have cost, from the sums of each day.
//
// with-its-line: the statement that writes a line adds it to the sums of its day, so both are there, or neither is, and a report is never behind the ledger.
// also-older-ones: a server of the version before writes lines alone. A report reads those beside the sums, and every five minutes they are added, by one server at a time.
import { assertDays, reportSums } from '../../block/costs/report.ts';
import type { CostsReport } from '../../types.ts';
import type { CostsQuery } from '../port.ts';
import type { Database } from './pool.ts';
import { DROP_STRANGE, FOLD, LOCK_COSTS, report, type SumsRow } from './sql/costs.ts';
import { Upkeep } from './upkeep.ts';

const EVERY_MS = 300_000;
const AT_ONCE = 2000;

/** Rejects with INVALID_REQUEST for a filter that is wrong, and with STORE_UNREACHABLE. */
export async function reportOf(database: Database, { by, ...filter }: CostsQuery): Promise<CostsReport> {
  assertDays(filter);
  const { block, from, to } = filter;
  const values = [block, from, to].filter((value) => value !== undefined);
  const rows = await database.query<SumsRow>(report(by, [block !== undefined, from !== undefined, to !== undefined]), values);
  return reportSums(
    rows.map(({ day, credential, calls, input, output, cache_read: cacheRead, cache_write: cacheWrite, unpriced, trillionths, ...more }) => ({
      ...more,
      ...(day !== undefined && { at: day }),
      ...(credential != null && { credential }),
      counts: { calls, input, output, cacheRead, cacheWrite, unpricedCalls: unpriced },
      trillionths: calls > unpriced ? BigInt(trillionths) : null,
    })),
    by,
  );
}

/** Keeps the sums of a workspace whole, every five minutes. */
export class CostSums extends Upkeep {
  readonly #database: Database;

  constructor(database: Database, onFault: (error: unknown) => void) {
    super(EVERY_MS, onFault);
    this.#database = database;
  }

  /** also-older-ones. Rejects with STORE_UNREACHABLE. */
  async keep(): Promise<void> {
    for (let lines = AT_ONCE; lines === AT_ONCE && !this.isClosed; ) lines = await this.#fold();
  }

  #fold(): Promise<number> {
    return this.#database.transaction(async (run) => {
      await run(LOCK_COSTS);
      await run(DROP_STRANGE);
      const [row] = await run<{ lines: number }>(FOLD, [AT_ONCE]);
      return row?.lines ?? 0;
    });
  }
}
