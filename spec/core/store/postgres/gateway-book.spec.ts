import t, { type Test } from 'tap';
import { PostgresGatewayBook } from '../../../../core/store/postgres/gateway-book.ts';
import { PostgresMembership as Membership } from '../../../../core/store/postgres/membership.ts';
import type { Database } from '../../../../core/store/postgres/pool.ts';
import type { GatewayCall } from '../../../../core/store/port.ts';
import { migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const USAGE = { inputTokens: 4, outputTokens: 6, totalTokens: 10 };

function callOf(requestId: string, fields: Partial<GatewayCall> = {}): GatewayCall {
  const shared = { key: 'app', provider: 'echo', model: 'echo-1', usage: USAGE, costUsd: 0.25, firstTextMs: 3, durationMs: 5, error: null };
  return { at: new Date(NOON).toISOString(), requestId, ...shared, ...fields };
}

async function bookOn(t: Test, database: Database, clock = { ms: NOON }): Promise<PostgresGatewayBook & { node: string }> {
  const { node } = await Membership.join(database, { version: '1.0.0', url: null });
  const book = new PostgresGatewayBook({ database, node: () => node, now: () => clock.ms });
  t.teardown(() => book.close().catch(() => undefined));
  return Object.assign(book, { node });
}

const KEY = { name: 'app', usdPerDay: 10, tokensPerDay: null };

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('calls are lines and sums, and come back as they were', async (t) => {
    const { database, ask } = await migrated(t);
    const book = await bookOn(t, database);
    const calls = [
      callOf('1'),
      callOf('2', { key: null, usage: null, costUsd: null, error: 'UPSTREAM_FAILED', firstTextMs: null }),
      callOf('3', { costUsd: null, leastUsd: 0.5 }),
      callOf('4', { costUsd: null }),
    ];
    for (const call of calls) book.record(call);
    const lines: GatewayCall[] = [];
    for await (const line of book.lines()) lines.push(line);
    t.strictSame(lines, calls);
    t.strictSame(await book.spentToday('app'), { usd: 0.75, tokens: 30, calls: 3, unpricedCalls: 1 });
    t.match(await book.spentToday('none'), { usd: 0, calls: 0 });
    t.strictSame(await ask('select key, calls::int, failed::int, cost_usd::float8 from bh.gateway_day order by key'), [
      { key: '', calls: 1, failed: 1, cost_usd: 0 },
      { key: 'app', calls: 3, failed: 0, cost_usd: 0.75 },
    ]);
  });

  t.test('lines are written by themselves', async (t) => {
    const { database, ask } = await migrated(t);
    (await bookOn(t, database)).record(callOf('1'));
    while ((await ask('select from bh.gateway_call')).length === 0) await new Promise((done) => setTimeout(done, 20));
  });

  t.test('K1: a key without caps is let through at once, and so is one whose grant lasts', async (t) => {
    const book = await bookOn(t, (await migrated(t)).database);
    t.equal(book.room({ name: 'free', usdPerDay: null, tokensPerDay: null }), true);
    const asked = [book.room(KEY), book.room(KEY)];
    t.equal(asked[0], asked[1], 'one question for all who wait');
    t.equal(await asked[0], true);
    t.equal(book.room(KEY), true);
    book.record(callOf('1', { costUsd: 6 }));
    t.equal(await book.room(KEY), true, 'the grant is used up, and there is another');
    book.record(callOf('2', { costUsd: 4 }));
    t.match(await book.room(KEY), { retryAfterMs: 12 * 3_600_000 });
    t.equal(await book.room({ ...KEY, usdPerDay: 11 }), true, 'a higher cap holds at once');
    t.match(await book.room({ ...KEY, usdPerDay: null, tokensPerDay: 20 }), { retryAfterMs: 12 * 3_600_000 });
    t.equal(await book.room({ ...KEY, usdPerDay: null, tokensPerDay: 21 }), true);
  });

  t.test('K2: servers together pass a cap by their calls under way at most', async (t) => {
    const { database, open } = await migrated(t);
    const books = [await bookOn(t, database), await bookOn(t, await open()), await bookOn(t, await open())];
    const key = { name: 'app', usdPerDay: 100, tokensPerDay: null };
    let calls = 0;
    let isOver = false;
    const client = async (book: PostgresGatewayBook, number: number): Promise<void> => {
      for (let n = 0; !isOver; n += 1) {
        const room = await book.room(key);
        if (room === true) {
          await new Promise((done) => setImmediate(done));
          calls += 1;
          book.record(callOf(`${number}-${n}`, { costUsd: 1 }));
        } else if (room.retryAfterMs > 1000) isOver = true;
        else {
          await Promise.all(books.map((each) => each.giveBack()));
          await Promise.all(books.map((each) => each.giveBack()));
        }
      }
    };
    await Promise.all(Array.from({ length: 24 }, (_, number) => client(books[number % 3] as PostgresGatewayBook, number)));
    await Promise.all(books.map((book) => book.flush()));
    t.ok(calls >= 100, `${calls} calls`);
    t.ok(calls <= 124, `${calls} calls with 24 under way`);
    t.match(await books[0]?.spentToday('app'), { usd: calls, calls });
  });

  t.test('what is granted elsewhere may be free in a second, and is, when its server is given up or does not use it', async (t) => {
    const { database, open, ask } = await migrated(t);
    const [a, b] = [await bookOn(t, database), await bookOn(t, await open())];
    const key = { name: 'app', usdPerDay: null, tokensPerDay: 2 };
    t.equal(await a.room(key), true);
    t.equal(await b.room(key), true);
    b.record(callOf('1', { usage: { ...USAGE, totalTokens: 1 } }));
    t.match(await b.room(key), { retryAfterMs: 1000 });
    await ask('delete from bh.node where id = $1', [a.node]);
    t.equal(await b.room(key), true);
    await t.rejects(async () => a.room({ ...key, name: 'other' }), { code: 'LEASE_LOST' });
    const c = await bookOn(t, await open());
    t.match(await c.room(key), { retryAfterMs: 1000 });
    await b.giveBack();
    await b.giveBack();
    t.equal(await c.room(key), true);
  });

  t.test('K3: a line counts once, however often its answer is lost', async (t) => {
    const { openByProxy, ask } = await migrated(t);
    const { database, proxy } = await openByProxy();
    const book = await bookOn(t, database);
    await book.spentToday('');
    proxy.loseAnswerTo('insert into');
    book.record(callOf('1'));
    book.record(callOf('1'));
    await t.rejects(book.flush(), { code: 'STORE_UNREACHABLE' });
    await book.flush();
    t.match(await book.spentToday('app'), { usd: 0.5, calls: 2 });
    t.strictSame(await ask('select count(*)::int as n from bh.gateway_call'), [{ n: 2 }]);
  });

  t.test('while the database is away a key works as far as its grant, and its lines wait', async (t) => {
    const { openByProxy } = await migrated(t);
    const { database, proxy } = await openByProxy();
    const book = await bookOn(t, database);
    t.equal(await book.room(KEY), true);
    proxy.refuse();
    book.record(callOf('1', { costUsd: 4 }));
    t.equal(book.room(KEY), true);
    book.record(callOf('2', { costUsd: 2 }));
    await t.rejects(async () => book.room(KEY), { code: 'STORE_UNREACHABLE' });
    proxy.heal();
    t.equal(await book.room(KEY), true);
    t.match(await book.spentToday('app'), { usd: 6 });
  });

  t.test('no grant outlives its day, and a call counts on the day of its end', async (t) => {
    const clock = { ms: NOON };
    const book = await bookOn(t, (await migrated(t)).database, clock);
    book.record(callOf('1', { costUsd: 10 }));
    t.match(await book.room(KEY), { retryAfterMs: 12 * 3_600_000 });
    clock.ms += 12 * 3_600_000;
    const room = book.room(KEY);
    t.not(room, true);
    t.equal(await room, true);
    book.record(callOf('2', { costUsd: 10, at: new Date(NOON).toISOString() }));
    t.equal(book.room(KEY), true, 'of yesterday');
  });
});
