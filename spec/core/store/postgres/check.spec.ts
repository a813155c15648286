import t from 'tap';
import { checkDatabase, serverFindings } from '../../../../core/store/postgres/check.ts';
import { configOf } from '../../../support/block-files.ts';
import { migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { postgresPlace } from '../../../support/postgres-store.ts';

t.test('how a database answers is told with a cure, as far as something is wrong with it', async (t) => {
  const good = { version: '17.2', major: 17, aheadMs: -900, latencyMs: 2, most: 97, free: 60, hears: true };
  t.same(serverFindings(good), []);
  const bad = { version: '14.9', major: 14, aheadMs: -61_000, latencyMs: 250.4, most: 20, free: -1, hears: false };
  const findings = serverFindings(bad);
  t.match(
    findings.map(({ severity, problem }) => `${severity}: ${problem}`),
    [
      /^error: PostgreSQL 14\.9 is too old$/,
      /^warning: it takes 250 ms to answer/,
      /^warning: 0 of its 20 connections are free, and one more server needs 8$/,
      /^warning: its clock is 61 s behind that of this machine/,
      /^warning: notices between servers do not arrive/,
    ],
  );
  t.equal(findings.length, 5);
  t.ok(findings.every(({ place, fix }) => place === 'database' && fix.endsWith('.')));
  t.match(serverFindings({ ...good, aheadMs: 7000 }), [{ problem: /^its clock is 7 s ahead of/ }]);
});

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
    t.same(await checkDatabase((await migrated(t)).database, [], async () => true), []);
    t.match(await checkDatabase((await migrated(t)).database, [], async () => false), [{ problem: /^notices between servers do not arrive/ }]);
  });
});
