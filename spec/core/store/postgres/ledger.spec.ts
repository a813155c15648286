// What several servers on one ledger see. The laws of all stores are in spec/conformance/store/.
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { PostgresLedger, valuesOf } from '../../../../core/store/postgres/ledger.ts';
import { PostgresMembership as Membership } from '../../../../core/store/postgres/membership.ts';
import type { Database } from '../../../../core/store/postgres/pool.ts';
import * as sql from '../../../../core/store/postgres/sql/ledger.ts';
import { callOf, lineOf } from '../../../conformance/store/ledger-suite.ts';
import { migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { until } from '../../../support/until.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const now = (): number => NOON;
const ledgerOn = (database: Database, node: string | null = null): PostgresLedger => new PostgresLedger({ database, node: () => node, now });

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('four servers that ask for one block at once hold what fits, and no more', async (t) => {
    const { database, open, ask } = await migrated(t);
    const ledgers = [database, await open(), await open(), await open()].map((each) => ledgerOn(each));
    const work = async (ledger: PostgresLedger, server: number): Promise<number> => {
      let held = 0;
      for (let n = 0; n < 20; n += 1)
        if ((await ledger.reserve(callOf(`${server}-${n}`, 1, { dailyUsd: 25 }), new AbortController().signal)).kind === 'ok') held += 1;
      return held;
    };
    const held = await Promise.all(ledgers.map(work));
    t.equal(
      held.reduce((sum, each) => sum + each, 0),
      25,
    );
    t.strictSame(await ask('select count(*)::int as n from bh.reservation'), [{ n: 25 }]);
  });

  t.test('what a server holds goes with it when it is given up', async (t) => {
    const { database, ask } = await migrated(t);
    const node = await Membership.join(database, { version: '1.0.0', url: null });
    t.equal((await ledgerOn(database, node.node).reserve(callOf('a', 1), new AbortController().signal)).kind, 'ok');
    t.equal((await ledgerOn(database).reserve(callOf('b', 1), new AbortController().signal)).kind, 'beside');
    await ask('delete from bh.node');
    t.equal((await ledgerOn(database).reserve(callOf('b', 1), new AbortController().signal)).kind, 'ok');
  });

  t.test('a paid call counts although the database was away, once', async (t) => {
    const { openByProxy, ask } = await migrated(t);
    const { database, proxy } = await openByProxy();
    const ledger = ledgerOn(database);
    await ledger.ready();
    await ledger.spend('ada', [0]);
    proxy.loseAnswerTo('insert into');
    await t.rejects(ledger.append(lineOf('1')), { code: 'STORE_UNREACHABLE' });
    proxy.refuse();
    const { id: _none, ...line } = lineOf('2');
    await t.rejects(ledger.append(line), { code: 'STORE_UNREACHABLE' });
    await t.rejects(ledger.close(), { code: 'STORE_UNREACHABLE' });
    await ledger.tellDamage();
    await t.rejects(ledger.append(lineOf('3')), { message: 'the ledger is closed' });
    proxy.heal();
    await ledger.ready();
    t.strictSame(await ledger.spend('ada', [NOON]), [{ usd: 0.5, tokens: 20 }]);
    t.strictSame(await ask('select count(*)::int as n from bh.ledger'), [{ n: 2 }]);
  });

  t.test('of many calls that end at the same time, each line is written once', async (t) => {
    const { database } = await migrated(t);
    let statements = 0;
    const query: Database['query'] = (...given) => {
      statements += 1;
      return database.query(...given);
    };
    const counted = { query, transaction: database.transaction.bind(database) } as Database;
    const ledger = ledgerOn(counted);
    await Promise.all(Array.from({ length: 50 }, async (_, n) => ledger.append(lineOf(`${n}`))));
    t.equal(statements, 50);
    t.equal((await ledger.report({ by: 'day' })).total.calls, 50);
  });

  t.test('what could not be written is written when the database is back, by a server that makes no further call', async (t) => {
    const { openByProxy, ask } = await migrated(t);
    const { database, proxy } = await openByProxy();
    const ledger = ledgerOn(database);
    await ledger.ready();
    proxy.refuse();
    await t.rejects(ledger.append(lineOf('1')), { code: 'STORE_UNREACHABLE' });
    ledger.hand(lineOf('2'));
    ledger.send(lineOf('2'))?.failed();
    proxy.heal();
    const written = async (): Promise<unknown> => (await ask('select count(*)::int as n from bh.ledger'))[0]?.['n'];
    const deadline = performance.now() + 60_000;
    while ((await written()) !== 2 && performance.now() < deadline) await delay(50);
    t.equal(await written(), 2);
  });

  t.test('L2, L3: a line that was handed over and goes with no answer is written alone, once, and holds its place until then', async (t) => {
    const { database, ask } = await migrated(t);
    const ran: string[] = [];
    const query: Database['query'] = (statement, values) => {
      ran.push(statement.name);
      return database.query(statement, values);
    };
    const { transaction } = database;
    const ledger = ledgerOn({ query, transaction: transaction.bind(database) } as unknown as Database);
    const lines = () => ask('select call_id from bh.ledger order by call_id');
    const held = () => ask('select call_id from bh.reservation');
    t.equal((await ledger.reserve(callOf('1', 1), new AbortController().signal)).kind, 'ok');
    ledger.hand(lineOf('1'));
    ledger.release({ block: 'ada', id: '1' });
    t.strictSame([await lines(), await held()], [[], [{ call_id: '1' }]], 'it counts as reserved');
    t.strictSame(await ledger.spend('ada', [NOON]), [{ usd: 0.25, tokens: 10 }], 'who asks what was spent gets it with the line');
    t.strictSame([await lines(), await held()], [[{ call_id: '1' }], []]);
    t.equal(ledger.send(lineOf('1')), undefined, 'it has no answer to go with any more');

    ledger.hand(lineOf('2'));
    t.ok(ledger.send(lineOf('2')));
    ledger.send(lineOf('2'))?.failed();
    ledger.hand(lineOf('3'));
    ledger.send(lineOf('3'))?.failed();
    await ledger.ready();
    t.strictSame(await lines(), [{ call_id: '1' }, { call_id: '3' }], 'one whose outcome is not known is written before another call');
    ran.length = 0;
    ledger.hand(lineOf('4'));
    await until('a line is written alone', () => ran.at(-1) === 'ledger-add');
    await ledger.ready();
    ledger.hand(lineOf('5'));
    await ledger.close();
    t.equal((await lines()).length, 4);
  });

  t.test('what lines that are written at the same time have answered is not taken for what was spent', async (t) => {
    const { database } = await migrated(t);
    let both: (() => void) | undefined;
    const secondAnswered = new Promise<void>((resolve) => (both = resolve));
    let adds = 0;
    const query: Database['query'] = async (statement, values) => {
      const isFirst = statement.name === 'ledger-add' && ++adds === 1;
      const rows = await database.query(statement, values);
      if (isFirst) await secondAnswered;
      return rows as never;
    };
    const ledger = ledgerOn({ query } as unknown as Database);
    await ledger.spend('ada', [0]);
    const first = ledger.append(lineOf('1'));
    const second = ledger.append(lineOf('2'));
    while (adds < 2) await delay(5);
    await delay(50);
    both?.();
    await Promise.all([first, second]);
    t.strictSame(await ledger.spend('ada', [0]), [{ usd: 0.5, tokens: 20 }]);
  });

  t.test('the statement of a line answers what was asked before it, with the earlier names of the block', async (t) => {
    const { database, open, ask } = await migrated(t);
    const other = ledgerOn(await open());
    const ran: string[] = [];
    const query: Database['query'] = (statement, values) => {
      ran.push(statement.name);
      return database.query(statement, values);
    };
    let clock = 0;
    const ledger = new PostgresLedger({ database: { query } as Database, node: () => null, now, clock: () => clock });
    await other.append(lineOf('1', { costUsd: 1, block: 'bob' }));
    await other.carry('bob', 'ada');
    await ledger.spend('ada', [NOON, 0, NOON + 3_600_000]);
    await Promise.all([other.append(lineOf('2', { costUsd: 2 })), ledger.append(lineOf('3', { costUsd: 4 }))]);
    await ledger.append(lineOf('4', { costUsd: 8 }));
    t.strictSame(
      (await ledger.spend('ada', [NOON, 0, NOON + 3_600_000])).map(({ usd }) => usd),
      [15, 15, 0],
    );
    t.strictSame(ran, ['ledger-spend', 'ledger-add', 'ledger-add']);
    await ledger.append(lineOf('5', { costUsd: 16 }));
    t.strictSame(
      (await ledger.spend('ada', [NOON])).map(({ usd }) => usd),
      [31],
      'of another time',
    );
    await Promise.all([ledger.append(lineOf('6', { costUsd: 32 })), ledger.append(lineOf('6', { costUsd: 32 })), ledger.append(lineOf('6', { costUsd: 32 }))]);
    t.strictSame(
      (await ledger.spend('ada', [NOON])).map(({ usd }) => usd),
      [63],
    );
    await other.append(lineOf('7', { costUsd: 64 }));
    t.strictSame(
      (await ledger.spend('ada', [NOON])).map(({ usd }) => usd),
      [127],
      'an answer is given once',
    );
    await ledger.append(lineOf('8', { costUsd: 128 }));
    await other.append(lineOf('9', { costUsd: 256 }));
    clock += 100;
    t.strictSame(
      (await ledger.spend('ada', [NOON])).map(({ usd }) => usd),
      [511],
      'and soon',
    );
    t.strictSame(await ask('select sum(calls)::int as n from bh.spend'), [{ n: 9 }]);
  });

  t.test('what a block has spent is looked up by its parts, among what very many have spent', async (t) => {
    const { ask, database } = await migrated(t);
    await ask("insert into bh.budget (block, part) select 'b' || n, n from generate_series(1, 1000) n");
    await ask(
      `insert into bh.spend (part, quarter, calls, tokens, cost_usd, newest)
       select p, date_bin('15 minutes', now(), timestamptz 'epoch') - q * interval '15 minutes', 1, 1, 1, now() from generate_series(1, 1000) p, generate_series(1, 50) q`,
    );
    await ask('analyze bh.spend');
    const since = [new Date(0).toISOString()];
    const line = [...valuesOf(lineOf('1', { block: 'b7', at: new Date().toISOString() })), since];
    for (const [{ name, text }, values] of [
      [sql.STAND, ['b7', ...since, ...since, 'c']],
      [sql.STAND_AND_HOLD, ['b7', ...since, ...since, 'c', null, 1, 1]],
      [sql.SPEND, ['b7', since]],
      [sql.NEWEST, ['b7']],
      [sql.ADD, line],
    ] as const) {
      const plan = await ask(`explain ${database.text(text)}`, [...values]);
      t.match(plan.map((row) => row['QUERY PLAN']).join('\n'), /Index Cond: \(+part = \w+\.part\)/, name);
    }
  });

  t.test('a reservation that could not be taken back is taken back later', async (t) => {
    const { openByProxy, ask } = await migrated(t);
    const { database, proxy } = await openByProxy();
    const ledger = ledgerOn(database);
    await ledger.reserve(callOf('a', 1), new AbortController().signal);
    proxy.refuse();
    ledger.release(callOf('a', 1));
    const held = async (): Promise<unknown> => (await ask('select count(*)::int as n from bh.reservation'))[0]?.['n'];
    t.equal(await held(), 1);
    proxy.heal();
    while ((await held()) !== 0) await new Promise((done) => setTimeout(done, 20));
  });

  t.test('all lines are read in pieces, in both directions', async (t: Test) => {
    const { database, ask } = await migrated(t);
    const ledger = ledgerOn(database);
    await ledger.append(lineOf('first'));
    await ask(`
      insert into bh.ledger (at, call_id, block, part, provider, model, purpose)
      select timestamptz '2026-11-20T12:00:00Z' + n / 3 * interval '1 s', n, 'ada', (select part from bh.budget), 'echo', 'echo-1', 'chat' from generate_series(1, 2500) n`);
    const seen = new Set<string | undefined>();
    let last = '';
    for await (const { at, id } of ledger.lines()) {
      if (at < last) t.fail('the oldest come first');
      seen.add(id);
      last = at;
    }
    t.equal(seen.size, 2501);
    let count = 0;
    for await (const { at } of ledger.newestFirst('ada', 0)) {
      if (at > last) t.fail('the newest come first');
      last = at;
      count += 1;
    }
    t.equal(count, 2501);
  });

  t.test('a name that is no text for the database, and a cost beyond all measure, are kept nearly', async (t) => {
    const ledger = ledgerOn((await migrated(t)).database);
    await ledger.append(lineOf('1', { model: 'a\0b', costUsd: 1e12 }));
    for await (const { model, costUsd } of ledger.lines()) t.strictSame([model, costUsd], ['a\ufffdb', 1e12]);
    t.equal((await ledger.spend('ada', [0]))[0].usd, 99_999_999);
    for (const strange of [1e22, -1e308, 1e308, Number.NaN, Number.POSITIVE_INFINITY])
      await t.resolves(ledger.append(lineOf(`${strange}`, { usage: { inputTokens: 1, outputTokens: 1, totalTokens: strange }, costUsd: strange })));
  });
});
