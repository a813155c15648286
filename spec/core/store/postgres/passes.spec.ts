import t from 'tap';
import { PostgresPasses } from '../../../../core/store/postgres/passes.ts';
import { PostgresSettings } from '../../../../core/store/postgres/settings.ts';
import { migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('P1: a code opens once, however many servers ask, and only as what it is', async (t) => {
    const { database, open, ask } = await migrated(t);
    const servers = [database, await open(), await open()].map((each) => new PostgresPasses(each));
    const [first] = servers as [PostgresPasses];
    t.ok(Date.parse(await first.add('code', 'one', 60_000, 16)) > Date.now());
    t.equal(await first.take(['ticket'], 'one'), false);
    t.strictSame((await Promise.all(servers.map((each) => each.take(['code', 'owner-code'], 'one')))).sort(), [false, false, true]);
    await first.add('ticket', 'late', 60_000, 16);
    t.strictSame(await Promise.all(servers.map((each) => each.kindOf('late'))), ['ticket', 'ticket', 'ticket']);
    await ask("update bh.pass set ends_at = clock_timestamp() - interval '1 s'");
    t.equal(await first.kindOf('late'), undefined);
    t.equal(await first.take(['ticket'], 'late'), false);
    await first.add('ticket', 'next', 1000, 16);
    t.strictSame(await ask('select count(*)::int as n from bh.pass'), [{ n: 1 }], 'what has ended goes');
  });

  t.test('of too many of a kind, those that end first are dropped', async (t) => {
    const passes = new PostgresPasses((await migrated(t)).database);
    await passes.add('session', 'other', 1000, 3);
    for (const [index, text] of ['b', 'a', 'd', 'c', 'e'].entries()) await passes.add('code', text, 60_000 + 1000 * index, 3);
    const kept = await Promise.all(['a', 'b', 'c', 'd', 'e', 'other'].map(async (text) => (await passes.kindOf(text)) !== undefined));
    t.same(kept, [false, false, true, true, true, true]);
  });

  t.test('P2: a new token ends all of them, and nothing else does', async (t) => {
    const { database } = await migrated(t);
    const passes = new PostgresPasses(database);
    const settings = await PostgresSettings.open(database);
    t.teardown(() => settings.close());
    await passes.add('session', 'one', 60_000, 16);
    const codec = { parse: (text: string | undefined) => text ?? '', format: (text: string) => text };
    await settings.open('halt', codec, () => undefined).update(() => 'x');
    t.equal(await passes.kindOf('one'), 'session');
    await settings.open('token', codec, () => undefined).update(() => 'a'.repeat(64));
    t.equal(await passes.kindOf('one'), undefined);
  });

  t.test('P3: the database has nothing to sign in with', async (t) => {
    const { database, ask } = await migrated(t);
    await new PostgresPasses(database).add('code', 'secret-text', 60_000, 16);
    t.notMatch(JSON.stringify(await ask("select encode(hash, 'escape') as hash, kind from bh.pass")), 'secret-text');
  });
});
