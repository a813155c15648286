import t from 'tap';
import { checkStore } from '../../../../core/store/open.ts';
import { PostgresMembership } from '../../../../core/store/postgres/membership.ts';
import { blockIn, migrated } from '../../../support/migrated.ts';
import { ask, noPostgres, postgresStore } from '../../../support/postgres.ts';

t.test('a database that does not answer is a finding with its cure, and an address that is none an error', async (t) => {
  t.match(await checkStore('postgres://me:secret@127.0.0.1:1/db'), {
    blocks: 0,
    findings: [{ severity: 'error', place: /^database (?!.*secret).*127\.0\.0\.1:1/, problem: /ECONNREFUSED/, fix: /BLOCKHOUSE_STORE/ }],
  });
  await t.rejects(checkStore('mysql://host/db'), { code: 'INVALID_REQUEST' });
});

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('without a server, the database is looked at, and nothing in it changes', async (t) => {
    const world = await migrated(t);
    const { store, database } = world;
    const tables = async (): Promise<unknown> => [
      await ask(store, 'select * from bh.setting order by key'),
      await ask(store, 'select id from bh.node order by id'),
    ];
    const before = await tables();
    t.same(await checkStore(store), { blocks: 0, findings: [] });
    t.same(await tables(), before);

    const node = await PostgresMembership.join(database, { version: '0.0.9', url: null });
    await PostgresMembership.join(database, { version: '1.0.0', url: null });
    const [waiting, counted] = [await blockIn(world, 'waiting'), await blockIn(world, 'counted')];
    await world.ask("update bh.block set due_at = clock_timestamp() - interval '1 min' where id = $1", [waiting]);
    await world.ask('update bh.block set queued = 3 where id = $1', [counted]);
    await world.ask("update bh.node set expires_at = clock_timestamp() - interval '1 h' where id = $1", [node.node]);
    const { blocks, findings } = await checkStore(store);
    t.equal(blocks, 2);
    t.match(findings, [
      { place: 'database', problem: new RegExp(`server ${node.node} has given no sign of life`) },
      { place: 'database', problem: /different versions: 0\.0\.9, 1\.0\.0/ },
      { place: 'blocks/waiting', problem: /no server takes it/ },
      { severity: 'error', place: 'blocks/counted', problem: /numbers of its waiting messages/ },
    ]);
    t.match(await checkStore(store, { direct: 'postgres://127.0.0.1:1/db' }), {
      findings: [{ problem: /notices between servers do not arrive/ }, {}, {}, {}, {}],
    });
    await world.ask(`insert into bh.setting (key, value) values ('copy', '{"source":"x","from":"/old","isWhole":false}')`);
    t.match((await checkStore(store)).findings[0], { severity: 'error', problem: /a copy of \/old that is not whole/, fix: 'blockhouse copy' });
    await world.ask("delete from bh.setting where key = 'schema.003-credentials'");
    t.match(await checkStore(store), { blocks: 0, findings: [{ severity: 'error', problem: /003-credentials/, fix: 'blockhouse migrate' }] });
    await world.ask("update bh.setting set value = 'another' where key = 'schema.001-tables'");
    t.match(await checkStore(store), { findings: [{ severity: 'error', problem: /another build/, fix: /the build that has made it/ }] });
  });

  t.test('a database without a workspace gets none', async (t) => {
    const store = await postgresStore(t);
    t.match(await checkStore(store), { findings: [{ severity: 'warning', problem: 'it has no workspace yet' }] });
    const schema = new URL(store).searchParams.get('schema');
    t.same(await ask(store, 'select to_regnamespace($1) as is', [schema]), [{ is: null }]);
  });
});
