import t, { type Test } from 'tap';
import { assertMigrated, type Migration, migrate, migrationScript, pendingMigrations } from '../../../../core/store/postgres/migrate.ts';
import { PROTOCOL } from '../../../../core/store/postgres/protocol.ts';
import { parseStorePlace } from '../../../../core/store/postgres/place.ts';
import { Database } from '../../../../core/store/postgres/pool.ts';
import { ask, noPostgres, postgresStore } from '../../../support/postgres.ts';

async function open(t: Test) {
  const store = await postgresStore(t);
  const place = parseStorePlace(store);
  const database = await Database.open(place, { connections: 2 });
  t.teardown(() => database.close());
  return { store, place, database };
}

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('an empty database gets its schema, once, however many ask for it', async (t) => {
    const { place, database } = await open(t);
    t.match(await pendingMigrations(database.query), [
      { name: '001-tables' },
      { name: '002-blocks' },
      { name: '003-credentials' },
      { name: '004-runs' },
      { name: '005-list-texts' },
      { name: '006-cost-days' },
      { name: '007-sums-of-costs' },
    ]);
    const done = await Promise.all(Array.from({ length: 5 }, () => migrate(place)));
    t.strictSame(
      done.flat().map(({ name }) => name),
      ['001-tables', '002-blocks', '003-credentials', '004-runs', '005-list-texts', '006-cost-days', '007-sums-of-costs'],
    );
    t.strictSame(await pendingMigrations(database.query), []);
    await assertMigrated(database);
  });

  t.test('a server makes the schema of an empty database itself, and names the command for an older one', async (t) => {
    const { store, database } = await open(t);
    await assertMigrated(database);
    await ask(store, "insert into bh.setting (key, value) values ('halt', null)");
    await ask(store, "update bh.setting set key = 'schema.000-older' where key = 'schema.001-tables'");
    const two: Migration[] = [
      { name: '000-older', text: '' },
      { name: '001-tables', text: '' },
    ];
    await t.rejects(pendingMigrations(database.query, two), { code: 'STORE_NOT_MIGRATED', message: /another build/ });
  });

  t.test('a later step is done by the command, and leaves nothing half', async (t) => {
    const { store, place, database } = await open(t);
    await assertMigrated(database);
    const first = { name: '001-tables', text: (await allSteps())[0]?.text ?? '' };
    const bad = { name: '003-bad', text: 'create table bh.extra (a int); select nothing' };
    await t.rejects(migrate(place, undefined, [first, bad]), { code: '42703' });
    t.strictSame(await ask(store, "select to_regclass('bh.extra') as found"), [{ found: null }]);
    const good = { name: '003-extra', text: 'create table bh.extra (a int)' };
    t.match(await pendingMigrations(database.query, [first, good]), [good]);
    const seen: string[] = [];
    t.match(await migrate(place, ({ name }) => void seen.push(name), [first, good]), [good]);
    t.strictSame(seen, ['003-extra']);
    t.strictSame(await pendingMigrations(database.query), [], 'a program runs on a later schema, too');
  });

  t.test('a schema that only newer programs may write is refused', async (t) => {
    const { store, database } = await open(t);
    await assertMigrated(database);
    await ask(store, "insert into bh.setting (key, value) values ('schema.min_protocol', $1)", [PROTOCOL + 1]);
    await t.rejects(assertMigrated(database), { code: 'STORE_TOO_NEW' });
  });

  t.test('a table that is in use is waited for, without holding anybody up for longer than three seconds', async (t) => {
    const { place, database } = await open(t);
    await assertMigrated(database);
    const first = { name: '001-tables', text: (await allSteps())[0]?.text ?? '' };
    let isIn = (): void => undefined;
    const entered = new Promise<void>((done) => {
      isIn = done;
    });
    const using = database.transaction(async (run) => {
      await run({ name: 'use', text: 'select 1 from bh.setting' });
      isIn();
      await run({ name: 'nap', text: 'select pg_sleep(3.5)' });
    });
    await entered;
    const done = await migrate(place, undefined, [first, { name: '003-column', text: 'alter table bh.setting add column more int' }]);
    await using;
    t.match(done, [{ name: '003-column' }]);
  });

  t.test('the text for psql does the same', async (t) => {
    const { store, database } = await open(t);
    await ask(store, migrationScript(database, await pendingMigrations(database.query)));
    t.strictSame(await pendingMigrations(database.query), []);
    t.match(migrationScript(database, []), /^begin;/);
  });
});

/** The steps of this program. */
async function allSteps(): Promise<readonly Migration[]> {
  return pendingMigrations((async () => [{ found: false }]) as never as Database['query']);
}
