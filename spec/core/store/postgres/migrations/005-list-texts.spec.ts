import t from 'tap';
import { LIST_TEXTS } from '../../../../../core/store/postgres/migrations/005-list-texts.ts';
import { blockIn, migrated } from '../../../../support/migrated.ts';
import { noPostgres } from '../../../../support/postgres.ts';

t.test('it makes one table more, so servers of the version before go on', async (t) => {
  t.notMatch(LIST_TEXTS, /alter table|drop /);
});

t.test('what was there is found, and goes with its block', { skip: noPostgres }, async (t) => {
  const { ask } = await migrated(t);
  const block = await blockIn({ ask }, 'ada');
  await ask('drop table bh.entry_text');
  await ask("insert into bh.block_entry (block_id, name, description) values ($1, 'ada', 'Zoë')", [block]);
  await ask(LIST_TEXTS);
  t.same(await ask('select block_id, name, description from bh.entry_text'), [{ block_id: String(block), name: 'ada', description: 'Zoë' }]);
  await ask('delete from bh.block');
  t.same(await ask('select * from bh.entry_text'), []);
});
