import { createHash } from 'node:crypto';
import t from 'tap';
import { createBus } from '../../../../core/bus.ts';
import { Partitions, partsAt } from '../../../../core/store/postgres/partitions.ts';
import { connectPostgres } from '../../../../core/store/postgres/postgres-store.ts';
import { configOf } from '../../../support/block-files.ts';
import { migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { postgresPlace } from '../../../support/postgres-store.ts';
import { untilSo } from '../../../support/until.ts';

t.test('parts are made a week ahead', async (t) => {
  const parts = partsAt(Date.parse('2026-11-27T12:00:00Z'));
  t.match(parts, [
    { name: 'ledger_2026_11', from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' },
    { name: 'ledger_2026_12', to: '2027-01-01T00:00:00.000Z' },
    { name: 'gateway_call_2026_11_27', from: '2026-11-27T00:00:00.000Z', to: '2026-11-28T00:00:00.000Z' },
  ]);
  t.equal(parts.length, 2 + 8 + 8);
});

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('a server that was given up joins again, and goes on', async (t) => {
    const { open, ask } = await postgresPlace(t);
    const store = await open({ leaseMs: 400 });
    await store.announce('http://here');
    const first = await store.join();
    t.equal(await store.join(), first);
    await ask('delete from bh.node');
    if (!first.lost.aborted) await new Promise((lost) => first.lost.addEventListener('abort', lost, { once: true }));
    const second = await store.join();
    t.not(second.node, first.node);
    t.match(await ask('select id, url from bh.node'), [{ id: second.node, url: 'http://here' }]);
    await store.blocks.create(configOf());
    t.ok(Math.abs(store.now() - Date.now()) < 5000, "the database's clock");
    await store.close();
    await store.close();
    t.same(await ask('select from bh.node'), []);
  });

  t.test('a server without blocks that was given up joins again when a key with a cap asks, and spends nothing that it was granted before', async (t) => {
    const { open, ask } = await postgresPlace(t);
    const store = await open({ leaseMs: 2000 });
    const first = await store.join();
    const caps = { usdPerDay: null, usdPerWeek: null, usdPerMonth: null, tokensPerDay: 100, tokensPerMonth: null };
    const used = { usd: 0, tokens: 10 };
    const room = () => store.gateway.room({ name: 'app', bounds: [{ kind: 'key', name: 'app', ...caps }] }, { roughly: () => used, exactly: () => used });
    t.equal(await room(), true);
    await ask('delete from bh.node');
    if (!first.lost.aborted) await new Promise((lost) => first.lost.addEventListener('abort', lost, { once: true }));
    t.strictSame(await Promise.all([room(), room(), store.join().then(() => true)]), [true, true, true]);
    const { node } = await store.join();
    t.not(node, first.node);
    t.match(await ask('select node from bh.key_grant'), [{ node }]);
    t.match(await ask('select id from bh.node'), [{ id: node }]);
    await ask('delete from bh.key_grant');
    await ask('delete from bh.node');
    const other = { name: 'other', bounds: [{ kind: 'key' as const, name: 'other', ...caps }] };
    t.equal(await store.gateway.room(other, { roughly: () => used, exactly: () => used }), true, 'also where it did not know yet that it was given up');
  });

  t.test('a database that is not there is told, and nothing is left open', async (t) => {
    await t.rejects(connectPostgres('postgres://127.0.0.1:1/x'), { code: 'STORE_UNREACHABLE' });
    const connection = await connectPostgres((await postgresPlace(t)).place);
    await connection.close();
    await connection.close();
  });

  t.test('a server that can not note its calls leaves, and listens no longer', async (t) => {
    const { place, ask } = await postgresPlace(t);
    const connection = await connectPostgres(place);
    t.teardown(() => connection.close());
    const lock = { announce: async () => undefined, release: async () => undefined };
    const openNotes = () => Promise.reject(new Error('no folder'));
    const opening = connection.open({ workspace: '', bus: createBus(), now: Date.now, onLost: async () => undefined, lock, openNotes });
    await t.rejects(opening, { message: 'no folder' });
    t.same(await ask('select id from bh.node'), []);
    const channels = (await ask("select value from bh.setting where key = 'channels'"))[0]?.['value'];
    const channel = `bh_${createHash('sha256').update(`${channels} `).digest('hex').slice(0, 40)}`;
    const listening = async () => (await ask('select from pg_stat_activity where query like $1 and pid <> pg_backend_pid()', [`listen ${channel}%`])).length;
    await untilSo('nobody listens', async () => (await listening()) === 0, 10_000);
  });

  t.test('what is missing is made once, and days that are too old go', async (t) => {
    const { database, open, ask } = await migrated(t);
    await ask("create table bh.log_line_2020_01_01 partition of bh.log_line for values from ('2020-01-01') to ('2020-01-02')");
    await ask("create table bh.ledger_2020_01 partition of bh.ledger for values from ('2020-01-01') to ('2020-02-01')");
    const all = [new Partitions(database, t.error), new Partitions(await open(), t.error)];
    await Promise.all(all.map((partitions) => partitions.keep()));
    await all[0]?.keep();
    const names = (
      await ask(
        "select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace or relname like 'log_line%' or relname like 'ledger_2020%'",
      )
    ).map(({ name }) => name);
    t.notOk(names.includes('log_line_2020_01_01'));
    t.ok(names.includes('ledger_2020_01'), 'the ledger is kept');
    await ask("insert into bh.log_line (at, block_id, file, place, node, bytes) values (now() + interval '6 days', 1, 'f', 0, 'n', 'x')");
    t.same(await ask('select from bh.log_line_rest'), []);
    const add = (days: number) =>
      ask(`insert into bh.log_line (at, block_id, file, place, node, bytes) values (now() - interval '${days} days', 1, 'f', ${days}, 'n', 'x')`);
    for (const days of [2, 9]) await add(days);
    await all[0]?.keep();
    t.same(await ask('select place::int from bh.log_line_rest'), [{ place: 2 }], 'what is as old as a part that goes is gone');
  });
});
