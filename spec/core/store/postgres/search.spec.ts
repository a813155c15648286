import t from 'tap';
import { PostgresSearch } from '../../../../core/store/postgres/search.ts';
import { configOf } from '../../../support/block-files.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { searchIn } from '../../../support/search-in.ts';
import { postgresPlace } from '../../../support/postgres-store.ts';

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  const { open, ask } = await postgresPlace(t);
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
});
