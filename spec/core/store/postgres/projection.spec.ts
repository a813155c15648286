import t from 'tap';
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
    const { database, proxy } = await world.openByProxy();
    const [written, faults] = [[] as number[], [] as unknown[]];
    const projection = new Projection({ database, node: () => 'me', onWritten: (blocks) => written.push(...blocks), onFault: (error) => faults.push(error) });
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
    await projection.close();
    t.same(await pulse(), { n: 1 });
  });
});
