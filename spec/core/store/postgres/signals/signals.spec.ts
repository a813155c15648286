import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { assertMigrated } from '../../../../../core/store/postgres/migrate.ts';
import { parseStorePlace } from '../../../../../core/store/postgres/place.ts';
import type { Database } from '../../../../../core/store/postgres/pool.ts';
import type { Step } from '../../../../../core/store/postgres/signals/notices.ts';
import { pieces } from '../../../../../core/store/postgres/signals/pieces.ts';
import { ReplyMirror } from '../../../../../core/store/postgres/signals/reply-mirror.ts';
import { type Hint, PostgresSignals, type SignalsOptions } from '../../../../../core/store/postgres/signals/signals.ts';
import { blockIn, type Migrated, migrated } from '../../../../support/migrated.ts';
import { noPostgres } from '../../../../support/postgres.ts';
import { until } from '../../../../support/until.ts';

const start = (seq: number, id = 'm1'): Step => ({ id, seq, event: 'start', provider: 'p', model: 'm', attempt: 1 });
const content = (seq: number, text: string, id = 'm1'): Step => ({ id, seq, event: 'content', text });
const done = (seq: number, id = 'm1'): Step => ({ id, seq, event: 'done', answerId: 'a', status: 'done', stopReason: 'end_turn' });
const textOf = (steps: readonly Step[]): string => steps.map((step) => (step.event === 'content' ? step.text : '')).join('');

t.test('steps that come twice are left out, and missing ones are noticed', async (t) => {
  const mirror = new ReplyMirror();
  const seen: Step[] = [];
  mirror.join((step) => seen.push(step), 0);
  t.equal(mirror.take(content(5, 'abc')), false, 'its start is missing');
  for (const step of [start(10), content(13, 'abc'), content(13, 'abc'), content(15, 'bcde')]) t.equal(mirror.take(step), true);
  t.equal(mirror.take(content(18, 'gh')), false);
  t.same(seen, [start(10), content(13, 'abc'), content(15, 'de')]);
  t.same(mirror.missed(0), [start(10), content(15, 'abcde')]);
  t.same(mirror.missed(12), [content(15, 'cde')]);
  t.same(mirror.missed(15), []);
  mirror.break();
  t.match(seen.at(-1), { event: 'error', seq: 16, willRetry: true });
  t.same(mirror.missed(0), []);
});

t.test('a text is cut between characters, and into one piece where it fits', async (t) => {
  t.same(pieces('', 4), ['']);
  t.same(pieces('a😀b😀', 5), ['a😀', 'b😀']);
});

/** A server with its signals; its row of `node` is there as if it had joined. */
async function server(t: Test, world: Migrated, node: string, options: Partial<SignalsOptions> = {}) {
  await world.ask("insert into bh.node (id, expires_at, version, protocol) values ($1, now() + interval '1 hour', '1', 1)", [node]);
  const [database, telling] = [await world.open(), await world.open({ connections: 1 })];
  const signals = await PostgresSignals.open({ database, telling, direct: parseStorePlace(world.store), node, lookMs: 50, ...options });
  const hints: Hint[] = [];
  signals.on((hint) => hints.push(hint));
  t.teardown(() => signals.close());
  return { signals, hints };
}

/** A reply that a server writes. */
function reply() {
  const source = new ReplyMirror();
  return {
    say: (step: Step) => source.take(step),
    join: (onStep: (step: Step) => void, since: number) => source.join(onStep, since),
    readers: () => source.readers,
  };
}

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('what one server tells is heard by the others, once for many', async (t) => {
    const world = await migrated(t);
    const [a, b] = [await server(t, world, 'a'), await server(t, world, 'b')];
    for (let n = 0; n < 10; n += 1) a.signals.tell({ what: 'work', block: 1 });
    a.signals.tell({ what: 'document', block: 2, kind: 'config' });
    a.signals.tell({ what: 'wish', block: 3 });
    a.signals.tell({ what: 'setting' });
    await until('all are heard', () => b.hints.length === 4);
    t.match(b.hints, [{ what: 'work', block: 1 }, { what: 'document', block: 2 }, { what: 'wish', block: 3 }, { what: 'setting' }]);
    t.same(a.hints, [], 'a server knows what it has done');
  });

  t.test('what happens in a run of one server is heard by the others', async (t) => {
    const world = await migrated(t);
    const [a, b] = [await server(t, world, 'a'), await server(t, world, 'b')];
    const fact = { name: 'tool.called', block: 'ada', id: 'm1', call: '1.1', tool: 'bank/pay' } as const;
    a.signals.tell({ what: 'run', fact });
    await until('it is heard', () => b.hints.length === 1);
    t.strictSame([a.hints, b.hints], [[], [{ what: 'run', block: undefined, fact }]]);
  });

  t.test('what only those need who show a block shares its notices; what somebody has to do does not wait for it', async (t) => {
    const world = await migrated(t);
    const sent: number[] = [];
    const real = await world.open({ connections: 1 });
    const query: Database['query'] = (statement, values) => {
      sent.push(performance.now());
      return real.query(statement, values);
    };
    const a = await server(t, world, 'a', { telling: { query } as Database });
    const b = await server(t, world, 'b');
    t.teardown(a.signals.publish(1, () => () => undefined));
    const heard = (block: number): number => b.hints.filter((hint) => hint.block === block).length;
    const from = sent.length;
    const began = performance.now();
    await until('some are heard', () => {
      a.signals.tell({ what: 'document', block: 2, kind: 'chat' });
      a.signals.tell({ what: 'work', block: 1 });
      return heard(2) >= 4;
    });
    t.equal(heard(1), heard(2), 'a message for a block that this server has itself is such a thing, too');
    const notices = sent.length - from;
    t.ok(notices > 1);
    t.ok(notices - 1 <= (performance.now() - began) / 100, 'ten times a second at most');

    const before = sent.length;
    a.signals.tell({ what: 'document', block: 2, kind: 'chat' });
    a.signals.tell({ what: 'work', block: 3 });
    await until('the work is heard', () => heard(3) === 1);
    t.equal(sent.length, before + 1, 'and takes along what waits');
  });

  t.test('who may not read the schema does not know where its servers talk', async (t) => {
    const world = await migrated(t);
    const channels = async (): Promise<string[]> => {
      const rows = await world.ask("select query from pg_stat_activity where application_name = 'blockhouse-listener'");
      return rows.flatMap(({ query }) => String(query).match(/bh_[0-9a-f]+/g) ?? []);
    };
    const others = await channels();
    const first = await server(t, world, 'a');
    const known = (await channels()).filter((channel) => !others.includes(channel));
    t.equal(known.length, 2);
    await first.signals.close();
    await world.ask(`drop schema ${world.database.place.schema} cascade`);
    await assertMigrated(world.database);
    const again = await server(t, world, 'a');
    t.same(
      (await channels()).filter((channel) => known.includes(channel)),
      [],
      'another schema of the same name, and a server of the same id, have other channels',
    );
    const hints = (await server(t, world, 'b')).hints;
    again.signals.tell({ what: 'work', block: 1 });
    await until('servers of one schema hear each other', () => hints.length === 1);
  });

  t.test('a reader elsewhere gets the whole reply, however late it comes', async (t) => {
    const world = await migrated(t);
    const block = await blockIn(world, 'ada');
    const [a, b] = [await server(t, world, 'a'), await server(t, world, 'b')];
    const { say, join } = reply();
    const early: Step[] = [];
    b.signals.follow(block, (step) => early.push(step), 0);
    await world.ask("update bh.block set owner = 'a' where id = $1", [block]);
    a.signals.publish(block, join);
    const text = '€😀"\\'.repeat(20_000);
    let seq = 100;
    say(start(seq));
    for (const piece of ['first ', text, ' last']) {
      seq += piece.length;
      say(content(seq, piece));
    }
    const whole = `first ${text} last`;
    await until('the text is there', () => textOf(early).length === whole.length);
    const late: Step[] = [];
    const leave = b.signals.follow(block, (step) => late.push(step), 0);
    t.equal(textOf(late), whole);
    say(done(seq + 1));
    await until('it has ended', () => early.at(-1)?.event === 'done' && late.at(-1)?.event === 'done');
    t.equal(textOf(early), whole);
    t.match(early[0], { event: 'start', seq: 100 });
    leave();
  });

  t.test('a reader is told when the writer of a reply is gone, and then gets the next attempt', async (t) => {
    const world = await migrated(t);
    const block = await blockIn(world, 'ada');
    const [a, b, c] = [await server(t, world, 'a'), await server(t, world, 'b'), await server(t, world, 'c')];
    await world.ask("update bh.block set owner = 'a' where id = $1", [block]);
    const first = reply();
    a.signals.publish(block, first.join);
    const seen: Step[] = [];
    b.signals.follow(block, (step) => seen.push(step));
    first.say(start(100));
    first.say(content(103, 'abc'));
    await until('it is read', () => textOf(seen) === 'abc');
    await world.ask("update bh.block set owner = 'c' where id = $1", [block]);
    await until('its end is told', () => seen.at(-1)?.event === 'error');
    const second = reply();
    c.signals.publish(block, second.join);
    second.say(start(1000));
    second.say(content(1003, 'new'));
    first.say(content(105, 'de'));
    await until('the next attempt is read', () => seen.at(-1)?.seq === 1003);
    t.match(seen, [{ event: 'start' }, { text: 'abc' }, { event: 'error', willRetry: true }, { event: 'start', seq: 1000 }, { text: 'new' }]);
  });

  t.test('without any notice, a look finds what has changed in a block that is followed', async (t) => {
    const world = await migrated(t);
    const block = await blockIn(world, 'ada');
    const { signals, hints } = await server(t, world, 'a');
    const told = async (wanted: Partial<Hint>, statement: string): Promise<void> => {
      while (!hints.some((hint) => hint.block === block && Object.entries(wanted).every(([key, value]) => hint[key as keyof Hint] === value))) {
        await world.ask(statement, [block]);
        await delay(20);
      }
    };
    await world.ask("insert into bh.document (block_id, kind, value) values ($1, 'config', '{}'), ($1, 'memory', '{}')", [block]);
    const unwatch = signals.watch(block);
    await told({ what: 'document', kind: 'memory' }, "update bh.document set rev = rev + 1 where block_id = $1 and kind = 'memory'");
    t.notOk(
      hints.some((hint) => hint.what === 'document' && hint.kind === 'config'),
      'and what has not changed is left alone',
    );
    await told({ what: 'document', kind: 'chat' }, 'update bh.block set queued = queued + 1 where id = $1');
    await told({ what: 'gone' }, 'delete from bh.block where id = $1');
    unwatch();
  });

  t.test('a connection that breaks is made again, and the gap is told', async (t) => {
    const world = await migrated(t);
    const { proxy } = await world.openByProxy();
    const [a, b] = [await server(t, world, 'a'), await server(t, world, 'b', { direct: parseStorePlace(proxy.store) })];
    let gaps = 0;
    b.signals.onGap(() => {
      gaps += 1;
    });
    proxy.refuse();
    proxy.heal();
    await until('the gap is told', () => gaps === 1);
    a.signals.tell({ what: 'work', block: 7 });
    await until('it is heard', () => b.hints.length === 1);
    b.signals.rejoined('b2');
    await until('it listens again', () => gaps === 2);
    a.signals.tell({ what: 'work', block: 8 });
    await until('it is heard again', () => b.hints.length === 2);
  });

  t.test('a server says when notices do not arrive', async (t) => {
    const world = await migrated(t);
    const { database: telling, proxy } = await world.openByProxy();
    proxy.refuse();
    const silent: true[] = [];
    const { signals } = await server(t, world, 'a', { telling, testMs: 50, onSilent: () => silent.push(true) });
    await until('it says so', () => silent.length === 1);
    t.equal(await signals.hears(), false);
    t.equal(await (await server(t, world, 'b')).signals.hears(), true);
    t.equal(silent.length, 1, 'once');
  });
});
