import t, { type Test } from 'tap';
import { parseStorePlace } from '../../../../core/store/postgres/place.ts';
import { Database, type DatabaseOptions } from '../../../../core/store/postgres/pool.ts';
import { ask, noPostgres, postgresStore } from '../../../support/postgres.ts';
import { storeProxy } from '../../../support/store-proxy.ts';
import { untilSo } from '../../../support/until.ts';

const ONE = { name: 'one', text: 'select 1 as one' };
const PID = { name: 'pid', text: 'select pg_backend_pid() as pid' };
const ADD = { name: 'add', text: 'update bh.sum set n = n + $1 returning n' };

async function open(t: Test, options: DatabaseOptions = {}, store?: string): Promise<Database> {
  const database = await Database.open(parseStorePlace(store ?? (await postgresStore(t))), { connections: 2, ...options });
  t.teardown(() => database.close());
  return database;
}

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('a statement names its tables with the schema of the workspace, and is planned once', async (t) => {
    const database = await open(t, { connections: 1 });
    t.equal(database.text('select bh.a, xbh.b, bh.c'), `select ${database.place.schema}.a, xbh.b, ${database.place.schema}.c`);
    t.strictSame(await database.query(ONE), [{ one: 1 }]);
    await database.query(ONE);
    const planned = await database.query({ name: 'planned', text: "select name from pg_prepared_statements where name <> 'planned'" });
    t.strictSame(planned, [{ name: 'one' }]);
    await t.rejects(database.query({ name: 'wrong', text: 'select nothing' }), { code: '42703' }, 'a wrong statement is a defect of ours');
  });

  t.test('a text with a character that no text there has is one that fits nothing', async (t) => {
    const database = await open(t, { connections: 1 });
    const texts = { name: 'texts', text: 'select $1::text as one, $2::text[] as some, $3::bytea as bytes, $4::int as number' };
    const found = await database.query(texts, ['a\0b', ['c', '\0', null], Buffer.from([0, 1]), 7]);
    t.strictSame(found, [{ one: 'a\ufffdb', some: ['c', '\ufffd', null], bytes: Buffer.from([0, 1]), number: 7 }]);
  });

  t.test('a transaction happens or does not, and its errors are those of its work', async (t) => {
    const store = await postgresStore(t);
    const database = await open(t, {}, store);
    await ask(store, `create schema ${database.place.schema}`);
    await ask(store, 'create table bh.sum as select 0 as n');
    t.equal(
      await database.transaction(async (run) => {
        await run(ADD, [1]);
        return 'done';
      }),
      'done',
    );
    const refusal = new Error('no');
    const refused = database.transaction(async (run) => {
      await run(ADD, [10]);
      throw refusal;
    });
    await t.rejects(refused, refusal);
    t.strictSame(await database.query(ADD, [0]), [{ n: 1 }]);
  });

  t.test('a statement with a time of its own ends at the database, too, when that is over', async (t) => {
    const store = await postgresStore(t);
    const database = await open(t, { connections: 1 }, store);
    const slow = { name: 'slow', text: "select pg_sleep(120), 'slow-statement'", withinMs: 200 };
    await t.rejects(database.query(slow), { code: 'STORE_UNREACHABLE' });
    const active = (): Promise<unknown[]> => ask(store, `select 1 from pg_stat_activity where state = 'active' and query like '%slow-state' || 'ment%'`);
    await untilSo('it has ended there', async () => (await active()).length === 0, 60_000);
    t.strictSame(await database.query({ ...ONE, withinMs: 60_000 }), [{ one: 1 }]);
    const limit = { name: 'limit', text: 'show statement_timeout' };
    t.strictSame(await database.query(limit), [{ statement_timeout: '5s' }], 'the next one on its connection has the usual time');
    await t.rejects(database.query({ name: 'wrong', text: 'select nothing', withinMs: 60_000 }), { code: '42703' });
    t.strictSame(await database.query(ONE), [{ one: 1 }]);
  });

  t.test('a statement that waits for a lock is not left behind at the database', async (t) => {
    const store = await postgresStore(t);
    const database = await open(t, { connections: 1, queryTimeoutMs: 500 }, store);
    const other = await open(t, { connections: 1 }, store);
    await ask(store, `create schema ${database.place.schema}`);
    await ask(store, 'create table bh.sum as select 0 as n');
    const left = (): Promise<unknown[]> =>
      ask(store, `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%${database.place.schema}.sum%'`);
    await other.transaction(async (run) => {
      await run({ name: 'lock', text: 'lock table bh.sum in access exclusive mode' });
      for (let n = 0; n < 2; n += 1) await t.rejects(database.query(ADD, [1]), { code: 'STORE_UNREACHABLE' });
      await untilSo('none waits', async () => (await left()).length === 0, 3000);
    });
    t.strictSame(await database.query(ADD, [0]), [{ n: 0 }], 'and none is made later');
  });

  t.test('what the database has undone is done again, five times', async (t) => {
    const database = await open(t);
    let tries = 0;
    const failing = (until: number) =>
      database.transaction(async (run) => {
        tries += 1;
        if (tries < until) await run({ name: '', text: "do $$ begin raise exception 'x' using errcode = '40001'; end $$" });
        return tries;
      });
    t.equal(await failing(3), 3);
    tries = 0;
    await t.rejects(failing(9), { code: 'STORE_UNREACHABLE' });
    t.equal(tries, 5);
  });

  t.test('two that lock each other out both succeed', async (t) => {
    const store = await postgresStore(t);
    const database = await open(t, {}, store);
    await ask(store, `create schema ${database.place.schema}`);
    await ask(store, 'create table bh.pair as select id, 0 as n from generate_series(1, 2) id');
    const touch = { name: 'touch', text: 'update bh.pair set n = n + 1 where id = $1' };
    const cross = (first: number) =>
      database.transaction(async (run) => {
        await run(touch, [first]);
        await run({ name: 'nap', text: 'select pg_sleep(0.05)' });
        await run(touch, [3 - first]);
      });
    await Promise.all([cross(1), cross(2)]);
    t.strictSame(await ask(store, 'select n from bh.pair'), [{ n: 2 }, { n: 2 }]);
  });

  t.test('a statement through a hole in the network ends, and the next one has a connection that works', async (t) => {
    const proxy = await storeProxy(t, await postgresStore(t));
    const database = await open(t, { queryTimeoutMs: 2000, connectTimeoutMs: 2000, connections: 1 }, proxy.store);
    await database.query(ONE);
    proxy.swallow();
    await t.rejects(database.query(ONE), { code: 'STORE_UNREACHABLE', retryable: true });
    await t.rejects(database.query(ONE), { code: 'STORE_UNREACHABLE' }, 'a new connection is not made for ever');
    proxy.heal();
    t.strictSame(await database.query(ONE), [{ one: 1 }]);
    proxy.refuse();
    await t.rejects(database.query(ONE), { code: 'STORE_UNREACHABLE' });
    proxy.heal();
    t.strictSame(await database.query(ONE), [{ one: 1 }]);
  });

  t.test('a statement may say that it takes longer than others', async (t) => {
    const database = await open(t, { queryTimeoutMs: 200 });
    const slow = { name: 'slow', text: 'select 1 as one from pg_sleep(0.5)' };
    await t.rejects(database.query(slow), { code: 'STORE_UNREACHABLE' });
    t.strictSame(await database.query({ ...slow, name: 'slow-and-patient', withinMs: 60_000 }), [{ one: 1 }]);
  });

  t.test('an answer that is lost is not asked for again, since nothing is known of the outcome', async (t) => {
    const store = await postgresStore(t);
    const proxy = await storeProxy(t, store);
    const database = await open(t, {}, proxy.store);
    await ask(store, `create schema ${database.place.schema}`);
    await ask(store, 'create table bh.sum as select 0 as n');
    proxy.loseAnswerTo('update');
    await t.rejects(database.query(ADD, [1]), { code: 'STORE_UNREACHABLE' });
    const [now] = await database.query<{ n: number }>(ADD, [0]);
    t.ok(now !== undefined && now.n <= 1);
  });

  t.test('a connection that was ended, or leads to a standby, is not used again', async (t) => {
    const store = await postgresStore(t);
    const database = await open(t, { connections: 1 }, store);
    const [{ pid } = {}] = await database.query<{ pid: number }>(PID);
    await ask(store, 'select pg_terminate_backend($1)', [pid]);
    await database.query(ONE).catch(() => undefined);
    const [{ pid: second } = {}] = await database.query<{ pid: number }>(PID);
    t.not(second, pid);
    await t.rejects(database.query({ name: '', text: "do $$ begin raise exception 'x' using errcode = '25006'; end $$" }), { code: 'STORE_UNREACHABLE' });
    t.not((await database.query<{ pid: number }>(PID))[0]?.pid, second);
  });

  t.test('behind a pooler that mixes connections, statements have no names', async (t) => {
    const database = await open(t, { connections: 1 });
    await database.query(ONE);
    await database.query({ name: '', text: 'deallocate all' });
    t.strictSame(await database.query(ONE), [{ one: 1 }]);
    t.strictSame(await database.query({ name: 'planned', text: 'select name from pg_prepared_statements' }), []);
  });

  t.test('a statement for which one plan is enough is planned once by each connection, others for their values; nothing is set behind a pooler', async (t) => {
    const store = await postgresStore(t);
    const proxy = await storeProxy(t, store);
    const database = await open(t, { connections: 1 }, proxy.store);
    await ask(store, `create schema ${database.place.schema}`);
    await ask(store, 'create table bh.part (id int primary key) partition by hash (id)');
    for (let n = 0; n < 4; n += 1) await ask(store, `create table bh.part_${n} partition of bh.part for values with (modulus 4, remainder ${n})`);
    const keyed = { name: 'keyed', text: 'select from bh.part where id = $1', plan: 'once' } as const;
    const plans = {
      name: 'plans',
      text: "select generic_plans::int as generic, custom_plans::int as custom from pg_prepared_statements where name = 'keyed'",
      plan: 'once',
    } as const;
    const mode = { name: 'mode', text: "select current_setting('plan_cache_mode') as mode" };
    t.strictSame(await database.query(mode), [{ mode: 'auto' }]);
    for (let n = 0; n < 7; n += 1) await database.query(keyed, [n]);
    t.strictSame(await database.query(plans), [{ generic: 7, custom: 0 }]);
    t.strictSame(await database.query(mode), [{ mode: 'auto' }], 'the next one of the same connection');
    await database.query(keyed, [7]);
    await database.transaction(async (run) => t.strictSame(await run(mode), [{ mode: 'force_generic_plan' }]));
    const held = await database.hold('locks');
    t.strictSame(await held.run(mode), [{ mode: 'auto' }]);
    await held.end();

    proxy.hideProcesses();
    const pooled = await open(t, { connections: 1 }, proxy.store);
    for (let n = 0; n < 7; n += 1) await pooled.query(keyed, [n]);
    await pooled.transaction(async (run) => t.strictSame(await run(mode), [{ mode: 'auto' }]));
    t.strictSame(await pooled.query(plans), [{ generic: 0, custom: 7 }], 'its estimates never prefer one plan for a table in parts');
  });

  t.test('more work than connections waits its turn', async (t) => {
    const database = await open(t, { connections: 1 });
    t.equal((await Promise.all(Array.from({ length: 50 }, () => database.transaction((run) => run(ONE))))).length, 50);
  });

  t.test('a server that freezes within a transaction does not keep its locks', async (t) => {
    const store = await postgresStore(t);
    const [frozen, other] = [await open(t, {}, store), await open(t, {}, store)];
    await ask(store, `create schema ${frozen.place.schema}`);
    await ask(store, 'create table bh.sum as select 0 as n');
    const stuck = frozen.transaction(async (run) => {
      await run(ADD, [100]);
      t.strictSame(await other.transaction((one) => one(ADD, [1])), [{ n: 1 }], 'the other one waited, and was repeated');
      return run(ADD, [100]);
    });
    await t.rejects(stuck, { code: 'STORE_UNREACHABLE' });
    t.strictSame(await other.query(ADD, [0]), [{ n: 1 }]);
  });

  t.test('a wrong database is told by its name', async (t) => {
    const url = new URL(await postgresStore(t));
    url.pathname = '/elsewhere';
    const database = await open(t, {}, url.href);
    await t.rejects(database.query(ONE), { code: 'STORE_UNREACHABLE', retryable: false, message: /"elsewhere" does not exist/ });
  });
});
