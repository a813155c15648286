import t from 'tap';
import { PostgresBlocks } from '../../../../core/store/postgres/blocks.ts';
import { configOf } from '../../../support/block-files.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { postgresPlace, QUIET, refOf } from '../../../support/postgres-store.ts';
import { until } from '../../../support/until.ts';

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('a block that one server makes is found by the others, and not under its name once it has gone', async (t) => {
    const { open } = await postgresPlace(t);
    const [a, b] = [await open(), await open()];
    t.ok(a.blocks instanceof PostgresBlocks);
    await a.blocks.create(configOf());
    const list = b.blocks.list({} as never);
    t.match(await list.find('a'), { name: 'a' });
    const ref = await refOf(a, 'a');
    const claim = await (await a.join()).take(ref);
    if ('heldBy' in claim) throw new Error('nobody has it');
    await a.archive.store(claim, { wasRunning: false }, new Date());
    let found: unknown = true;
    await until('the other server has heard of it', () => {
      void Promise.resolve(list.find('a')).then((one) => {
        found = one;
      });
      return found === undefined;
    });
    await t.rejects(b.blocks.contents('a', QUIET), { code: 'BLOCK_NOT_FOUND' });
    await t.rejects(b.blocks.block(ref, QUIET).documents.config.read(), { code: 'BLOCK_NOT_FOUND' });
  });
});
