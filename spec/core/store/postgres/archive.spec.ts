import t from 'tap';
import { PostgresArchive } from '../../../../core/store/postgres/archive.ts';
import { configOf } from '../../../support/block-files.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { claimOf, postgresPlace } from '../../../support/postgres-store.ts';

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('X21: of two servers that restore or delete one archived block at once, one does', async (t) => {
    const { open, ask } = await postgresPlace(t);
    const [a, b] = [await open(), await open()];
    t.ok(a.archive instanceof PostgresArchive);
    await a.blocks.create(configOf());
    const claim = await claimOf(a, 'a');
    await t.rejects(b.archive.store({ ...claim, fence: claim.fence - 1 }, { wasRunning: false }, new Date()), { code: 'LEASE_LOST' });
    await a.archive.store(claim, { wasRunning: false }, new Date());
    const info = await b.archive.find('a');
    const config = await b.archive.config(info, 'b');
    const all = await Promise.allSettled([a.archive.restore(info, config), b.archive.restore(info, config), a.archive.remove(info)]);
    t.equal(all.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const one of all) if (one.status === 'rejected') t.match(one.reason, { code: 'ARCHIVE_NOT_FOUND' });
    await t.rejects(a.archive.config(info, 'c'), { code: 'ARCHIVE_NOT_FOUND' });
    await t.rejects(a.archive.find('\0'), { code: 'ARCHIVE_NOT_FOUND' });
    await ask("update bh.document set value = '[]' where kind = 'config'");
  });

  t.test('nothing of a deleted block is left', async (t) => {
    const { open, ask } = await postgresPlace(t);
    const store = await open();
    await store.blocks.create(configOf({ tags: ['x'] }));
    const claim = await claimOf(store, 'a');
    await store.archive.store(claim, { wasRunning: true, description: 'd' }, new Date());
    await store.archive.remove(await store.archive.find('a'));
    for (const table of ['block', 'document', 'message', 'block_entry', 'block_tag', 'log_line']) t.same(await ask(`select from bh.${table}`), [], table);
  });
});
