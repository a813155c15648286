import t from 'tap';
import { createBus } from '../../../../../core/bus.ts';
import { openPostgresSource, openPostgresTarget } from '../../../../../core/store/postgres/copy/postgres-side.ts';
import { connectPostgres } from '../../../../../core/store/postgres/postgres-store.ts';
import { configOf } from '../../../../support/block-files.ts';
import { ask, noPostgres, postgresStore } from '../../../../support/postgres.ts';
import { postgresPlace } from '../../../../support/postgres-store.ts';

const note = { source: 's', from: 'elsewhere', isWhole: false };

t.test('an address that is none names the side', async (t) => {
  await t.rejects(openPostgresSource('postgres://x/?schema=BAD'), { code: 'INVALID_REQUEST', message: /^from / });
  await t.rejects(openPostgresTarget('postgres://x/?schema=BAD'), { code: 'INVALID_REQUEST', message: /^to / });
});

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('a target has one copy at a time, and its schema is made with the first write', async (t) => {
    const store = await postgresStore(t);
    await t.rejects(openPostgresSource(store), { code: 'INVALID_REQUEST', message: /from has no workspace/ });
    const target = await openPostgresTarget(store);
    t.teardown(() => target.close());
    t.same([target.isThere, await target.isEmpty(), await target.note()], [false, true, undefined]);
    await t.rejects(openPostgresTarget(store), { code: 'WORKSPACE_BUSY', message: /Another copy into .* is under way/ });
    t.same(await ask(store, "select to_regclass('bh.block') as found"), [{ found: null }]);
    await target.setNote(note);
    t.match(await ask(store, "select to_regclass('bh.block')::text as found"), [{ found: /block$/ }]);
    await target.putSettings(
      new Map([
        ['models', '{"a":1}'],
        ['prices', '{}'],
      ] as const),
    );
    await target.putSettings(
      new Map([
        ['keys', '{}'],
        ['prices', '{}'],
      ] as const),
    );
    t.same(
      [...(await target.settings())],
      [
        ['keys', '{}'],
        ['prices', '{}'],
      ],
    );
  });

  t.test('a source is seen as it was, and neither side is one that servers use', async (t) => {
    const { place, open, ask } = await postgresPlace(t);
    const server = await open();
    await server.blocks.create(configOf());
    const source = await openPostgresSource(place);
    const target = await openPostgresTarget(place);
    await t.rejects(source.assertUnused(), { code: 'WORKSPACE_BUSY', message: /is in use by the server .*; one that was killed is gone after its lease/ });
    await server.close();
    await source.assertUnused();
    await ask("update bh.block set name = 'b'");
    t.same([await source.places(), await target.places()], [['blocks/a'], ['blocks/b']]);
    t.equal(source.id, target.id);
    t.notOk(await target.isEmpty());
    await source.close();
    await target.close();
  });

  t.test('no server uses half a copy, and one that uses a whole one makes it a workspace of its own', async (t) => {
    const { place, open, ask } = await postgresPlace(t);
    const target = await openPostgresTarget(place);
    await target.setNote(note);
    const half = await connectPostgres(place);
    t.teardown(() => half.close());
    const lock = { announce: async () => undefined, release: async () => undefined };
    const options = { workspace: '', bus: createBus(), now: Date.now, onLost: async () => undefined, lock };
    await t.rejects(half.open(options), { code: 'WORKSPACE_DAMAGED', message: /holds a copy of elsewhere that is not whole/ });
    t.same(await ask('select count(*)::int as n from bh.node'), [{ n: 0 }], 'and it has left');
    await target.setNote({ ...note, isWhole: true });
    t.same(await target.note(), { ...note, isWhole: true });
    await open();
    t.equal(await target.note(), undefined);
    await target.close();
  });
});
