// What several keys and groups may spend here, asked of the database in one transaction.
import { firstOfMonth, firstOfWeek } from '../../base/utc-periods.ts';
import { accountOf } from '../parts/spend-days.ts';
import type { Caps, KeySpend, PeriodSums, Used } from '../port.ts';
import { MOST_TOKENS, MOST_USD } from './gateway-lines.ts';
import { ofToday } from './grants.ts';
import type { Database, Run } from './pool.ts';
import * as sql from './sql/gateway.ts';

/** What is asked for one account. No account is asked for twice at once. */
export interface AskedGrant {
  readonly bound: Caps;
  readonly underWay: Used;
  /** What its calls under way and the one that asks may use. */
  readonly wanted: Used;
}

/** What the database has granted. */
export interface Granted {
  readonly sums: PeriodSums;
  /** Null for no cap. */
  readonly usd: number | null;
  readonly tokens: number | null;
  readonly elsewhere: Used;
}

/** Asks for the server `node` at `now`, in epoch milliseconds. Answers in the order of `asked`. Rejects as a transaction does. */
export function askGrants(database: Pick<Database, 'transaction'>, node: string, now: number, asked: readonly AskedGrant[]): Promise<Granted[]> {
  type Row = { key: string; usd: number | null; tokens: number | null; usd_elsewhere: number; tokens_elsewhere: number };
  const accounts = asked.map(({ bound }) => accountOf(bound));
  const day = dayOf(now);
  return database.transaction(async (run) => {
    await run(sql.LOCK_DAYS, [accounts, day]);
    const spent = await sumsOf(run, accounts, now);
    const most = asked.map(({ bound }, n) => ofToday(bound, spent[n] as PeriodSums));
    const rows = await run<Row>(sql.GRANT, [
      accounts,
      day,
      node,
      most.map(([usd]) => usd),
      most.map(([, tokens]) => tokens),
      asked.map(({ wanted }) => Math.min(wanted.usd, MOST_USD)),
      asked.map(({ wanted }) => Math.min(Math.ceil(wanted.tokens), MOST_TOKENS)),
    ]);
    const byAccount = new Map(rows.map((row) => [row.key, row]));
    return accounts.map((account, n) => {
      const { usd = null, tokens = null, usd_elsewhere = 0, tokens_elsewhere = 0 } = byAccount.get(account) ?? {};
      return { sums: spent[n] as PeriodSums, usd, tokens, elsewhere: { usd: usd_elsewhere, tokens: tokens_elsewhere } };
    });
  });
}

/** What accounts have spent up to `now`, in their order. */
export async function sumsOf(run: Run, accounts: readonly string[], now: number): Promise<PeriodSums[]> {
  type Row = { key: string; period: keyof PeriodSums; usd: number; tokens: number; calls: number; unpriced: number };
  const rows = await run<Row>(sql.SPENT, [accounts, dayOf(now), firstOfWeek(now), firstOfMonth(now)]);
  const found = new Map(rows.map((row) => [`${row.period} ${row.key}`, row]));
  const of = (period: keyof PeriodSums, account: string): KeySpend => {
    const { usd = 0, tokens = 0, calls = 0, unpriced = 0 } = found.get(`${period} ${account}`) ?? {};
    return { usd, tokens, calls, unpricedCalls: unpriced };
  };
  return accounts.map((account) => ({ day: of('day', account), week: of('week', account), month: of('month', account) }));
}

/** The UTC day of a time. */
export function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, '2026-11-22'.length);
}
