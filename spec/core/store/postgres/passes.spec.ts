import t from 'tap';
import { PostgresPasses } from '../../../../core/store/postgres/passes.ts';
import { migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('P1: a code opens once, however many servers ask, and only as what it is', async (t) => {
    const { database, open, ask } = await migrated(t);
    const servers = [database, await open(), await open()].map((each) => new PostgresPasses(each));
    const [first] = servers;
    const { text, expiresAt } = (await first?.add('code', 60_000)) ?? { text: '', expiresAt: '' };
    t.ok(Date.parse(expiresAt) > Date.now());
    t.equal(await first?.take('ticket', text), false);
    t.strictSame((await Promise.all(servers.map((each) => each.take('code', text)))).sort(), [false, false, true]);
    const late = (await first?.add('ticket', 60_000))?.text ?? '';
    await ask("update bh.pass set ends_at = clock_timestamp() - interval '1 s'");
    t.equal(await first?.take('ticket', late), false);
    await first?.add('ticket', 1000);
    t.strictSame(await ask('select count(*)::int as n from bh.pass'), [{ n: 1 }], 'what has ended goes');
  });

  t.test('P2: a new token ends all of them', async (t) => {
    const { database, ask } = await migrated(t);
    const passes = new PostgresPasses(database);
    const { text } = await passes.add('session', 60_000, 'bhs_');
    t.equal(await passes.holds(text), true);
    await passes.rotate('a'.repeat(64));
    t.equal(await passes.holds(text), false);
    t.strictSame(await ask("select value, rev::int from bh.setting where key = 'token'"), [{ value: 'a'.repeat(64), rev: 1 }]);
    await passes.rotate('b'.repeat(64));
    t.strictSame(await ask("select value, rev::int from bh.setting where key = 'token'"), [{ value: 'b'.repeat(64), rev: 2 }]);
  });

  t.test('a session is known for a second, and every server knows it', async (t) => {
    const { database, open, ask } = await migrated(t);
    let ms = 0;
    const passes = new PostgresPasses(database, () => ms);
    const { text } = await passes.add('session', 60_000, 'bhs_');
    t.match(text, /^bhs_.{43}$/);
    t.equal(await new PostgresPasses(await open()).holds(text), true);
    t.equal(await passes.holds(text), true);
    await ask('delete from bh.pass');
    t.equal(passes.holds(text), true, 'at once');
    ms = 1000;
    t.equal(await passes.holds(text), false);
    t.equal(await passes.holds('bhs_none'), false);
  });

  t.test('P3: the database has nothing to sign in with', async (t) => {
    const { database, ask } = await migrated(t);
    const { text } = await new PostgresPasses(database).add('code', 60_000);
    t.notMatch(JSON.stringify(await ask("select encode(hash, 'escape') as hash, kind from bh.pass")), text);
  });
});
