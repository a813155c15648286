import t from 'tap';
import { PostgresBlockList } from '../../../../core/store/postgres/block-list.ts';
import { factsOfRow, standingOf } from '../../../../core/store/postgres/list-facts.ts';
import { cursorOf, type ListQuery, pageOf } from '../../../../core/store/postgres/list-page.ts';
import type { BlockEntry } from '../../../../core/schemas/block-api.ts';
import { configOf } from '../../../support/block-files.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { PLAIN, postgresPlace } from '../../../support/postgres-store.ts';

t.test('a query that no page can have is refused', async (t) => {
  for (const limit of [0, 1001, 1.5]) t.throws(() => pageOf({ limit }), { code: 'INVALID_REQUEST', message: /^limit / });
  const cursor = cursorOf({ sort: 'costUsd' }, { key: '1', block: 1, name: 'a' } as never);
  t.doesNotThrow(() => pageOf({ sort: 'costUsd', cursor }));
  for (const query of [
    { cursor: 'x' },
    { sort: 'name', cursor },
    { sort: 'costUsd', cursor: cursorOf({ sort: 'costUsd' }, { key: 'x', block: 1 } as never) },
  ] as ListQuery[])
    t.throws(() => pageOf(query), { code: 'INVALID_REQUEST', message: /^cursor / });
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
  t.test('pages neither skip nor repeat a block, whatever they are sorted and filtered by', async (t) => {
    const { open, ask } = await postgresPlace(t);
    const store = await open();
    for (let n = 0; n < 25; n += 1) await store.blocks.create(configOf({ tags: [`t${n % 2}`], description: `No ${n % 5}%` }, `b${n}`));
    await ask(
      "update bh.block_entry set cost_usd = block_id % 3, last_message_at = now() - block_id % 4 * interval '1 s', state = case when block_id % 2 = 0 then 'idle' else 'failed' end",
    );
    const list = store.blocks.list(PLAIN);
    if (!(list instanceof PostgresBlockList)) throw new Error('another list');
    const all = async (query: ListQuery): Promise<string[]> => {
      const names: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const { entries, next } = await list.page({ ...query, limit: 4, ...(cursor !== undefined && { cursor }) });
        names.push(...entries.map(({ name }: BlockEntry) => name));
        cursor = next;
      }
      return names;
    };
    for (const sort of ['name', 'state', 'lastMessageAt', 'costUsd'] as const) {
      const names = await all({ sort });
      t.same([names.length, new Set(names).size], [25, 25], sort);
    }
    t.equal((await all({ tag: 't1' })).length, 12);
    t.equal((await all({ text: '4%' })).length, 5);
    t.same(await all({ prefix: 'b2' }), ['b2', 'b20', 'b21', 'b22', 'b23', 'b24']);
    t.equal((await all({ state: ['idle'], status: 'SLEEPING', sort: 'state' })).length + (await all({ state: ['failed'] })).length, 25);
  });

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
