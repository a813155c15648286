import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CallParts } from '../../../../core/store/files/ledger/call-parts.ts';
import type { CappedKey, GatewayCall, OpenCall } from '../../../../core/store/port.ts';
import { PostgresGatewayBook } from '../../../../core/store/postgres/gateway-book.ts';
import { PostgresMembership } from '../../../../core/store/postgres/membership.ts';
import { NotedCalls } from '../../../../core/store/postgres/noted-calls.ts';
import type { Database } from '../../../../core/store/postgres/pool.ts';
import { migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { withSmallDisk } from '../../../support/small-disk.ts';
import { untilSo } from '../../../support/until.ts';

const AT = '2026-11-20T12:00:00.000Z';
const NOON = Date.parse(AT);
const EXPECTED = { inputTokens: 1, outputTokens: 999, totalTokens: 1000, estimated: true };
const USED = { inputTokens: 1, outputTokens: 9, totalTokens: 10 };
const NO_CAPS = { usdPerDay: null, usdPerWeek: null, usdPerMonth: null, tokensPerDay: null, tokensPerMonth: null };
const KEY: CappedKey = { name: 'app', bounds: [{ kind: 'key', name: 'app', ...NO_CAPS, tokensPerDay: 5000 }] };
const NOTHING = { usd: 0, tokens: 0 };
const call = (id: string, fields: Partial<OpenCall> = {}): OpenCall => ({
  id,
  at: AT,
  requestId: id,
  key: 'app',
  group: 'team',
  provider: 'p',
  model: 'm',
  usage: EXPECTED,
  costUsd: 0.5,
  error: 'SHUTTING_DOWN',
  ...fields,
});
const ended = (requestId: string, fields: Partial<GatewayCall> = {}): GatewayCall => {
  const { id: _id, ...own } = call(requestId, { usage: USED, costUsd: 0.25, error: null });
  return { ...own, firstTextMs: 1, durationMs: 2, ...fields };
};
const roomIn = (book: PostgresGatewayBook) => book.room(KEY, { roughly: () => NOTHING, exactly: () => NOTHING });
const dayOf = async (book: PostgresGatewayBook, kind: 'key' | 'group' = 'key') => (await book.spent(kind, kind === 'key' ? 'app' : 'team')).day;

/** A server with the folder of another one that was killed. */
async function bookIn(t: Test, database: Database, folder: string, faults: unknown[] = []): Promise<PostgresGatewayBook> {
  const { node } = await PostgresMembership.join(database, { version: '1.0.0', url: null });
  const notes = await CallParts.open(folder, { onFault: (error) => faults.push(error), now: () => NOON });
  const book = new PostgresGatewayBook({ database, node: () => node, now: () => NOON, isSure: () => true, renew: async () => undefined, notes });
  t.teardown(() => book.close().catch(() => undefined));
  return book;
}

/** A folder with what a killed process has left. */
function folderWith(t: Test, ...lines: readonly object[]): string {
  const folder = join(t.testdir({}), 'calls');
  leave(folder, lines);
  return folder;
}

function leave(folder: string, lines: readonly object[]): void {
  mkdirSync(join(folder, 'part-1'), { recursive: true });
  writeFileSync(join(folder, 'part-1', 'calls.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

t.test('without notes, nothing is noted, and nothing is left', async (t) => {
  const noted = new NotedCalls({} as Database, undefined);
  const open = call('a');
  t.equal(noted.note(open, undefined, false), undefined);
  t.equal(noted.end(open, ended('a')), undefined);
  await noted.countLeft(() => t.fail('there is none'));
  noted.beginForget();
  noted.forget();
  await noted.close();
});

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('its-line: what a killed server has left counts once, however often it is found', async (t) => {
    const { database, ask } = await migrated(t);
    const end = { id: 'over', at: '2026-11-20T12:00:05.000Z', usage: USED, costUsd: 0.25, leastUsd: null, error: null };
    const lines = [call('open'), call('over'), end, { id: 'cover', isOver: true }, { id: 'tail', at: AT }];
    const folder = folderWith(t, ...lines);
    for (let start = 0; start < 3; start += 1) {
      const book = await bookIn(t, database, folder);
      t.same(await dayOf(book), { usd: 0.75, tokens: 1010, calls: 2, unpricedCalls: 0 });
      t.match(await dayOf(book, 'group'), { tokens: 1010, calls: 2 });
      await book.close();
      leave(folder, lines); // as if it had been killed before it forgot them
    }
    t.same(await ask('select node, n::int, error, usage from bh.gateway_call order by at'), [
      { node: 'open', n: 0, error: 'SHUTTING_DOWN', usage: EXPECTED },
      { node: 'over', n: 0, error: null, usage: USED },
    ]);
  });

  t.test('a call that was written and not forgotten counts once, also where a power cut has taken its end from the disk (perhaps-written)', async (t) => {
    const { database } = await migrated(t);
    const folder = folderWith(t);
    const book = await bookIn(t, database, folder);
    const open = call('a');
    await book.note(open);
    book.record(ended('a', { at: '2026-11-20T12:01:00.000Z' }), open);
    t.match(await dayOf(book), { tokens: 10, calls: 1 });
    await book.close();
    leave(folder, [call('a'), call('b')]);
    t.match(await dayOf(await bookIn(t, database, folder)), { tokens: 1010, calls: 2 });
  });

  t.test('left-first: a cap is reached by what was left, before the first call asks', async (t) => {
    const { database } = await migrated(t);
    const book = await bookIn(t, database, folderWith(t, call('a', { usage: { ...EXPECTED, totalTokens: 5000 } })));
    t.match(await roomIn(book), { isUnderWay: false, cap: '5000 tokens a day' });
  });

  t.test('what is left counts also where no call comes, and once the database is back', async (t) => {
    const { openByProxy, ask } = await migrated(t);
    const { database, proxy } = await openByProxy();
    const folder = folderWith(t, call('a'));
    const { node } = await PostgresMembership.join(database, { version: '1.0.0', url: null });
    const notes = await CallParts.open(folder, { onFault: () => undefined, now: () => NOON });
    proxy.refuse();
    const book = new PostgresGatewayBook({ database, node: () => node, now: () => NOON, isSure: () => true, renew: async () => undefined, notes });
    t.teardown(() => book.close());
    await t.rejects(async () => roomIn(book), { code: 'STORE_UNREACHABLE' });
    proxy.heal();
    await untilSo('it is counted', async () => (await ask("select from bh.key_day where key = 'app' and calls = 1")).length === 1);
  });

  t.test('a line that a hand has damaged keeps no other from being counted', async (t) => {
    const { database } = await migrated(t);
    const long = randomBytes(4000).toString('hex');
    const damaged = [
      ...['noon', '+12026-11-20T12:00:00.000Z', '0000-11-20T12:00:00.000Z'].map((at, n) => call(`time ${n}`, { at })),
      ...[{ key: 'a\0' }, { key: long }, { group: long }, { provider: long }, { group: 5 as never }].map((fields, n) => call(`text ${n}`, fields)),
    ];
    const book = await bookIn(t, database, folderWith(t, ...damaged, call('sound')));
    t.match(await dayOf(book), { calls: 1 });
  });

  t.test('while its notes can not be read, a server sends no call of a key with a cap; others go on, and it is reported once', async (t) => {
    const { database, ask } = await migrated(t);
    const folder = folderWith(t);
    const path = join(folder, 'part-1', 'calls.jsonl');
    rmSync(path);
    mkdirSync(path);
    const faults: unknown[] = [];
    const book = await bookIn(t, database, folder, faults);
    await t.rejects(async () => roomIn(book), { code: 'WORKSPACE_DAMAGED', message: /^A calls\.jsonl in gateway-open .*not a regular file/ });
    await t.rejects(async () => book.note(call('a')), /not a regular file/);
    book.record(ended('of the token', { key: null, group: undefined }));
    await book.flush();
    await book.flush();
    t.match(await ask('select request_id from bh.gateway_call'), [{ request_id: 'of the token' }]);
    t.equal(faults.length, 1);
    rmdirSync(path);
    leave(folder, [call('left')]);
    t.equal(await roomIn(book), true);
    t.match(await dayOf(book), { calls: 1 });
  });

  t.test('a server that ends while the database is away says which of its calls the next start counts, and that counts them', async (t) => {
    const { openByProxy, open } = await migrated(t);
    const { database, proxy } = await openByProxy();
    const folder = folderWith(t);
    const book = await bookIn(t, database, folder);
    t.equal(await roomIn(book), true);
    const [done, underWay] = [call('a'), call('b')];
    await Promise.all([book.note(done), book.note(underWay)]);
    proxy.refuse();
    book.record(ended('a'), done);
    book.record(ended('c', { key: null, group: undefined }));
    const message =
      /not counted: the token: 1 call, 10 tokens, 0\.25 USD; and these calls count when a server starts in its folder again: key app: 2 calls, 1010 tokens, 0\.75 USD\.$/;
    await t.rejects(book.close(), { code: 'STORE_UNREACHABLE', message });
    t.same(await dayOf(await bookIn(t, await open(), folder)), { usd: 0.75, tokens: 1010, calls: 2, unpricedCalls: 0 });
  });

  t.test('a call for whose note the disk has no room is not sent, and one after there is room again is', async (t) => {
    const { database } = await migrated(t);
    const folder = t.testdir({});
    const reason = await withSmallDisk(folder, async () => {
      const book = await bookIn(t, database, folder);
      await book.flush();
      const filling = join(folder, 'filling');
      writeFileSync(filling, '');
      t.throws(() => {
        for (;;) appendFileSync(filling, Buffer.alloc(4096));
      });
      const refused = call('a');
      await t.rejects(async () => book.note(refused), { code: 'STORAGE_FULL' });
      book.record(ended('a', { usage: null, costUsd: null, error: 'STORAGE_FULL' }), refused);
      rmSync(filling);
      await book.note(call('b'));
      t.match(readFileSync(join(folder, 'part-1', 'calls.jsonl'), 'utf8'), /"id":"b"/);
      await book.close();
      t.match(await dayOf(await bookIn(t, database, folder)), { calls: 1 }, 'the one that was sent');
    });
    if (reason !== undefined) t.pass(reason);
  });

  t.test('bounded: while very many lines wait, no further call is noted, and it counts like any other', async (t) => {
    const { database } = await migrated(t);
    const folder = folderWith(t);
    const notes = await CallParts.open(folder, { onFault: () => undefined, now: () => NOON });
    t.teardown(() => notes.close());
    const noted = new NotedCalls(database, notes);
    await noted.read();
    const [early, late] = [call('early'), call('late')];
    await noted.note(early, undefined, false);
    t.equal(noted.note(late, undefined, true), undefined);
    await noted.note(early, early, true);
    t.equal(noted.end(late, ended('late')), undefined);
    t.equal(noted.end(early, ended('early')), 'early');
  });
});
