import t from 'tap';
import { PlaceLimit } from '../../../core/gateway/place-limit.ts';
import { AttemptQueue } from '../../../core/gateway/queue.ts';
import { Random } from '../../support/crash/random.ts';
import { gate } from '../../support/stepped-adapter.ts';

const LIMITS = { concurrency: 4, waiting: 300 };
const turn = () => new Promise((resolve) => setImmediate(resolve));

function limitOf(most: number): PlaceLimit {
  const limit = new PlaceLimit();
  limit.allow(most);
  return limit;
}

/** Runs attempts that end by name, and knows which run. */
function world() {
  const running = new Map<string, { open(): void }>();
  const run = (queue: AttemptQueue, name: string, limits: readonly PlaceLimit[], caller = name.slice(0, 1), signal = new AbortController().signal) =>
    queue.run(
      async () => {
        const held = gate();
        running.set(name, held);
        await held.opened;
      },
      caller,
      signal,
      undefined,
      limits,
    );
  const end = async (name: string) => {
    running.get(name)?.open();
    running.delete(name);
    await turn();
  };
  return { run, end, names: () => [...running.keys()], running };
}

t.test('beyond its limit a call waits and holds no place, so that others have them, and goes on in order when one of its own ends', async (t) => {
  const queue = new AttemptQueue(LIMITS);
  const { run, end, names } = world();
  const limit = limitOf(2);
  const runs = ['a1', 'a2', 'a3', 'a4'].map((name) => run(queue, name, [limit]));
  runs.push(run(queue, 'b1', []), run(queue, 'b2', []));
  t.same(names(), ['a1', 'a2', 'b1', 'b2'], 'two of four places are left to others');
  t.same(queue.load, { atWork: 4, waiting: 2 });
  await end('b1');
  t.same(names(), ['a1', 'a2', 'b2'], 'a free place is not for it');
  await end('a2');
  t.same(names(), ['a1', 'b2', 'a3']);
  await end('a1');
  await end('a3');
  await end('a4');
  await end('b2');
  await Promise.all(runs);
  t.same([queue.load, limit.held], [{ atWork: 0, waiting: 0 }, 0]);
});

t.test('a limit holds over all lines together, and a place that ends in one lets a call of another line start', async (t) => {
  const [one, other] = [new AttemptQueue(LIMITS), new AttemptQueue(LIMITS)];
  const { run, end, names } = world();
  const limit = limitOf(1);
  const runs = [run(one, 'a1', [limit]), run(other, 'a2', [limit]), run(one, 'a3', [limit]), run(other, 'a4', [limit])];
  t.same(names(), ['a1']);
  const order: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    order.push(...names());
    t.equal(limit.held, 1);
    await end(names()[0] ?? '');
  }
  await Promise.all(runs);
  t.same(order, ['a1', 'a2', 'a3', 'a4'], 'the lines take turns');
});

t.test('of two limits both must have room: those of a key and of its group', async (t) => {
  const queue = new AttemptQueue({ concurrency: 10, waiting: 20 });
  const { run, end, names } = world();
  const [a, b, team] = [limitOf(2), limitOf(2), limitOf(3)];
  const runs = ['a1', 'a2', 'a3'].map((name) => run(queue, name, [a, team]));
  runs.push(...['b1', 'b2'].map((name) => run(queue, name, [b, team])));
  t.same(names(), ['a1', 'a2', 'b1']);
  await end('b1');
  t.same(names(), ['a1', 'a2', 'b2'], 'a3 waits for its key, b2 for the group');
  for (const name of ['a1', 'a2', 'a3', 'b2']) await end(name);
  await Promise.all(runs);
  t.same([a.held, b.held, team.held], [0, 0, 0]);
});

t.test('a limit that grows lets waiting calls start at once, one that shrinks holds for the next', async (t) => {
  const queue = new AttemptQueue(LIMITS);
  const { run, end, names } = world();
  const limit = limitOf(1);
  const runs = ['a1', 'a2', 'a3'].map((name) => run(queue, name, [limit]));
  limit.allow(2);
  t.equal(limit.held, 2);
  await turn();
  t.same(names(), ['a1', 'a2']);
  limit.allow(1);
  await end('a1');
  t.same(names(), ['a2']);
  await end('a2');
  await end('a3');
  await Promise.all(runs);
});

t.test('whatever callers do, no limit is passed, no call is lost, and nothing is left', async (t) => {
  const random = new Random(7);
  const roll = (most: number) => Math.floor(random.next() * most);
  const queues = [new AttemptQueue({ concurrency: 8, waiting: 300 }), new AttemptQueue({ concurrency: 3, waiting: 300 })];
  const team = limitOf(3);
  const callers = { a: [limitOf(2), team], b: [limitOf(4), team], c: [limitOf(1)], d: [] };
  const { run, end, names } = world();
  const runs: Promise<unknown>[] = [];
  let [left, ended] = [0, 0];
  for (let n = 0; n < 200; n += 1) {
    const caller = (['a', 'b', 'c', 'd'] as const)[roll(4)] as 'a';
    const leaving = new AbortController();
    const queue = queues[roll(2)] as AttemptQueue;
    runs.push(
      run(queue, `${caller}${n}`, callers[caller], caller, leaving.signal).then(
        () => (ended += 1),
        () => (left += 1),
      ),
    );
    if (roll(4) === 0) setImmediate(() => leaving.abort());
    if (roll(2) === 0) await end(names()[roll(names().length)] ?? '');
    if (roll(5) === 0) await turn();
    t.ok((callers.a[0]?.held ?? 0) <= 2 && (callers.b[0]?.held ?? 0) <= 4 && (callers.c[0]?.held ?? 0) <= 1 && team.held <= 3);
  }
  for (let n = 0; n < 400 && left + ended < 200; n += 1) await end(names()[0] ?? '');
  await Promise.all(runs);
  t.equal(left + ended, 200);
  t.same(
    queues.map(({ load, callers }) => [load, callers]),
    [
      [{ atWork: 0, waiting: 0 }, 0],
      [{ atWork: 0, waiting: 0 }, 0],
    ],
  );
  for (const limit of [...callers.a, ...callers.b, ...callers.c]) t.equal(limit.held, 0);
});
