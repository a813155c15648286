import t, { type Test } from 'tap';
import type { CappedKey, Caps, GatewayCall } from '../../../../core/store/port.ts';
import { PostgresGatewayBook } from '../../../../core/store/postgres/gateway-book.ts';
import { PostgresMembership as Membership } from '../../../../core/store/postgres/membership.ts';
import type { Database } from '../../../../core/store/postgres/pool.ts';
import { migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { untilSo } from '../../../support/until.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const USAGE = { inputTokens: 4, outputTokens: 6, totalTokens: 10 };

function callOf(requestId: string, fields: Partial<GatewayCall> = {}): GatewayCall {
  const shared = { key: 'app', provider: 'echo', model: 'echo-1', usage: USAGE, costUsd: 0.25, firstTextMs: 3, durationMs: 5, error: null };
  return { at: new Date(NOON).toISOString(), requestId, ...shared, ...fields };
}

async function bookOn(t: Test, database: Database, clock = { ms: NOON }, lease?: { ms: number }): Promise<PostgresGatewayBook & { node: string }> {
  const member = await Membership.join(database, { version: '1.0.0', url: null }, lease === undefined ? {} : { clock: () => lease.ms });
  const { node } = member;
  const book = new PostgresGatewayBook({ database, node: () => node, now: () => clock.ms, isSure: () => member.isSure, renew: () => member.renew() });
  t.teardown(() => book.close().catch(() => undefined));
  return Object.assign(book, { node });
}

const NO_CAPS = { usdPerDay: null, usdPerWeek: null, usdPerMonth: null, tokensPerDay: null, tokensPerMonth: null };
const capped = (caps: Partial<Caps>): Caps => ({ kind: 'key', name: 'app', ...NO_CAPS, ...caps });
const keyWith = (...bounds: Partial<Caps>[]): CappedKey => ({ name: 'app', bounds: bounds.map(capped) });
const KEY = keyWith({ usdPerDay: 10 });
const NOTHING = { usd: 0, tokens: 0 };
const roomIn = (book: PostgresGatewayBook, key = KEY) => book.room(key, { roughly: () => NOTHING, exactly: () => NOTHING });

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
    t.strictSame((await book.spent('key', 'app')).day, { usd: 0.75, tokens: 30, calls: 3, unpricedCalls: 1 });
    t.match(await book.spent('key', 'none'), { day: { usd: 0, calls: 0 }, lastDay: null });
    t.equal((await book.spent('key', 'app')).lastDay, calls[0]?.at.slice(0, '2026-11-22'.length));
    t.strictSame(await ask('select key, calls::int, failed::int, cost_usd::float8 from bh.gateway_day order by key'), [
      { key: '', calls: 1, failed: 1, cost_usd: 0 },
      { key: 'app', calls: 3, failed: 0, cost_usd: 0.75 },
    ]);
  });

  t.test('a line for several calls comes back as such, and a call that is in another line has none', async (t) => {
    const { database, ask } = await migrated(t);
    const book = await bookOn(t, database);
    const failed = { usage: null, costUsd: null, error: 'UPSTREAM_FAILED' as const };
    book.record(callOf('many', { ...failed, calls: 7 }));
    book.record(callOf('one', { ...failed, calls: 0 }));
    const lines: GatewayCall[] = [];
    for await (const line of book.lines()) lines.push(line);
    t.strictSame(lines, [callOf('many', { ...failed, calls: 7 })]);
    t.strictSame(await ask('select calls::int, failed::int, unpriced::int from bh.gateway_day'), [{ calls: 7, failed: 7, unpriced: 0 }]);
    t.match((await book.spent('key', 'app')).day, { calls: 0 });
  });

  t.test('lines are written by themselves', async (t) => {
    const { database, ask } = await migrated(t);
    (await bookOn(t, database)).record(callOf('1'));
    while ((await ask('select from bh.gateway_call')).length === 0) await new Promise((done) => setTimeout(done, 20));
  });

  t.test('K1: a key without caps is let through at once, and so is one whose grant lasts', async (t) => {
    const { database } = await migrated(t);
    const book = await bookOn(t, database);
    t.equal(roomIn(book, keyWith({ name: 'free' })), true);
    let statements = 0;
    database.timing = (work) => {
      statements += 1;
      return work();
    };
    t.strictSame(await Promise.all([roomIn(book, KEY), roomIn(book, KEY)]), [true, true]);
    t.equal(statements, 3, 'one question for all who wait');
    t.equal(roomIn(book, KEY), true);
    book.record(callOf('1', { costUsd: 6 }));
    t.equal(await roomIn(book, KEY), true, 'the grant is used up, and there is another');
    book.record(callOf('2', { costUsd: 4 }));
    t.match(await roomIn(book, KEY), { retryAfterMs: 12 * 3_600_000 });
    t.equal(await roomIn(book, keyWith({ usdPerDay: 11 })), true, 'a higher cap holds at once');
    t.match(await roomIn(book, keyWith({ tokensPerDay: 20 })), { retryAfterMs: 12 * 3_600_000 });
    t.equal(await roomIn(book, keyWith({ tokensPerDay: 21 })), true);
  });

  t.test('K2: servers together pass a cap by their calls under way at most', async (t) => {
    const { database, open } = await migrated(t);
    const books = [await bookOn(t, database), await bookOn(t, await open()), await bookOn(t, await open())];
    const key = keyWith({ usdPerDay: 100 });
    let calls = 0;
    let isOver = false;
    const client = async (book: PostgresGatewayBook, number: number): Promise<void> => {
      for (let n = 0; !isOver; n += 1) {
        const room = await roomIn(book, key);
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
    t.match((await books[0]?.spent('key', 'app'))?.day, { usd: calls, calls });
  });

  t.test('what is granted elsewhere may be free in a second, and is, when its server is given up or does not use it', async (t) => {
    const { database, open, ask } = await migrated(t);
    const [a, b] = [await bookOn(t, database), await bookOn(t, await open())];
    const key = keyWith({ tokensPerDay: 2 });
    t.equal(await roomIn(a, key), true);
    t.equal(await roomIn(b, key), true);
    b.record(callOf('1', { usage: { ...USAGE, totalTokens: 1 } }));
    t.match(await roomIn(b, key), { retryAfterMs: 1000 });
    await ask('delete from bh.node where id = $1', [a.node]);
    t.equal(await roomIn(b, key), true);
    await t.rejects(async () => roomIn(a, keyWith({ name: 'other', tokensPerDay: 2 })), { code: 'LEASE_LOST' });
    const c = await bookOn(t, await open());
    t.match(await roomIn(c, key), { retryAfterMs: 1000 });
    await b.giveBack();
    await b.giveBack();
    t.equal(await roomIn(c, key), true);
  });

  t.test('covered: who makes one call after the other passes a cap by the last one at most, on however many servers', async (t) => {
    const { database } = await migrated(t);
    const books = [await bookOn(t, database), await bookOn(t, database), await bookOn(t, database)] as const;
    const asks = (book: PostgresGatewayBook, key: CappedKey, own = { usd: 1, tokens: 1000 }, underWay = NOTHING) =>
      book.room(key, { roughly: () => underWay, exactly: () => underWay, own: () => own });
    for (const key of [keyWith({ usdPerDay: 1 }), keyWith({ name: 'tokens', tokensPerDay: 1000 }), keyWith({ name: 'small', usdPerMonth: 0.01 })]) {
      const name = key.bounds[0]?.name ?? '';
      let made = 0;
      for (const book of books) {
        if ((await asks(book, key)) !== true) continue;
        made += 1;
        book.record(callOf(`${name} ${made}`, { key: name, costUsd: 1, usage: { ...USAGE, totalTokens: 1000 } })); // its line is written a moment later
      }
      t.equal(made, 1, name);
      await Promise.all(books.map((book) => book.flush()));
      for (const book of books) t.match(await asks(book, key), { isUnderWay: false }, 'it is reached');
    }
  });

  t.test(
    'covered: what one call may use is asked for, and what is left of it serves the next; all that there is does for a call that may use more',
    async (t) => {
      const { database, ask } = await migrated(t);
      const [a, b] = [await bookOn(t, database), await bookOn(t, database)];
      const key = keyWith({ usdPerDay: 10 });
      const asks = (book: PostgresGatewayBook, usd: number, underWay = 0) => {
        const used = { usd: underWay, tokens: 0 };
        return book.room(key, { roughly: () => used, exactly: () => used, own: () => ({ usd, tokens: 0 }) });
      };
      const granted = async (book: { node: string }) => (await ask('select usd::float8 as usd from bh.key_grant where node = $1', [book.node]))[0]?.['usd'];
      t.equal(await asks(a, 1), true);
      t.equal(await granted(a), 2.5, 'the share of a server');
      t.equal(asks(a, 1, 1), true, 'it has room for two');
      t.equal(await asks(a, 3), true, 'a larger call asks for more');
      t.equal(await granted(a), 6);
      t.equal(await asks(b, 20), true, 'all that is left');
      t.equal(await granted(b), 4);
      t.equal(asks(b, 20), true, 'who has all of it asks no more');
      t.match(await asks(b, 20, 5), { isUnderWay: true, retryAfterMs: 1000 });
      await a.giveBack();
      await a.giveBack();
      t.equal(await asks(b, 20, 5), true, 'what another server gave back');
    },
  );

  t.test('what the calls under way of a server may use is not given back', async (t) => {
    const { database, ask } = await migrated(t);
    const [a, b] = [await bookOn(t, database), await bookOn(t, database)];
    const usage = { inputTokens: 10, outputTokens: 990, totalTokens: 1000 };
    const open = {
      id: '1',
      at: new Date(NOON).toISOString(),
      requestId: '1',
      key: 'app',
      group: 'team',
      provider: 'echo',
      model: 'echo-1',
      usage,
      costUsd: 9,
      error: 'SHUTTING_DOWN',
    } as const;
    const key = keyWith({ usdPerDay: 10 }, { kind: 'group', name: 'team', tokensPerDay: 1500 });
    const needs = (usd: number, tokens: number, book = a) => book.room(key, { roughly: () => ({ usd, tokens }), exactly: () => ({ usd, tokens }) });
    t.equal(await needs(5, 700), true);
    await a.note(open);
    for (let second = 0; second < 3; second += 1) await a.giveBack();
    t.strictSame(await ask('select key, usd::float8 as usd, tokens::int as tokens from bh.key_grant where node = $1 order by key', [a.node]), [
      { key: 'app', usd: 9, tokens: null },
      { key: 'group:team', usd: null, tokens: 1000 },
    ]);
    t.match(await needs(1, 1, b), { isUnderWay: true, retryAfterMs: 1000 }, 'nine of ten dollars may be gone');
    t.equal(await needs(0.4, 200, b), true, 'and one is left');
    a.record(callOf('1', { costUsd: 2, usage }), open);
    await a.flush();
    await a.giveBack();
    t.strictSame(await ask('select count(*)::int from bh.key_grant where node = $1', [a.node]), [{ count: 0 }]);
    t.equal(await needs(1, 1, b), true, 'it has ended, and took two');
  });

  t.test('what is kept for the calls under way is not lessened by a call that has ended and is not written yet', async (t) => {
    const { database, ask } = await migrated(t);
    const book = await bookOn(t, database);
    const usage = { inputTokens: 10, outputTokens: 290, totalTokens: 300 };
    const needs = (tokens: number) => book.room(keyWith({ tokensPerDay: 1000 }), { roughly: () => NOTHING, exactly: () => ({ usd: 0, tokens }) });
    t.equal(await needs(400), true);
    await book.note({ ...callOf('1'), id: '1', key: 'app', usage, error: 'SHUTTING_DOWN' as const });
    await book.giveBack();
    book.record(callOf('2', { usage: { ...usage, totalTokens: 400 } }));
    await book.giveBack();
    await book.flush();
    t.strictSame(await ask('select tokens::int as tokens from bh.key_grant'), [{ tokens: 300 }]);
  });

  t.test('calls that are under way when a day begins hold their room on it', async (t) => {
    const { database, ask } = await migrated(t);
    const clock = { ms: Date.parse('2026-11-20T23:59:59.000Z') };
    const [a, b] = [await bookOn(t, database, clock), await bookOn(t, database, clock)];
    const usage = { inputTokens: 10, outputTokens: 990, totalTokens: 1000 };
    const open = { ...callOf('1', { costUsd: 9 }), id: '1', key: 'app', usage, error: 'SHUTTING_DOWN' as const };
    const key = keyWith({ usdPerMonth: 10 });
    const needs = (usd: number, book: PostgresGatewayBook) => book.room(key, { roughly: () => ({ usd, tokens: 0 }), exactly: () => ({ usd, tokens: 0 }) });
    t.equal(await needs(5, a), true);
    await a.note(open);
    await a.giveBack();
    await a.giveBack();
    clock.ms += 2000;
    t.match(await needs(2, b), { isUnderWay: true }, 'nine of ten dollars may be gone');
    t.equal(await needs(0.4, b), true, 'and one is left');
    await b.giveBack();
    await b.giveBack();
    t.equal(await needs(9.5, a), true, 'the server that has them may use what is left, too');
    t.strictSame(await ask('select day::text, usd::float8 as usd from bh.key_grant where node = $1', [a.node]), [{ day: '2026-11-21', usd: 10 }]);
    a.record(callOf('1', { costUsd: 2, usage, at: new Date(clock.ms).toISOString() }), open);
    await a.flush();
    await a.giveBack();
    await a.giveBack();
    t.equal(await needs(7, b), true, 'it has ended, and took two');
  });

  t.test('K3: a line counts once, however often its answer is lost', async (t) => {
    const { openByProxy, ask } = await migrated(t);
    const { database, proxy } = await openByProxy();
    const book = await bookOn(t, database);
    await book.spent('key', '');
    proxy.loseAnswerTo('insert into');
    book.record(callOf('1'));
    book.record(callOf('1'));
    await t.rejects(book.flush(), { code: 'STORE_UNREACHABLE' });
    await book.flush();
    t.match((await book.spent('key', 'app')).day, { usd: 0.5, calls: 2 });
    t.strictSame(await ask('select count(*)::int as n from bh.gateway_call'), [{ n: 2 }]);
  });

  t.test('nothing that a call says keeps it or the calls of others from being written', async (t) => {
    const { database, ask } = await migrated(t);
    const book = await bookOn(t, database);
    const model = Array.from({ length: 2048 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000))).join('');
    const tokens = { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: Number.MAX_SAFE_INTEGER, totalTokens: 2 * Number.MAX_SAFE_INTEGER };
    book.record(callOf('long', { key: 'other', model }));
    t.equal(await roomIn(book, keyWith({ name: 'rich', usdPerDay: 1e12, tokensPerDay: 1e300 })), true);
    for (let n = 0; n < 2; n += 1) {
      for (let call = 0; call < 300; call += 1) book.record(callOf(`dear ${n} ${call}`, { key: 'rich', costUsd: 1e10, usage: tokens, durationMs: 1e12 }));
      await book.flush();
    }
    book.record(callOf('own'));
    t.match((await book.spent('key', 'app')).day, { usd: 0.25, calls: 1 });
    t.match((await book.spent('key', 'other')).day, { usd: 0.25, calls: 1 });
    t.match((await book.spent('key', 'rich')).day, { usd: 999_999_999, calls: 600 });
    t.match(await roomIn(book, keyWith({ name: 'rich', usdPerDay: 1e6 })), { isUnderWay: false });
    t.strictSame(await ask('select count(*)::int as n from bh.gateway_call'), [{ n: 602 }]);
  });

  t.test('while the database is away a key works as far as its grant, and its lines wait', async (t) => {
    const { openByProxy } = await migrated(t);
    const { database, proxy } = await openByProxy();
    const book = await bookOn(t, database);
    t.equal(await roomIn(book, KEY), true);
    proxy.refuse();
    book.record(callOf('1', { costUsd: 4 }));
    t.equal(roomIn(book, KEY), true);
    book.record(callOf('2', { costUsd: 2 }));
    await t.rejects(async () => roomIn(book, KEY), { code: 'STORE_UNREACHABLE' });
    proxy.heal();
    t.equal(await roomIn(book, KEY), true);
    t.match((await book.spent('key', 'app')).day, { usd: 6 });
  });

  t.test('a call waits for a question that the database holds up, but not for ever, and the answer serves the next one', async (t) => {
    const { database, open } = await migrated(t);
    const { node } = await bookOn(t, database);
    const slow = new PostgresGatewayBook({
      database: await open(),
      node: () => node,
      now: () => NOON,
      isSure: () => true,
      renew: () => Promise.resolve(),
      patienceMs: 100,
    });
    t.teardown(() => slow.close());
    const held = await database.hold('locks');
    await held.run({ name: '', text: 'lock table bh.key_day in access exclusive mode' });
    for (let n = 0; n < 2; n += 1) await t.rejects(async () => roomIn(slow, KEY), { code: 'STORE_UNREACHABLE', retryAfterMs: 1000 });
    await held.end();
    await untilSo('it has answered', async () => (await Promise.resolve(roomIn(slow, KEY)).catch(() => false)) === true);
  });

  t.test('together: many keys that ask at once wait for one transaction, and each has what its own caps leave', async (t) => {
    const { database, ask, open } = await migrated(t);
    const [book, elsewhere] = [await bookOn(t, database), await bookOn(t, await open())];
    const named = (name: string, usdPerDay: number): CappedKey => ({ name, bounds: [{ ...capped({ usdPerDay }), name }] });
    elsewhere.record(callOf('spent', { key: 'key-1', costUsd: 10 }));
    await elsewhere.flush();
    t.equal(await roomIn(elsewhere, named('key-2', 0.5)), true);
    await roomIn(book); // what is prepared once

    let statements = 0;
    database.timing = (work) => {
      statements += 1;
      return work();
    };
    const many = Array.from({ length: 300 }, (_, n) => named(`key-${n}`, n === 3 ? 0 : 10));
    const rooms = await Promise.all(many.map((key) => roomIn(book, key)));
    t.ok(statements <= 20, `${statements}`);
    const refused = rooms.flatMap((room, n) => (room === true ? [] : [[n, room.isUnderWay]]));
    t.strictSame(refused, [
      [1, false],
      [3, false],
    ]);
    const given = await ask(`select key, usd::float8 from bh.key_grant where node = $1 and key in ('key-0', 'key-1', 'key-2', 'key-299') order by key`, [
      book.node,
    ]);
    t.strictSame(given, [
      { key: 'key-0', usd: 2.5 },
      { key: 'key-1', usd: 0 },
      { key: 'key-2', usd: (10 - 0.125) / 4 },
      { key: 'key-299', usd: 2.5 },
    ]);
  });

  t.test('together: what many keys have spent is one question', async (t) => {
    const { database } = await migrated(t);
    const book = await bookOn(t, database);
    const names = Array.from({ length: 200 }, (_, n) => `key-${n}`);
    for (const key of names.slice(0, 100)) book.record(callOf(key, { key, group: 'all' }));
    await book.spent('key', 'app'); // what is prepared once, and the lines
    let statements = 0;
    database.timing = (work) => {
      statements += 1;
      return work();
    };
    const [group, ...spent] = await Promise.all([book.spent('group', 'all'), ...names.map((name) => book.spent('key', name))]);
    t.ok(statements <= 4, `${statements}`);
    t.match(group, { month: { calls: 100, tokens: 1000 }, lastDay: '2026-11-20' });
    t.strictSame(
      spent.map(({ day: { calls }, lastDay }) => [calls, lastDay]),
      names.map((_, n) => (n < 100 ? [1, '2026-11-20'] : [0, null])),
    );
  });

  t.test('a server that ends while the database is away says what it could not count', async (t) => {
    const { openByProxy } = await migrated(t);
    const { database, proxy } = await openByProxy();
    const book = await bookOn(t, database);
    proxy.refuse();
    for (const id of ['1', '2']) book.record(callOf(id, { costUsd: 0.1 }));
    book.record(callOf('3', { key: null, usage: null, costUsd: null }));
    await t.rejects(book.close(), { code: 'STORE_UNREACHABLE', message: /key app: 2 calls, 20 tokens, 0\.2 USD; the token: 1 call, 0 tokens, 0 USD\.$/ });
  });

  t.test('no server spends what it was granted once others may have it, because its lease has ended', async (t) => {
    const { database, openByProxy, ask } = await migrated(t);
    const { database: cutOff, proxy } = await openByProxy();
    const lease = { ms: 0 };
    const [a, b] = [await bookOn(t, cutOff, { ms: NOON }, lease), await bookOn(t, database)];
    t.equal(await roomIn(a), true);
    proxy.refuse();
    lease.ms += 7999;
    t.equal(roomIn(a), true);
    await ask('delete from bh.node where id = $1', [a.node]);
    lease.ms += 1;
    t.equal(await roomIn(b), true);
    b.record(callOf('1', { costUsd: 10 }));
    await b.flush();
    await t.rejects(async () => roomIn(a), { code: 'STORE_UNREACHABLE' });
    proxy.heal();
    await t.rejects(async () => roomIn(a), { code: 'LEASE_LOST' });
  });

  t.test('a lease that has ended is renewed when a call asks', async (t) => {
    const lease = { ms: 0 };
    const book = await bookOn(t, (await migrated(t)).database, { ms: NOON }, lease);
    t.equal(await roomIn(book), true);
    lease.ms += 8000;
    t.equal(await roomIn(book), true);
    t.equal(roomIn(book), true);
  });

  t.test('no grant outlives its day, and a call counts on the day of its end', async (t) => {
    const clock = { ms: NOON };
    const book = await bookOn(t, (await migrated(t)).database, clock);
    book.record(callOf('1', { costUsd: 10 }));
    t.match(await roomIn(book, KEY), { retryAfterMs: 12 * 3_600_000 });
    clock.ms += 12 * 3_600_000;
    const room = roomIn(book, KEY);
    t.not(room, true);
    t.equal(await room, true);
    book.record(callOf('2', { costUsd: 10, at: new Date(NOON).toISOString() }));
    t.equal(roomIn(book, KEY), true, 'of yesterday');
  });

  t.test('caps of a week, of a month and of a group hold beside those of the day, and a group counts all its keys', async (t) => {
    const clock = { ms: Date.parse('2026-11-25T12:00:00.000Z') }; // a Wednesday
    const book = await bookOn(t, (await migrated(t)).database, clock);
    const at = (day: string) => ({ at: `${day}T10:00:00.000Z`, costUsd: 1 });
    for (const day of ['2026-11-02', '2026-11-23', '2026-11-25']) book.record(callOf(day, { ...at(day), group: 'team' }));
    book.record(callOf('other', { ...at('2026-11-25'), key: 'other', group: 'team' }));
    t.match(await book.spent('key', 'app'), { day: { usd: 1 }, week: { usd: 2 }, month: { usd: 3, calls: 3 } });
    t.match(await book.spent('group', 'team'), { day: { usd: 2 }, week: { usd: 3 }, month: { usd: 4, tokens: 40 } });
    t.match(await roomIn(book, keyWith({ usdPerWeek: 2 })), { cap: '2 USD a week', resets: 'on Monday at 00:00 UTC', isUnderWay: false });
    t.match(await roomIn(book, keyWith({ tokensPerMonth: 30 })), { cap: '30 tokens a month', isUnderWay: false });
    t.equal(await roomIn(book, keyWith({ usdPerWeek: 2.5, usdPerMonth: 3.5 })), true);
    const team = { kind: 'group', name: 'team' } as const;
    t.match(await roomIn(book, keyWith({ usdPerDay: 5 }, { ...team, usdPerMonth: 4 })), { bound: team, cap: '4 USD a month' });
    t.equal(await roomIn(book, keyWith({ usdPerDay: 5 }, { ...team, usdPerMonth: 5 })), true);
    book.record(callOf('last', { ...at('2026-11-25'), key: 'other', group: 'team' }));
    t.match(await roomIn(book, keyWith({ usdPerDay: 5 }, { ...team, usdPerMonth: 5 })), { bound: team }, 'what another key of the group has spent');
  });
});
