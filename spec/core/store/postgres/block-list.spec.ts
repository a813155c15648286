import t from 'tap';
import { factsOfRow, standingOf } from '../../../../core/store/postgres/list-facts.ts';
import { pageOf } from '../../../../core/store/postgres/list-page.ts';
import { configOf } from '../../../support/block-files.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { PLAIN, postgresPlace } from '../../../support/postgres-store.ts';

t.test('a page asks for one block more than it has, and wildcards stand for themselves', async (t) => {
  t.match(pageOf({ text: '50%_\\' }), { values: [101, '%50\\%\\_\\\\%'], limit: 100 });
});

t.test('a block without a document that can be used says which', async (t) => {
  const row = {
    name: 'a',
    wanted: true,
    state: 'idle',
    owner: null,
    documents: { config: [] },
    failure: null,
    failed_since: null,
    oldest_at: null,
    last_at: null,
  } as never;
  t.throws(() => factsOfRow(row, 0), { message: /^config\.json can't be used: / });
  t.match(standingOf(row), { isRunning: true, state: 'idle', heldBy: null });
});

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('a list knows what other servers have changed', async (t) => {
    const { open, ask } = await postgresPlace(t);
    const [a, b] = [await open(), await open()];
    await a.blocks.create(configOf({}, 'one'));
    const list = b.blocks.list(PLAIN);
    const names = async (): Promise<string[]> => (await list.list()).map(({ name }) => name);
    t.same(await names(), ['one']);
    await a.blocks.create(configOf({}, 'two'));
    while ((await names()).length < 2) await new Promise((done) => setTimeout(done, 50));
    t.same(await list.counts(), { blocks: 2, monitorsRunning: 0 });
    t.same([...list.names()].sort(), ['one', 'two']);
    await ask("update bh.document set value = '[]' where kind = 'config' and block_id = (select id from bh.block where name = 'two')");
    list.markAllStale();
    t.match((await list.list())[1], { name: 'two', configError: /config.json/ });
  });
});
