// The parts of bench/postgres.bench.ts over very many calls of blocks: a report, and what a block with caps may spend.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { createOllama } from '../../adapters/ollama/index.ts';
import { connectStore, createCore } from '../../core/index.ts';
import { SUMS_OF_COSTS } from '../../core/store/postgres/migrations/007-sums-of-costs.ts';
import { makeParts } from '../../core/store/postgres/partitions.ts';
import { parseStorePlace } from '../../core/store/postgres/place.ts';
import { Database } from '../../core/store/postgres/pool.ts';
import { connectPostgres } from '../../core/store/postgres/postgres-store.ts';
import { PostgresLedger } from '../../core/store/postgres/ledger.ts';
import { configOf } from '../../spec/support/block-files.ts';
import { ask, postgresStore } from '../../spec/support/postgres.ts';

export interface Bench {
  readonly t: Test;
  say(question: string, figure: string): unknown;
  ms(samples: readonly number[]): string;
}

const HALF_A_YEAR_S = 15_800_000;
const MONTHS = 7;
const REPORTS = 10;
const CALLS = 2000;
const BLOCKS = 1000;
const USAGE = `'{"inputTokens":900,"outputTokens":100,"totalTokens":1000}'`;

/** Half a year of a thousand blocks, as a version without sums would have left it; and what the step that makes the sums takes. */
async function billed({ t, say }: Bench, lines: number): Promise<string> {
  const store = await postgresStore(t);
  await (await connectPostgres(store)).close();
  const database = await Database.open(parseStorePlace(store), { connections: 1, queryTimeoutMs: 3_600_000 });
  try {
    const times = Array.from({ length: MONTHS }, (_, month) => new Date(Date.now() - (month * HALF_A_YEAR_S * 1000) / (MONTHS - 1)));
    await database.transaction((run) => makeParts(run, 'ledger', times, new Set()));
    await ask(store, 'drop index bh.ledger_unsummed');
    let from = performance.now();
    await ask(
      store,
      `insert into bh.ledger (at, call_id, block, provider, model, purpose, part, usage, cost_usd, summed)
       select now() - n * interval '1 s' * ${HALF_A_YEAR_S / lines}, 'c' || n, 'b' || n % 1000, 'openai', 'm' || n % 20, 'chat', 1 + n % 1000, ${USAGE}, 0.001, null
       from generate_series(1, ${lines}) n`,
    );
    say(`${lines} calls made in`, `${((performance.now() - from) / 1000).toFixed(0)} s`);
    from = performance.now();
    await ask(store, SUMS_OF_COSTS);
    say('  their sums of days, and the index, by the migration', `${((performance.now() - from) / 1000).toFixed(1)} s`);
    for (const table of ['ledger', 'cost_day']) await ask(store, `vacuum analyze bh.${table}`);
    const [rows] = await ask(store, 'select count(*)::int as sums from bh.cost_day');
    say('  sums of days', String(rows?.['sums']));
    return store;
  } finally {
    await database.close();
  }
}

/** A report of what half a year has cost, by model and otherwise. */
export async function report(bench: Bench, lines: number): Promise<void> {
  const store = await billed(bench, lines);
  const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
  const core = createCore({ adapters: [createOllama()], env: {}, store: await connectStore(store), workspace });
  await core.start();
  try {
    for (const by of ['model', 'block', 'day', 'day-model'] as const) {
      const times: number[] = [];
      let found = 0;
      for (let n = 0; n < REPORTS; n += 1) {
        const from = performance.now();
        const { rows, total } = await core.blocks.costs({ by });
        times.push(performance.now() - from);
        if (total.calls !== lines) throw new Error(`the report has ${total.calls} calls`);
        found = rows.length;
      }
      bench.say(`a report by ${by} of ${lines} calls, ${found} rows`, bench.ms(times));
    }
  } finally {
    await core.close();
    rmSync(workspace, { recursive: true, force: true });
  }
}

/** What one block among all may spend, and the reservation of its call: after half a year, in which each block was called once in a quarter of an hour at most. */
export async function spent(bench: Bench, lines: number): Promise<void> {
  const spread = Math.max(1, Math.floor(HALF_A_YEAR_S / 900 / (lines / BLOCKS)));
  const store = await postgresStore(bench.t);
  await (await connectPostgres(store)).close();
  await ask(store, `insert into bh.budget (block, part) select 'b' || n, n from generate_series(0, ${BLOCKS - 1}) n`);
  await ask(
    store,
    `insert into bh.spend (part, quarter, calls, tokens, cost_usd, newest)
     select p, date_bin('15 minutes', now(), timestamptz 'epoch') - q * interval '15 minutes' * ${spread}, 1, 1000, 0.001, now()
     from generate_series(0, ${BLOCKS - 1}) p, generate_series(1, ${lines / BLOCKS}) q`,
  );
  await ask(store, 'vacuum analyze bh.spend');
  await ask(store, 'vacuum analyze bh.budget');
  const database = await Database.open(parseStorePlace(store), { connections: 1 });
  const ledger = new PostgresLedger({ database, node: () => null, now: Date.now });
  const { budget } = configOf({ budget: { dailyUsd: 1e6, monthlyUsd: 1e6 } });
  const times: number[] = [];
  try {
    for (let n = 0; n < CALLS; n += 1) {
      const call = { id: `r${n}`, block: `b${(n * 7) % 1000}`, budget, worstCase: { usd: 0.01, tokens: 100 } };
      const from = performance.now();
      const { kind } = await ledger.reserve(call, new AbortController().signal);
      times.push(performance.now() - from);
      if (kind !== 'ok') throw new Error(kind);
    }
  } finally {
    await database.close();
  }
  bench.say(`what a block may spend, among ${lines} calls, and the reservation`, bench.ms(times));
}
