// What is of this store alone. The laws of all stores are in spec/conformance/store/.
import t from 'tap';
import { PostgresSettings } from '../../../../core/store/postgres/settings.ts';
import { NUMBER } from '../../../conformance/store/settings-suite.ts';
import { migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('what a node knows holds for ten minutes without the database', async (t) => {
    const { openByProxy, ask } = await migrated(t);
    const { database, proxy } = await openByProxy();
    let ms = 0;
    const settings = await PostgresSettings.open(database, () => ms);
    t.teardown(() => settings.close());
    const keys = settings.open('keys', NUMBER, () => undefined);
    await keys.update(() => 5);
    proxy.refuse();
    await t.rejects(settings.look(), { code: 'STORE_UNREACHABLE' });
    settings.hint();
    ms += 600_000;
    t.strictSame(keys.now(), { good: 5, fault: undefined });
    await t.rejects(
      keys.update(() => 6),
      { code: 'STORE_UNREACHABLE' },
    );
    ms += 1;
    t.match(keys.now(), { good: 5, fault: /ten minutes/ });
    t.equal(keys.now(), keys.now());
    proxy.heal();
    await settings.look();
    t.strictSame(keys.now(), { good: 5, fault: undefined });
    await ask("update bh.setting set value = 'x', rev = rev - 1 where key = 'keys'");
    await settings.look();
    t.strictSame(keys.now(), { good: 5, fault: undefined }, 'what is older replaces nothing');
  });

  t.test('X10: of a database that has lost its last commits, what is older now is taken, and may be changed', async (t) => {
    const { database, ask } = await migrated(t);
    const settings = await PostgresSettings.open(database);
    t.teardown(() => settings.close());
    const told: unknown[] = [];
    const [keys, models] = [settings.open('keys', NUMBER, ({ good }) => told.push(good)), settings.open('models', NUMBER, () => undefined)];
    for (const n of [5, 6]) await keys.update(() => n);
    await models.update(() => 1);
    await ask("update bh.setting set value = '4', rev = 1 where key = 'keys'");
    await ask("delete from bh.setting where key = 'models'");
    const again = settings.lookAgain();
    t.equal(keys.now().good, 6, 'until the look is answered');
    await again;
    t.same([keys.now().good, models.now().good], [4, 0]);
    await keys.update(() => 7);
    t.match(await ask("select value, rev::int from bh.setting where key = 'keys'"), [{ value: '7', rev: 2 }]);
    t.same(told, [0, 5, 6, 4, 7]);
  });

  t.test('changes that come at once to one server are each made once', async (t) => {
    const { database } = await migrated(t);
    const settings = await PostgresSettings.open(database);
    t.teardown(() => settings.close());
    const keys = settings.open('keys', NUMBER, () => undefined);
    let statements = 0;
    database.timing = (work) => {
      statements += 1;
      return work();
    };
    const changes = Array.from({ length: 60 }, (_, index) =>
      keys.update(({ good = 0 }) => {
        if (index === 7) throw new Error('this one is refused');
        return good + 1;
      }),
    );
    const outcomes = await Promise.allSettled(changes);
    t.equal(keys.now().good, 59);
    t.equal(outcomes.filter(({ status }) => status === 'rejected').length, 1, 'a change that fails holds up no other');
    t.ok(statements < 60 * 3, `${statements} statements`);
  });

  t.test('without a first look there are no settings', async (t) => {
    const { openByProxy } = await migrated(t);
    const { database, proxy } = await openByProxy();
    proxy.refuse();
    await t.rejects(PostgresSettings.open(database), { code: 'STORE_UNREACHABLE' });
  });

  t.test('a node looks by itself, each second', async (t) => {
    const { database, ask } = await migrated(t);
    const settings = await PostgresSettings.open(database);
    t.teardown(() => settings.close());
    const models = settings.open('models', NUMBER, () => undefined);
    t.equal(models.now().good, 0);
    await ask("insert into bh.setting (key, value) values ('models', '3')");
    while (models.now().good !== 3) await new Promise((done) => setTimeout(done, 20));
    t.pass();
  });

  t.test('the database never has the token itself', async (t) => {
    const { database } = await migrated(t);
    const settings = await PostgresSettings.open(database);
    t.teardown(() => settings.close());
    const token = settings.open('token', { parse: (text) => text ?? '', format: (text) => text }, () => undefined);
    await t.rejects(
      token.update(() => 'bh_secret'),
      { code: 'INTERNAL_ERROR' },
    );
    await token.update(() => 'a'.repeat(64));
    t.equal(token.now().good, 'a'.repeat(64));
  });
});
