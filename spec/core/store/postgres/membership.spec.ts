import t, { type Test } from 'tap';
import type { Claim } from '../../../../core/store/port.ts';
import { PostgresMembership as Membership, type MembershipOptions } from '../../../../core/store/postgres/membership.ts';
import { assertMigrated } from '../../../../core/store/postgres/migrate.ts';
import { parseStorePlace } from '../../../../core/store/postgres/place.ts';
import { Database } from '../../../../core/store/postgres/pool.ts';
import { PROTOCOLS } from '../../../../core/store/postgres/protocol.ts';
import { type Migrated, migrated } from '../../../support/migrated.ts';
import { ask, noPostgres, OwnPostgres } from '../../../support/postgres.ts';
import { untilSo } from '../../../support/until.ts';

const LEASE_MS = 1000;
const FACTS = { version: '1.0.0', url: null };
const join = (database: Database, options?: MembershipOptions): Promise<Membership> => Membership.join(database, FACTS, options);
const claimed = async (node: Membership, room: number): Promise<readonly Claim[]> => (await node.look(room)).claimed;
const dueOf = async (node: Membership): Promise<readonly Claim[]> => (await node.look(0)).mine;

/** Again where the database takes longer than it may on a busy machine, or was only started a moment ago. */
async function untilReaped(living: Membership, silent: Membership): Promise<void> {
  await untilSo('it is given up', async () => {
    await living.renew();
    return (await living.reap()).includes(silent.node);
  });
}

async function withBlocks(t: Test, count: number): Promise<Migrated> {
  const world = await migrated(t);
  await world.ask(
    "insert into bh.block (name, wanted, due_at) select 'block-' || n, true, clock_timestamp() - (10 - n) * interval '1 s' from generate_series(1, $1::int) n",
    [count],
  );
  return world;
}

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('M2: a block is claimed by one, however many ask, and each claim has a higher fence', async (t) => {
    const { database, open } = await withBlocks(t, 9);
    const nodes = await Promise.all([database, await open(), await open()].map((each) => join(each)));
    const claims = (await Promise.all(nodes.map((node) => claimed(node, 9)))).flat();
    t.strictSame(
      claims.map(({ name }) => name).sort(),
      Array.from({ length: 9 }, (_, n) => `block-${n + 1}`),
    );
    t.ok(claims.every(({ fence }) => fence === 1));
    const [first] = claims;
    const owner = nodes.find(({ node }) => node === first?.owner);
    if (first === undefined || owner === undefined) throw new Error('nothing was claimed');
    t.equal(await owner.release(first, { state: 'idle', dueAt: null }), true);
    t.equal(await owner.release(first, { state: 'idle', dueAt: null }), false, 'not ours any more');
    t.strictSame(await claimed(owner, 9), [], 'what has nothing to do is left alone');
    t.match(await nodes[0]?.take(first), { fence: 2 });
    t.match(await nodes[1]?.take(first), { heldBy: nodes[0]?.node });
  });

  t.test('what waits longest is claimed first, and as much as there is room', async (t) => {
    const { database } = await withBlocks(t, 3);
    const node = await join(database);
    t.match(await claimed(node, 2), [{ name: 'block-1' }, { name: 'block-2' }]);
    t.match(await dueOf(node), [{ name: 'block-1' }, { name: 'block-2' }]);
    t.match(await claimed(node, 2), [{ name: 'block-3' }]);
  });

  t.test('a claim whose answer was lost is found among what is ours', async (t) => {
    const { openByProxy } = await withBlocks(t, 1);
    const { database, proxy } = await openByProxy();
    const node = await join(database);
    await node.nodes();
    proxy.loseAnswerTo('for update skip locked');
    await t.rejects(node.look(1), { code: 'STORE_UNREACHABLE' });
    const mine = [...(await dueOf(node)), ...(await claimed(node, 1))];
    t.match(mine, [{ name: 'block-1', fence: 1 }]);
  });

  t.test('taking a block again gives the same claim, and one that does not exist is not found', async (t) => {
    const { database } = await withBlocks(t, 1);
    const node = await join(database);
    const [claim] = await claimed(node, 1);
    t.strictSame(await node.take({ name: '', block: claim?.block ?? 0 }), claim);
    await t.rejects(node.take({ name: '', block: 999 }), { code: 'BLOCK_NOT_FOUND' });
  });

  t.test('M1: a server whose lease has ended loses its blocks to others, and knows it', async (t) => {
    const { database, open, ask } = await withBlocks(t, 3);
    let ms = 0;
    const dead = await join(database, { leaseMs: LEASE_MS });
    const living = await join(await open(), { leaseMs: LEASE_MS, clock: () => ms });
    const [claim] = await claimed(dead, 1);
    await ask("update bh.node set expires_at = clock_timestamp() - interval '1 h' where id = $1", [dead.node]);
    t.strictSame(await living.reap(), [], 'not before its own renewals went through for a lease');
    ms = LEASE_MS / 2;
    await living.renew();
    ms = LEASE_MS;
    await untilReaped(living, dead);
    t.match((await claimed(living, 2)).map(({ name, fence }) => [name, fence]).sort(), [
      ['block-1', 2],
      ['block-2', 1],
    ]);
    t.equal(dead.lost.aborted, false);
    await dead.renew();
    t.equal(dead.lost.aborted, true);
    t.equal(dead.sureUntil, Number.NEGATIVE_INFINITY);
    await dead.renew();
    t.equal(await dead.release(claim as never, { state: 'idle', dueAt: null }), false);
    await t.rejects(dead.look(1), { code: 'LEASE_LOST' });
    t.not((await join(database)).node, dead.node);
  });

  t.test('a database that stood still for longer than a lease gives up nobody, whatever was sent before', async (t) => {
    const { database, open, ask } = await withBlocks(t, 0);
    let ms = 0;
    const silent = await join(database, { leaseMs: LEASE_MS });
    const living = await join(await open(), { leaseMs: LEASE_MS, clock: () => ms });
    await untilSo('the database has run for a lease', async () =>
      Boolean((await ask("select pg_postmaster_start_time() < clock_timestamp() - interval '2 s' as is_old"))[0]?.['is_old']),
    );
    const keepOn = async (): Promise<void> => {
      for (let renewals = 0; renewals < 2; renewals += 1) {
        ms += LEASE_MS - 100;
        await living.renew();
      }
    };
    await keepOn();
    await ask("update bh.node set expires_at = clock_timestamp() + interval '100 ms' where id = $1", [silent.node]);
    await untilSo('the lease is over', async () =>
      Boolean((await ask("select expires_at < clock_timestamp() - interval '1 s' as is_over from bh.node where id = $1", [silent.node]))[0]?.['is_over']),
    );
    t.strictSame(await living.reap(), [], 'by the clock of the server this was sent a second ago');
    ms += 2 * LEASE_MS;
    t.strictSame(await living.reap(), [], 'its own lease is over');
    await living.renew();
    t.strictSame(await living.reap(), [], 'and did not stand for a lease');
    await keepOn();
    await untilReaped(living, silent);
  });

  t.test('X8: after a restart of the database nobody is given up for a lease', async (t) => {
    const own = await OwnPostgres.start(t);
    const database = await Database.open(parseStorePlace(own.store), { connections: 1 });
    await assertMigrated(database);
    let ms = 0;
    const [silent, living] = [await join(database, { leaseMs: 60_000 }), await join(database, { leaseMs: 60_000, clock: () => ms })];
    const boot = living.boot;
    await own.crash();
    await own.start();
    ms = 30_000;
    while (
      !(await living.renew().then(
        () => true,
        () => false,
      ))
    )
      await new Promise((done) => setTimeout(done, 50));
    t.not(living.boot, boot);
    await ask(own.store, "update bh.node set expires_at = clock_timestamp() - interval '1 h' where id = $1", [silent.node]);
    ms = 60_000; // its own renewals went through for a lease
    t.strictSame(await living.reap(), []);
    await silent.renew();
    t.equal(silent.lost.aborted, false);
    await database.close();
  });

  t.test('a lease that has ended, but was not given up, is renewed', async (t) => {
    const { database, ask } = await withBlocks(t, 1);
    const node = await join(database);
    await claimed(node, 1);
    await ask("update bh.node set expires_at = clock_timestamp() - interval '1 h'");
    await node.renew();
    t.equal(node.lost.aborted, false);
    t.equal((await dueOf(node)).length, 1);
  });

  t.test('a lease is sure from before its renewal was sent, and time is the database’s', async (t) => {
    const { database } = await migrated(t);
    let ms = 1000;
    const node = await join(database, { leaseMs: 8000, clock: () => (ms += 10) });
    t.equal(node.sureUntil, 1010 + 8000);
    t.match(node.health, { latencyMs: 10, node: node.node, nodes: 1, isAway: false });
    ms += 8000;
    t.match(node.health, { isAway: true });
    await node.renew();
    t.match(node.health, { isAway: false });
    t.ok(Math.abs(node.now() - Date.now()) < 60_000);
  });

  t.test('a server that ends in order frees its blocks at once, what was under way included', async (t) => {
    const { database, open, ask } = await withBlocks(t, 1);
    const [first, second] = [await join(database), await join(await open())];
    const [claim] = await claimed(first, 1);
    await ask('update bh.block set processing = 1, queued = 1');
    t.equal(await first.release(claim as never, { state: 'idle', dueAt: null }), true);
    t.match(await claimed(second, 1), [{ fence: 2 }], 'a block with something to do is due');
    await second.leave();
    t.equal(second.lost.aborted, true);
    t.match(await claimed(first, 1), [{ fence: 3 }]);
  });

  t.test('a server of a version that knows no draining is not asked for it, and who asks reads what to do', async (t) => {
    const { database, ask } = await migrated(t);
    const [old, own] = [await join(database), await join(database)];
    await ask('update bh.node set protocol = $2, version = $3 where id = $1', [old.node, PROTOCOLS.drained - 1, '0.0.9']);
    await t.rejects(own.drain(old.node, true), { code: 'WRONG_STATE', message: /version 0\.0\.9.*Stop it, or start a newer version/ });
    t.strictSame(
      await ask("select draining, (select count(*)::int from bh.setting where key like 'drained.%') as wishes from bh.node where id = $1", [old.node]),
      [{ draining: false, wishes: 0 }],
    );
    t.equal(await own.drain(own.node, true), true);
    t.equal(await own.drain(old.node, false), true, 'to take blocks is what it does anyway');
    t.equal(await own.drain('nobody', true), false);
  });

  t.test('a server renews by itself', async (t) => {
    const { database, ask } = await migrated(t);
    const node = await join(database, { leaseMs: 200 });
    node.start();
    const [before] = await ask('select expires_at from bh.node');
    const isLater = async (): Promise<boolean> =>
      ((await ask('select expires_at from bh.node'))[0] as { expires_at: Date }).expires_at > (before as { expires_at: Date }).expires_at;
    while (!(await isLater())) await new Promise((done) => setTimeout(done, 20));
    await node.leave();
    t.strictSame(await ask('select id from bh.node'), []);
  });
});
