import t from 'tap';
import { checkDatabase } from '../../../../core/store/postgres/check.ts';
import { configOf } from '../../../support/block-files.ts';
import { migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { postgresPlace } from '../../../support/postgres-store.ts';

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('what is wrong with all blocks is found, each with its place and a cure', async (t) => {
    const { open, ask } = await postgresPlace(t);
    const store = await open();
    for (const name of ['due', 'fresh', 'stopped', 'wrong']) await store.blocks.create(configOf({ enabled: name !== 'stopped' }, name));
    t.same(await store.check(), []);
    await ask("update bh.block set due_at = now() - interval '1 s' where name = 'fresh'");
    await ask("update bh.block set due_at = now() - interval '62 s' where name in ('due', 'stopped')");
    await ask("update bh.block set queued = 3 where name = 'wrong'");
    await ask("insert into bh.ledger (at, call_id, block, provider, model, purpose, part) values ('1999-01-01', 'c', 'due', 'p', 'm', 'chat', 1)");
    await ask("insert into bh.node (id, expires_at, version, protocol) values ('old', now() - interval '1 h', '0.0.1', 1)");
    const findings = await store.check();
    t.match(
      findings.map(({ severity, place, problem }) => `${severity} ${place}: ${problem}`),
      [
        /^warning database: the server old has given no sign of life since \d{4}-/,
        /^warning database: its servers have different versions: 0\.0\.1, /,
        /^warning blocks\/due: something waits in it for 6\d s, and no server takes it$/,
        /^error blocks\/wrong: the numbers of its waiting messages differ/,
        /^warning database: 1 rows lie in ledger_rest, /,
      ],
    );
    t.equal(findings.length, 5);
    t.ok(findings.every(({ fix }) => fix.endsWith('.')));
  });

  t.test('a database without servers has no findings of its own', async (t) => {
    t.same(await checkDatabase((await migrated(t)).database, []), []);
  });
});
