import type { Test } from 'tap';
import t from 'tap';
import { type FleetChanges, FleetFeed, MAX_ENTRIES } from '../../../core/block/fleet-feed.ts';
import type { BlockEntry } from '../../../core/types.ts';
import { fakeTimers } from '../../support/fake-timers.ts';
import { until } from '../../support/until.ts';

const entry = (name: string, queue = 0) => Object.freeze({ name, queue }) as unknown as BlockEntry;

function create(t: Test, names: readonly string[]) {
  const world = {
    list: names.map((name) => entry(name)) as readonly BlockEntry[],
    isStale: false,
    reads: 0,
    faults: [] as unknown[],
    listed: undefined as readonly BlockEntry[] | undefined,
  };
  const feed = new FleetFeed({
    list: async () => {
      world.reads += 1;
      world.isStale = false;
      world.listed = world.list;
      return world.list;
    },
    isStale: () => world.isStale,
    listed: () => world.listed,
    onFault: (error) => world.faults.push(error),
    everyMs: 5,
  });
  t.teardown(() => feed.close());
  const change = (list: readonly BlockEntry[]): void => {
    world.list = list;
    world.isStale = true;
  };
  return { world, feed, change };
}

t.test('who begins without a number is told to read the list; then come changes and what is gone', async (t) => {
  const { world, feed, change } = create(t, ['a', 'b', 'c']);
  const told: FleetChanges[] = [];
  feed.follow((changes) => told.push(changes));
  await until('the feed tells it', () => told.length === 1);
  t.match(told[0], { reset: true, changed: [], gone: [] });
  const [a, , c] = world.list as [BlockEntry, BlockEntry, BlockEntry];
  change([a, entry('b', 5), c]);
  await until('the feed tells it', () => told.length === 2);
  t.match(told[1], { reset: false, changed: [{ name: 'b', queue: 5 }], gone: [] });
  change([world.list[1] as BlockEntry, c, entry('d')]);
  await until('the feed tells it', () => told.length === 3);
  t.match(told[2], { changed: [{ name: 'd' }], gone: ['a'] });
  t.ok((told[2]?.seq ?? 0) > (told[1]?.seq ?? 0));
});

t.test('who comes back with a number gets what was missed, in frames of at most 200 entries', async (t) => {
  const { world, feed, change } = create(
    t,
    Array.from({ length: 450 }, (_, index) => `b${index}`),
  );
  const told: FleetChanges[] = [];
  const stop = feed.follow((changes) => told.push(changes));
  await until('the feed tells it', () => told.length === 1);
  const seq = told[0]?.seq ?? 0;
  stop();
  change(world.list.map(({ name }) => entry(name, 1)));
  const missed: FleetChanges[] = [];
  feed.follow((changes) => missed.push(changes), seq);
  await until('the feed tells it', () => missed.length === 3);
  t.same(
    missed.map(({ changed }) => changed.length),
    [MAX_ENTRIES, MAX_ENTRIES, 50],
  );
  t.equal(new Set(missed.flatMap(({ changed }) => changed.map(({ name }) => name))).size, 450);
  const none: FleetChanges[] = [];
  feed.follow((changes) => none.push(changes), missed.at(-1)?.seq);
  await until('the feed tells it', () => none.length === 1);
  t.match(none[0], { reset: false, changed: [], gone: [] }, 'nothing was missed');
});

t.test('a number of an earlier process, or of the future, is a reset', async (t) => {
  const { feed } = create(t, ['a']);
  for (const since of [0, 12, Date.now() + 1e12]) {
    const told: FleetChanges[] = [];
    feed.follow((changes) => told.push(changes), since);
    await until('the feed tells it', () => told.length === 1);
    t.equal(told[0]?.reset, true, String(since));
  }
});

t.test('nothing is read while nobody follows, or while nothing is out of date', async (t) => {
  const pass = fakeTimers(t);
  const { world, feed } = create(t, ['a']);
  await pass(30);
  t.equal(world.reads, 0);
  const told: FleetChanges[] = [];
  const stop = feed.follow((changes) => told.push(changes));
  await pass(5);
  t.equal(told.length, 1);
  const { reads } = world;
  await pass(30);
  t.equal(world.reads, reads, 'nothing is out of date');
  world.isStale = true;
  await pass(5);
  t.equal(world.reads, reads + 1);
  stop();
  world.isStale = true;
  await pass(30);
  t.equal(world.reads, reads + 1, 'nobody follows');
  t.equal(told.length, 1);
});

t.test('a change is told at the next look also when somebody else has read the list since', async (t) => {
  const pass = fakeTimers(t);
  const { world, feed } = create(t, ['a']);
  const told: FleetChanges[] = [];
  feed.follow((changes) => told.push(changes));
  await pass(5);
  world.list = [entry('a', 7)];
  world.listed = world.list; // a page has got it, and nothing is out of date
  await pass(5);
  t.match(told[1], { changed: [{ name: 'a', queue: 7 }] });
});

t.test('a list that can not be read is told, and tried again', async (t) => {
  const faults: unknown[] = [];
  let isBroken = true;
  const feed = new FleetFeed({
    list: async () => {
      if (isBroken) throw new Error('EIO');
      return [entry('a')];
    },
    isStale: () => true,
    listed: () => undefined,
    onFault: (error) => faults.push(error),
    everyMs: 5,
  });
  t.teardown(() => feed.close());
  const told: FleetChanges[] = [];
  feed.follow((changes) => told.push(changes));
  await until('the feed tells it', () => faults.length > 0);
  isBroken = false;
  await until('the feed tells it', () => told.length > 0);
  t.ok(told[0]?.reset);
});

t.test('X50: a follower may come back to another server that shares the blocks, and misses nothing', async (t) => {
  let ms = 1_000_000;
  const worlds = [0, 1].map(() => ({ list: [entry('a'), entry('b')] as readonly BlockEntry[], isStale: false }));
  const feeds = worlds.map(
    (world) =>
      new FleetFeed({
        list: async () => {
          world.isStale = false;
          return world.list;
        },
        isStale: () => world.isStale,
        listed: () => world.list,
        onFault: (error) => t.fail(String(error)),
        sharedNow: () => ms,
        everyMs: 5,
      }),
  );
  t.teardown(() => {
    for (const feed of feeds) feed.close();
  });
  /** What both have changed; each notices it at its next look. */
  const change = (list: readonly BlockEntry[]): void => {
    for (const world of worlds) Object.assign(world, { list, isStale: true });
  };
  const told = async (server: number, since?: number): Promise<FleetChanges> => {
    const all: FleetChanges[] = [];
    const stop = feeds[server]?.follow((changes) => all.push(changes), since);
    await until('the feed tells it', () => all.length > 0);
    stop?.();
    return all[0] as FleetChanges;
  };
  const [first] = [await told(0)];
  t.match(first, { reset: true, seq: 1_000_000_000 });
  ms += 500;
  t.match(await told(1, first?.seq), { reset: true }, 'what a server has not looked at yet is read as a whole');
  ms += 60_000;
  const [, b] = (worlds[0] as (typeof worlds)[number]).list as [BlockEntry, BlockEntry];
  change([entry('a', 1), b]);
  const atB = await told(1, undefined);
  ms += 3000;
  const atA = await told(0, ms * 1000 - 20_000_000);
  t.match(atA, { reset: false, changed: [{ name: 'a', queue: 1 }] });
  ms += 100;
  change([worlds[0]?.list[0] as BlockEntry]);
  ms += 2000;
  t.match(await told(1, atA.seq), { reset: false, gone: ['b'], changed: [{ name: 'a' }] }, 'what this one has noticed before, and what neither has told');
  ms += 60_000;
  t.match(await told(1, ms * 1000), { reset: false, changed: [], gone: [] }, 'another server has told something that changed nothing here');
  t.match(await told(1, (ms + 60_000) * 1000), { reset: true }, 'a number that is yet to come is of nobody');
  t.ok(atA.seq > atB.seq);
});
