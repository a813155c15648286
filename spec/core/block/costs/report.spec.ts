import t from 'tap';
import { emptyBucket } from '../../../../core/block/costs/costs.ts';
import { type CostLine, reportCosts } from '../../../../core/block/costs/report.ts';
import { compile } from '../../../../core/schemas/validate.ts';
import { CostsReport } from '../../../../core/schemas/workspace-api.ts';
import type { CostsFilter } from '../../../../core/store/port.ts';

async function* lines(...all: [block: string, model: string, day: string, costUsd: number | null][]): AsyncGenerator<CostLine> {
  for (const [block, model, day, costUsd] of all)
    yield { at: `${day}T10:00:00.000Z`, purpose: 'chat', block, provider: 'p', model, usage: { inputTokens: 10, outputTokens: 1, totalTokens: 11 }, costUsd };
}

const LEDGER = [
  ['b', 'x', '2026-11-19', 1],
  ['a', 'x', '2026-11-20', 0.5],
  ['b', 'y', '2026-11-20', 2],
  ['c', 'z', '2026-11-18', null],
  ['d', 'z', '2026-11-18', 0.5],
] as const;
const ledger = () => lines(...(LEDGER as unknown as [string, string, string, number | null][]));

t.test('rows are sums by block or model, the most expensive first, those without a price last', async (t) => {
  const report = await reportCosts(ledger(), 'block');
  t.doesNotThrow(() => compile(CostsReport)(report));
  t.same(
    report.rows.map(({ key, calls, costUsd }) => [key, calls, costUsd]),
    [
      ['b', 2, 3],
      ['a', 1, 0.5],
      ['d', 1, 0.5],
      ['c', 1, null],
    ],
  );
  const { rows } = await reportCosts(ledger(), 'model');
  t.same(
    rows.map(({ key, costUsd, unpricedCalls }) => [key, costUsd, unpricedCalls]),
    [
      ['p/y', 2, 0],
      ['p/x', 1.5, 0],
      ['p/z', 0.5, 1],
    ],
  );
});

t.test('a connection is summed up with all of its keys, and each of them by its label; calls with its only key have its name alone', async (t) => {
  async function* calls(): AsyncGenerator<CostLine> {
    const line = { at: '2026-11-19T10:00:00.000Z', model: 'x', usage: { inputTokens: 10, outputTokens: 1, totalTokens: 11 }, costUsd: 1 };
    for (const credential of ['a', 'b', 'b']) yield { ...line, provider: 'gpu', credential };
    yield { ...line, provider: 'groq', costUsd: null };
  }
  const rowsBy = async (by: 'connection' | 'credential') => (await reportCosts(calls(), by)).rows.map(({ key, costUsd }) => [key, costUsd]);
  t.same(await rowsBy('connection'), [
    ['gpu', 3],
    ['groq', null],
  ]);
  t.same(await rowsBy('credential'), [
    ['gpu b', 2],
    ['gpu a', 1],
    ['groq', null],
  ]);
});

t.test('days come newest first', async (t) => {
  const { by, rows } = await reportCosts(ledger(), 'day');
  t.equal(by, 'day');
  t.same(
    rows.map(({ key }) => key),
    ['2026-11-20', '2026-11-19', '2026-11-18'],
  );
});

t.test('the total is the sum of the rows, for all blocks and for one', async (t) => {
  t.same((await reportCosts(ledger(), 'day')).total, { calls: 5, input: 50, output: 5, cacheRead: 0, cacheWrite: 0, costUsd: 4, unpricedCalls: 1 });
  const one = await reportCosts(ledger(), 'model', { block: 'b' });
  t.match(one.total, { calls: 2, costUsd: 3 });
  t.equal(one.rows.length, 2);
});

t.test('a report counts the days that it is asked for, both ends with them', async (t) => {
  const days = async (filter: CostsFilter) => (await reportCosts(ledger(), 'day', filter)).rows.map(({ key }) => key.slice(8)).join(' ');
  t.equal(await days({ from: '2026-11-19' }), '20 19');
  t.equal(await days({ to: '2026-11-19' }), '19 18');
  t.equal(await days({ from: '2026-11-19', to: '2026-11-19' }), '19');
  t.equal(await days({ from: '2027-01-01' }), '');
  for (const [filter, path] of [
    [{ from: '2026-13-01' }, 'from'],
    [{ from: '2026-02-30' }, 'from'],
    [{ to: 'yesterday' }, 'to'],
    [{ from: '0000-01-01' }, 'from'],
    [{ from: '2026-11-20', to: '2026-11-19' }, 'from'],
  ] as const)
    await t.rejects(reportCosts(ledger(), 'day', filter), { code: 'INVALID_REQUEST', details: [{ path }] }, JSON.stringify(filter));
});

t.test('days are told apart by what was asked, and by purpose', async (t) => {
  const keys = async (by: Parameters<typeof reportCosts>[1]) => (await reportCosts(ledger(), by)).rows.map(({ key }) => key);
  for (const [by, part] of [
    ['day-block', /^2026-11-\d\d [abcd]$/],
    ['day-connection', /^2026-11-\d\d \w+$/],
    ['day-model', /^2026-11-\d\d \w+\/\w+$/],
    ['day-key', /^2026-11-\d\d \(workspace token\)$/],
  ] as const)
    for (const key of await keys(by)) t.match(key, part);
  t.same(await keys('purpose'), ['chat']);
});

t.test('an empty ledger has no rows', async (t) => {
  t.same(await reportCosts(lines(), 'block'), { by: 'block', rows: [], total: emptyBucket() });
});

t.test('a call that failed before it used anything has no price to be known', async (t) => {
  async function* failed(): AsyncGenerator<CostLine> {
    const line = { at: '2026-11-19T10:00:00.000Z', key: 'app', provider: 'p', model: 'x', usage: null, costUsd: null };
    yield { ...line, error: 'UPSTREAM_UNREACHABLE' };
    yield { ...line, error: null };
  }
  t.match(await reportCosts(failed(), 'key'), { total: { calls: 2, unpricedCalls: 1 } });
});

t.test('others are served while the rows of a large report are made', async (t) => {
  t.capture(performance, 'now', () => 0); // on a busy machine, it may make several slices in a turn
  async function* lines() {
    for (let index = 0; index < 8000; index += 1) yield { at: '2026-11-01T00:00:00.000Z', provider: 'p', model: `m${index}`, usage: null, costUsd: 1 };
    setImmediate(() => {
      turns += 1;
      setImmediate(() => {
        turns += 1;
      });
    });
  }
  let turns = 0;
  t.equal((await reportCosts(lines(), 'model')).rows.length, 8000);
  t.equal(turns, 2);
});
