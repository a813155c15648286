import t from 'tap';
import { parseStorePlace } from '../../../../core/store/postgres/place.ts';
import { Database } from '../../../../core/store/postgres/pool.ts';
import { PostgresSearch } from '../../../../core/store/postgres/search.ts';
import { configOf } from '../../../support/block-files.ts';
import { askAgain, noPostgres } from '../../../support/postgres.ts';
import { searchIn } from '../../../support/search-in.ts';
import { postgresPlace } from '../../../support/postgres-store.ts';
import { untilSo } from '../../../support/until.ts';

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  const { place, open, ask } = await postgresPlace(t);
  const { search, blocks } = await open();
  t.ok(search instanceof PostgresSearch);
  await blocks.create(configOf());

  t.test('a memory with a character that the database can not look into spoils no search', async (t) => {
    await ask(`update bh.document set value = json_build_object('summary', 'a needle', 'facts', json_build_array()) where kind = 'memory'`);
    t.equal((await searchIn(search, 'needle')).total, 1);
    for (const letter of ['\\u0000', '\\ud800']) {
      await ask(`update bh.document set value = '{"summary": "a needle ${letter}", "facts": []}'::json where kind = 'memory'`);
      t.equal((await searchIn(search, 'needle')).total, 0, letter);
    }
  });

  t.test('a search looks at ten thousand blocks, and says when there are more', async (t) => {
    t.equal((await searchIn(search, 'needle')).isWhole, true);
    await ask(`insert into bh.block (name, archive_name, archived_at) select 'x' || n, 'x' || n, now() from generate_series(1, 10001) n`);
    t.equal((await searchIn(search, 'needle')).isWhole, false);
    t.equal((await searchIn(search, 'needle', { block: 'a' })).isWhole, true, 'of one block');
  });

  t.test('a search of many texts takes longer than other statements may', async (t) => {
    const database = await Database.open(parseStorePlace(place), { connections: 1, queryTimeoutMs: 300 });
    t.teardown(() => database.close());
    const other = askAgain(place);
    await other.ask('begin');
    await other.ask('lock table bh.message in access exclusive mode');
    const found = searchIn(new PostgresSearch(database), 'needle').then(
      () => 'found',
      (error: Error) => error.message,
    );
    const isOld = async (): Promise<boolean> => {
      const rows = await ask(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%ilike%' and now() - query_start > '600ms' and pid <> pg_backend_pid()`,
      );
      return rows.length > 0;
    };
    await untilSo('the search waits, or is given up', async () => (await isOld()) || (await Promise.race([found, 'still'])) !== 'still');
    await other.ask('commit');
    t.equal(await found, 'found');
    await other.end();
  });
});
