import t from 'tap';
import type { CopiedLine, CopiedSpend } from '../../../../../core/store/parts/copied.ts';
import { putCalls, putLedger, readLedger } from '../../../../../core/store/postgres/copy/ledger-copy.ts';
import { PostgresGatewayBook } from '../../../../../core/store/postgres/gateway-book.ts';
import { PostgresLedger } from '../../../../../core/store/postgres/ledger.ts';
import type { GatewayCall } from '../../../../../core/store/port.ts';
import { type Migrated, migrated } from '../../../../support/migrated.ts';
import { noPostgres } from '../../../../support/postgres.ts';

const NOW = Date.parse('2026-11-20T14:00:00.000Z');
const at = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
const line = (block: string, minutes: number, id = `${block}${minutes}`) =>
  ({ at: at(minutes), block, provider: 'p', model: 'm', purpose: 'chat', usage, costUsd: 1, messageId: null, id }) as const;
const carry = (from: string, block: string, minutes: number): CopiedLine => ({ type: 'carried', at: at(minutes), from, block });
async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

async function read({ database }: Migrated): Promise<CopiedLine[]> {
  const held = await database.hold('sees-one-moment');
  const lines: CopiedLine[] = [];
  for await (const one of readLedger(held.run)) lines.push(one);
  await held.end();
  return lines;
}

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('a ledger with renames is read as it was written, and servers count the same', async (t) => {
    const one = await migrated(t);
    const { database } = one;
    const ledger = new PostgresLedger({ database, node: () => null, now: () => NOW });
    t.same(await read(one), []);
    const steps: (CopiedLine | readonly [from: string, to: string])[] = [
      line('a', 90),
      line('other', 80),
      ['a', 'b'],
      line('b', 70),
      ['b', 'a'],
      line('b', 60),
      ['a', 'c'],
      ['c', 'a'],
      line('a', 60),
      line('other', 50),
      ['x', 'other'],
    ];
    for (const step of steps) await (Array.isArray(step) ? ledger.carry(step[0], step[1]) : ledger.append(step as ReturnType<typeof line>));
    const lines = await read(one);
    const told = lines.map((each) => ('type' in each ? `${each.from}>${each.block}` : each.id));
    // A rename stands as early as the calls of its blocks let it.
    t.same(told, ['a90', 'a>b', 'other80', 'b70', 'b>a', 'a>c', 'c>a', 'b60', 'a60', 'other50', 'x>other']);
    const names = ['a', 'b', 'c', 'x', 'other'];
    const spends = async (): Promise<unknown> => Promise.all(names.map(async (name) => [name, await ledger.spend(name, [0]), await ledger.newest(name)]));
    const before = await spends();
    await putLedger(database, () => each(lines));
    await putLedger(database, () => each(lines));
    t.same(await read(one), lines);
    t.same(await spends(), before);
    t.same(await one.ask('select count(*)::int as n from bh.ledger_rest'), [{ n: 0 }]);
    await ledger.carry('b', 'new');
    t.match((await ledger.spend('new', [0]))[0], { usd: 3 }, 'it goes on');
  });

  t.test('counts beyond all sense come along, however many there are', async (t) => {
    const one = await migrated(t);
    const most = Number.MAX_SAFE_INTEGER;
    const strange = { usage: { inputTokens: most, outputTokens: 0, totalTokens: most }, costUsd: 1e11 };
    const lines = Array.from({ length: 1050 }, (_, n) => ({ ...line('a', 0, `${n}`), ...strange }));
    await putLedger(one.database, () => each(lines));
    t.equal((await read(one)).length, lines.length);
  });

  t.test('a line late in an old part keeps its part', async (t) => {
    const one = await migrated(t);
    const lines = [line('a', 50, 'x'), line('b', 10, 'late'), carry('a', 'b', 20), line('b', 30, 'early'), carry('b', 'c', 5)];
    await putLedger(one.database, () => each(lines));
    t.same(
      (await read(one)).map((each) => ('type' in each ? `${each.from}>${each.block}` : each.id)),
      ['x', 'late', 'a>b', 'early', 'b>c'],
    );
    const seen: unknown[] = [];
    await t.rejects(
      putLedger(one.database, async function* () {
        yield line('z', 1);
        seen.push(await one.ask("select 1 from pg_locks where mode = 'AccessExclusiveLock' limit 1"));
        throw new Error('the source is gone');
      }),
      { message: 'the source is gone' },
    );
    t.equal((await read(one)).length, 5, 'nothing has changed');
  });

  t.test('calls of clients and what keys have spent', async (t) => {
    const { database, ask } = await migrated(t);
    const call = (n: number, fields: Partial<GatewayCall> = {}): GatewayCall => ({
      ...{
        at: at(n),
        requestId: `r${n} \0`,
        key: 'app',
        group: 'g',
        provider: 'p',
        credential: 'second',
        model: 'm',
        usage,
        costUsd: 0.5,
        firstTextMs: 1,
        durationMs: 1,
        error: null,
      },
      ...fields,
    });
    const calls = [call(3000), call(2, { costUsd: null, leastUsd: 0.1 }), call(1, { key: null, usage: null, error: 'UPSTREAM_TIMEOUT' })];
    const sums = { usd: 1.25, tokens: 6, calls: 2, unpricedCalls: 1, output: 0, answers: 0 };
    const spent: CopiedSpend[] = [
      ['2026-11-02', 'app', { ...sums, usd: 10 }],
      ['2026-11-20', 'app', sums],
      ['2026-11-20', 'group:g', sums],
    ];
    for (let times = 0; times < 2; times += 1) await putCalls(database, () => each(calls), spent);
    const book = new PostgresGatewayBook({ database, node: () => 'n', now: () => NOW, isSure: () => true, renew: () => Promise.resolve() });
    t.teardown(() => book.close());
    const found: GatewayCall[] = [];
    for await (const one of book.lines()) found.push(one);
    t.match(
      found,
      calls.map((one) => ({ ...one, requestId: one.requestId.replace('\0', '\ufffd') })),
    );
    t.match(await book.spent('key', 'app'), { day: { usd: 1.25, calls: 2, unpricedCalls: 1 }, month: { usd: 11.25 } });
    t.match(await book.spent('group', 'g'), { day: { tokens: 6 } });
    t.match(await ask('select sum(calls)::int as calls, sum(failed)::int as failed from bh.gateway_day'), [{ calls: 3, failed: 1 }]);
    t.same(await ask('select count(*)::int as n from bh.gateway_call_rest'), [{ n: 0 }]);
  });
});
