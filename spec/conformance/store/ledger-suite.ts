// The laws of the ledger of blocks, over any store (core/store/port.ts).
import type { Test } from 'tap';
import { reportCosts } from '../../../core/block/costs/report.ts';
import type { CallToReserve, CostsQuery, LedgerLine, LedgerStore } from '../../../core/store/port.ts';
import { configOf } from '../../support/block-files.ts';
import { sample } from '../../support/sweep.ts';

/** Makes an empty ledger. */
export type OpenLedger = (t: Test, now: () => number) => Promise<LedgerStore>;

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const HOUR = 3_600_000;
const budgetOf = (caps: object): CallToReserve['budget'] => configOf({ budget: caps }).budget;

/** One call that cost a quarter of a dollar, and 10 tokens. */
export function lineOf(id: string, fields: Partial<LedgerLine> = {}): LedgerLine {
  const usage = { inputTokens: 4, outputTokens: 6, totalTokens: 10 };
  return {
    at: new Date(NOON).toISOString(),
    block: 'ada',
    provider: 'echo',
    model: 'echo-1',
    purpose: 'chat',
    usage,
    costUsd: 0.25,
    messageId: 'm1',
    id,
    ...fields,
  };
}

export function callOf(id: string, usd: number, caps: object = { dailyUsd: 1 }, block = 'ada'): CallToReserve {
  return { id, block, budget: budgetOf(caps), worstCase: { usd, tokens: 100 } };
}

async function* each(lines: readonly LedgerLine[]): AsyncGenerator<LedgerLine> {
  yield* lines;
}

async function all(lines: AsyncIterable<LedgerLine>): Promise<LedgerLine[]> {
  const found: LedgerLine[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

const EVERY_BY = ['block', 'key', 'connection', 'credential', 'model', 'purpose', 'day', 'day-block', 'day-key', 'day-connection', 'day-model'] as const;
const FILTERS: readonly Omit<CostsQuery, 'by'>[] = [
  {},
  { block: 'ada' },
  { block: 'nobody' },
  { block: 'a\0da' },
  { to: '9999-12-31' },
  { from: '2026-11-20' },
  { to: '2026-11-19' },
  { block: 'eve', from: '2026-11-19', to: '2026-11-20' },
];

/** Calls that a report must not trip over: at both ends of a day, of odd names, with counts and costs as providers should never send them. */
export function oddLines(): LedgerLine[] {
  const usages = [
    null,
    { inputTokens: 7, outputTokens: 5, totalTokens: 12 },
    { inputTokens: 7, outputTokens: 5, totalTokens: 12, cacheReadTokens: 3, cacheWriteTokens: 1 },
    { inputTokens: -1, outputTokens: 5, totalTokens: 4 },
    { inputTokens: 1.5, outputTokens: 5, totalTokens: 6.5 },
    { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: Number.MAX_SAFE_INTEGER, totalTokens: 1 },
    { inputTokens: 1e300, outputTokens: 0, totalTokens: 1 },
    { inputTokens: 2, outputTokens: 3, totalTokens: 5, cacheReadTokens: null },
    { inputTokens: '2', outputTokens: 3, totalTokens: 5 },
    {},
  ] as unknown as LedgerLine['usage'][];
  const costs = [0.1, 0.2, 0.30000000000000004, null, 0, 1e-9, 4.9e-13, 5e-13, 2.5e-12, 123_456.789_012_345_67, 1e300, -1, 1e-7 / 3, 0.0034500000000000004];
  const times = ['2026-11-18T23:59:59.999Z', '2026-11-19T00:00:00.000Z', '2026-11-20T23:59:59.999Z', '1999-12-31T12:00:00.000Z', '2026-11-21T08:00:00.000Z'];
  const models = ['m', 'a/b', 'ünïcode "quoted" \\', 'x'.repeat(2048)];
  return Array.from({ length: 140 }, (_, n) =>
    lineOf(`odd${n}`, {
      at: times[n % times.length] as string,
      block: ['ada', 'eve', 'bob'][n % 3] as string,
      provider: n % 4 === 0 ? 'a' : 'p',
      model: models[n % models.length] as string,
      purpose: n % 5 === 0 ? 'tool' : 'chat',
      usage: usages[n % usages.length] as LedgerLine['usage'],
      costUsd: costs[n % costs.length] as number | null,
      messageId: null,
      ...(n % 6 === 0 && { credential: n % 12 === 0 ? 'first' : 'second' }),
      ...(n % 7 === 0 && { failed: true as const }),
    }),
  );
}

const REPORTS = EVERY_BY.flatMap((by) => FILTERS.map((filter) => ({ by, filter })));
let looks = 0;

/** Each report is, to the last digit, the one from all lines. With `step`, only one of so many reports is looked at, and the next look takes others. */
export async function reportsAreRight(t: Test, ledger: LedgerStore, step = 1): Promise<void> {
  const lines = await all(ledger.lines());
  looks += 1;
  for (const { by, filter } of sample(REPORTS, step, looks)) {
    t.strictSame(await ledger.report({ by, ...filter }), await reportCosts(each(lines), by, filter), by);
  }
}

/** Every law as a fact. */
export function ledgerSuite(t: Test, store: string, open: OpenLedger): void {
  const opened = async (t: Test) => {
    const clock = { ms: NOON };
    return { ledger: await open(t, () => clock.ms), clock };
  };

  t.test(`${store}: L1: a line that was appended before changes nothing`, async (t) => {
    const { ledger } = await opened(t);
    const line = lineOf('1');
    await Promise.all([ledger.append(line), ledger.append(line)]);
    await ledger.append(line);
    t.strictSame(await ledger.spend('ada', [NOON - HOUR]), [{ usd: 0.25, tokens: 10 }]);
    t.strictSame(await all(ledger.lines()), [line]);
    await ledger.ready();
  });

  t.test(`${store}: counts beyond all sense, again and again, keep no later line from being written`, async (t) => {
    const { ledger } = await opened(t);
    const most = Number.MAX_SAFE_INTEGER;
    const usage = { inputTokens: most, outputTokens: most, totalTokens: most };
    // So many that a whole number of the database would not hold their sum.
    for (let n = 0; n < 1050; n += 75)
      await Promise.all(Array.from({ length: 75 }, (_, index) => ledger.append(lineOf(`${n + index}`, { usage, costUsd: 1e11 }))));
    await ledger.append(lineOf('other', { block: 'bob' }));
    const [spent] = await ledger.spend('ada', [NOON - HOUR]);
    t.ok(spent.usd >= 1e8 && spent.tokens >= most);
    t.strictSame(await ledger.spend('bob', [NOON - HOUR]), [{ usd: 0.25, tokens: 10 }]);
  });

  t.test(`${store}: a line comes back as it was, without price and usage, too`, async (t) => {
    const { ledger } = await opened(t);
    const lines = [lineOf('1'), lineOf('2', { usage: null, costUsd: null, messageId: null, failed: true, at: new Date(NOON + 1).toISOString() })];
    for (const line of lines) await ledger.append(line);
    t.strictSame(await all(ledger.lines()), lines);
    t.strictSame(await all(ledger.newestFirst('ada', NOON - 1)), [lines[1], lines[0]]);
    t.strictSame(await all(ledger.newestFirst('ada', NOON)), [lines[1]], 'after the instant');
    t.strictSame(await all(ledger.newestFirst('eve', 0)), []);
    t.strictSame(await ledger.spend('ada', [NOON]), [{ usd: 0.25, tokens: 10 }]);
    t.equal(await ledger.newest('ada'), NOON + 1);
    t.equal(await ledger.newest('eve'), undefined);
    t.equal(ledger.lines().damagedLines, 0);
  });

  t.test(`${store}: a block may spend what its caps leave`, async (t) => {
    const { ledger, clock } = await opened(t);
    await ledger.append(lineOf('1', { costUsd: 0.75 }));
    await ledger.append(lineOf('2', { costUsd: 5, block: 'eve' }));
    t.match(await ledger.reserve(callOf('a', 0.25), new AbortController().signal), {
      kind: 'ok',
      stand: { day: { usd: 0.75, tokens: 10 }, month: { usd: 0.75 } },
    });
    ledger.release(callOf('a', 0.25));
    t.match(await ledger.reserve(callOf('b', 0.26), new AbortController().signal), { kind: 'exceeded', cap: 'dailyUsd' });
    t.match(await ledger.reserve(callOf('c', 0, { dailyTokens: 109 }), new AbortController().signal), { kind: 'exceeded', cap: 'dailyTokens' });
    t.match(await ledger.reserve(callOf('d', 0.5, { monthlyUsd: 1 }), new AbortController().signal), { kind: 'exceeded', cap: 'monthlyUsd' });
    clock.ms += 12 * HOUR;
    const signal = new AbortController().signal;
    let verdict = await ledger.reserve(callOf('f', 1), signal);
    for (; verdict.kind === 'beside'; verdict = await ledger.reserve(callOf('f', 1), signal)) await verdict.changed; // what was released counts until the store has noticed it
    t.match(verdict, { kind: 'ok', stand: { day: { usd: 0 }, month: { usd: 0.75 } } }, 'a new day');
    t.match(await ledger.reserve(callOf('e', 99, {}), new AbortController().signal), { kind: 'ok' }, 'without caps everything is allowed');
  });

  t.test(`${store}: of calls that come at once, as many are held as fit`, async (t) => {
    const { ledger } = await opened(t);
    const kinds = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => (await ledger.reserve(callOf(String(n), 0.25), new AbortController().signal)).kind),
    );
    t.equal(kinds.filter((kind) => kind === 'ok').length, 4);
    t.equal(kinds.filter((kind) => kind === 'beside').length, 6);
    t.match(await ledger.reserve(callOf('x', 1, { dailyUsd: 1 }, 'eve'), new AbortController().signal), { kind: 'ok' }, 'another block has its own');
  });

  t.test(`${store}: a call that asks once more, for its next attempt, is not held up by itself`, async (t) => {
    const { ledger } = await opened(t);
    const reserve = async (id: string): Promise<string> => (await ledger.reserve(callOf(id, 0.75), new AbortController().signal)).kind;
    t.equal(await reserve('a'), 'ok');
    t.equal(await reserve('a'), 'ok');
    t.equal(await reserve('b'), 'beside');
    await ledger.append(lineOf('1', { costUsd: 0.5 }));
    t.equal(await reserve('a'), 'exceeded');
    ledger.release({ block: 'ada', id: 'a' });
    const small = async (id: string): Promise<string> => (await ledger.reserve(callOf(id, 0.5), new AbortController().signal)).kind;
    while ((await small('b')) !== 'ok') await new Promise((done) => setTimeout(done, 5));
  });

  t.test(`${store}: L3: a line ends its reservation, and so does a call that cost nothing`, { timeout: 60_000 }, async (t) => {
    const { ledger } = await opened(t);
    const reserve = async (id: string, usd: number): Promise<string> => (await ledger.reserve(callOf(id, usd), new AbortController().signal)).kind;
    t.equal(await reserve('a', 1), 'ok');
    const beside = await ledger.reserve(callOf('b', 0.75), new AbortController().signal);
    if (beside.kind !== 'beside') throw new Error(beside.kind);
    await Promise.all([beside.changed, ledger.append(lineOf('a'))]);
    t.equal(await reserve('b', 0.75), 'ok');
    t.equal(await reserve('c', 0.75), 'beside');
    ledger.release({ block: 'ada', id: 'b' });
    ledger.release({ block: 'ada', id: 'nobody' });
    while ((await reserve('c', 0.75)) !== 'ok') await new Promise((done) => setTimeout(done, 5));
    const aborted = new AbortController();
    const last = await ledger.reserve(callOf('d', 0.75), aborted.signal);
    t.equal(last.kind, 'beside');
    aborted.abort();
    if (last.kind === 'beside') await last.changed;
  });

  t.test(`${store}: a report says what all lines say, in which order and however often they came`, async (t) => {
    const { ledger } = await opened(t);
    await reportsAreRight(t, ledger, 7);
    const lines = oddLines();
    for (const line of lines) await ledger.append(line);
    await ledger.append(lines[0] as LedgerLine);
    await ledger.carry('ada', 'bob');
    await ledger.append(lineOf('last', { block: 'bob' }));
    await reportsAreRight(t, ledger);
    const { total } = await ledger.report({ by: 'block' });
    t.equal(total.calls, (await all(ledger.lines())).length, 'files leave out lines that no provider should have sent');
    t.strictSame((await ledger.report({ by: 'day', from: '2026-11-20', to: '2026-11-20' })).rows.length, 1);
    await t.rejects(ledger.report({ by: 'day', to: '0000-12-31' }), { code: 'INVALID_REQUEST', details: [{ path: 'to' }] }, 'a calendar has no such year');
    await t.rejects(ledger.report({ by: 'day', from: '2026-02-30' }), { code: 'INVALID_REQUEST', details: [{ path: 'from' }] });
    await t.rejects(ledger.report({ by: 'day', from: '2026-11-20', to: '2026-11-19' }), { code: 'INVALID_REQUEST' });
  });

  t.test(`${store}: what was spent under another name counts once, however often it is carried`, async (t) => {
    const { ledger } = await opened(t);
    const spent = async (block: string): Promise<number> => (await ledger.spend(block, [NOON - HOUR]))[0].usd;
    await ledger.append(lineOf('1', { costUsd: 1 }));
    await ledger.append(lineOf('2', { costUsd: 2, block: 'bob' }));
    await ledger.carry('ada', 'bob');
    await ledger.append(lineOf('3', { costUsd: 4, block: 'bob' }));
    await ledger.carry('bob', 'ada');
    await ledger.carry('ada', 'bob');
    await ledger.carry('bob', 'bob');
    t.equal(await spent('bob'), 7);
    await ledger.append(lineOf('4', { costUsd: 8 }));
    t.equal(await spent('ada'), 15);
    t.equal(await spent('bob'), 7, 'what comes later is of its own name');
    t.strictSame(
      (await all(ledger.newestFirst('bob', 0))).map(({ id }) => id),
      ['3', '1'],
      'of the block itself, under whichever name',
    );
    await ledger.carry('nobody', 'bob');
    t.equal(await spent('bob'), 7);
  });
}
