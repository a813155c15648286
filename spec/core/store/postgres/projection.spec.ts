import t from 'tap';
import type { Database } from '../../../../core/store/postgres/pool.ts';
import { Projection } from '../../../../core/store/postgres/projection.ts';
import { blockIn, migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { until } from '../../../support/until.ts';

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('what has changed is written by itself, once a failure is over, and never over what a later owner wrote', async (t) => {
    const world = await migrated(t);
    const block = await blockIn(world, 'ada');
    await world.ask("insert into bh.document (block_id, kind, value) values ($1, 'pulse', '{}')", [block]);
    await world.ask("insert into bh.block_entry (block_id, name) values ($1, 'ada')", [block]);
    await world.ask("insert into bh.node (id, expires_at, version, protocol) values ('me', now() + interval '1 h', '1', 1)");
    const { database, proxy } = await world.openByProxy();
    let node = 'me';
    const [written, faults] = [[] as number[], [] as unknown[]];
    const projection = new Projection({ database, node: () => node, onWritten: (blocks) => written.push(...blocks), onFault: (error) => faults.push(error) });
    const pulse = async () => (await world.ask('select value from bh.document'))[0]?.['value'];
    proxy.refuse();
    projection.store(block, 'pulse', '{"n":1}', { state: 'idle', status: 'ACTIVE' });
    t.equal(projection.has(block, 'pulse'), true);
    await t.rejects(projection.flush(), { code: 'STORE_UNREACHABLE' });
    proxy.heal();
    projection.touch(block, { costUsd: 2 });
    await until('it is written', () => written.length > 0);
    t.same([projection.has(block, 'pulse'), await pulse()], [false, { n: 1 }]);
    t.match(await world.ask('select state, cost_usd from bh.block_entry'), [{ state: 'idle', cost_usd: 2 }]);
    await world.ask("insert into bh.node (id, expires_at, version, protocol) values ('other', now() + interval '1 h', '1', 1)");
    await world.ask("update bh.block set owner = 'other' where id = $1", [block]);
    projection.store(block, 'pulse', '{"n":2}');
    await projection.flush();
    t.same(await pulse(), { n: 1 });
    await world.ask('update bh.block set owner = null where id = $1', [block]);
    projection.store(block, 'pulse', '{"n":3}');
    await projection.flush();
    t.same(await pulse(), { n: 3 });
    await world.ask("delete from bh.node where id = 'me'");
    projection.store(block, 'pulse', '{"n":4}'); // by the server that does not know it yet
    node = 'me again';
    await world.ask("insert into bh.node (id, expires_at, version, protocol) values ('me again', now() + interval '1 h', '1', 1)");
    await projection.close();
    t.same(await pulse(), { n: 3 }, 'what a server has changed that was given up');
  });

  t.test('a document with revisions is written as it is then, over the one that it follows', async (t) => {
    const world = await migrated(t);
    const block = await blockIn(world, 'ada');
    await world.ask("insert into bh.document (block_id, kind, value) values ($1, 'memory', '{}')", [block]);
    await world.ask("insert into bh.node (id, expires_at, version, protocol) values ('me', now() + interval '1 h', '1', 1)");
    const { database, proxy } = await world.openByProxy();
    const projection = new Projection({ database, node: () => 'me', onWritten: () => undefined, onFault: () => undefined });
    const revs: (number | undefined)[] = [];
    let text = '{"n":1}';
    const part = () => ({ text, rev: 1, onStored: (rev: number | undefined) => void revs.push(rev) });
    projection.storeLater(block, 'memory', part);
    proxy.refuse();
    await t.rejects(projection.flush(), { code: 'STORE_UNREACHABLE' });
    proxy.heal();
    text = '{"n":2}';
    await projection.flush();
    t.same([revs, await world.ask('select value, rev::int from bh.document')], [[2], [{ value: { n: 2 }, rev: 2 }]]);
    projection.storeLater(block, 'memory', part);
    await projection.flush();
    projection.storeLater(block, 'memory', () => undefined);
    await projection.close();
    t.same([revs, await world.ask('select rev::int from bh.document')], [[2, undefined], [{ rev: 2 }]]);
  });
});

t.test('behind what is written waits one more writing, for all who ask meanwhile, and for nothing that comes after', async (t) => {
  const written: unknown[] = [];
  const waiting: (() => void)[] = [];
  const query = async (_: unknown, values: readonly unknown[]): Promise<unknown[]> => {
    written.push(values[5]);
    await new Promise<void>((done) => waiting.push(done));
    return [];
  };
  const turn = (): Promise<void> => new Promise((done) => setImmediate(done));
  const projection = new Projection({ database: { query } as unknown as Database, node: () => 'me', onWritten: () => undefined, onFault: () => undefined });
  const over: number[] = [];
  for (let block = 1; block <= 4; block += 1) {
    projection.touch(block);
    void projection.flush().then(() => over.push(block));
    await turn();
  }
  t.same(written, [[1]]);
  waiting.shift()?.();
  await turn();
  projection.touch(5); // of a block that changes again and again
  t.same([over, written], [[1], [[1], [2, 3, 4]]]);
  waiting.shift()?.();
  await turn();
  t.same([over, written.length], [[1, 2, 3, 4], 2]);
  const closed = projection.close();
  await turn();
  waiting.shift()?.();
  await closed;
  t.same(written.at(-1), [5]);
});
