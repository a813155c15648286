import t, { type Test } from 'tap';
import { hasRoom, letNewcomersIn, nextTurn, sharedTurn } from '../../../core/base/next-turn.ts';

t.test('each turn of the event loop goes to one of those who wait, in their order', async (t) => {
  stoppedClock(t);
  const turn = countTurns(t);
  const turns = await Promise.all([0, 1, 2].map(() => nextTurn().then(turn)));
  t.ok((turns[0] ?? 0) < (turns[1] ?? 0) && (turns[1] ?? 0) < (turns[2] ?? 0), turns.join());
});

t.test('callers have turns one after the other, however often one of them waits', async (t) => {
  const order: string[] = [];
  const wait = (caller: string): Promise<unknown> => nextTurn(caller).then(() => order.push(caller));
  await Promise.all([wait('a'), wait('a'), wait('a'), wait('b'), wait('b')]);
  t.strictSame(order, ['a', 'b', 'a', 'b', 'a']);
});

/** Counts the turns of the event loop from now on, to the end of the test. Returns what says how many there were. */
function countTurns(t: Test): () => number {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    ticking = setImmediate(count);
  };
  let ticking = setImmediate(count);
  t.teardown(() => clearImmediate(ticking));
  return () => turns;
}

/** Ends the turn of the test before. */
const newTurn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

/** A clock that stands still but for what the test lets pass. */
function stoppedClock(t: Test): { pass: (ms: number) => void } {
  let now = performance.now();
  t.capture(performance, 'now', () => now);
  return { pass: (ms) => (now += ms) };
}

t.test('a turn has room for short work until it has taken ten milliseconds, and while nobody waits', async (t) => {
  const clock = stoppedClock(t);
  await nextTurn();
  t.ok(hasRoom());
  clock.pass(9);
  t.ok(hasRoom());
  clock.pass(1);
  t.notOk(hasRoom(), 'after ten milliseconds');
  await nextTurn();
  t.ok(hasRoom(), 'in a later turn');
  const waits = sharedTurn('a');
  t.notOk(hasRoom(), 'while somebody waits');
  await waits;
  await nextTurn();
  letNewcomersIn();
  t.notOk(hasRoom(), 'while newcomers come');
  await nextTurn();
  t.ok(hasRoom());
});

t.test('callers have shared turns one after the other, and before those who want a turn alone', async (t) => {
  stoppedClock(t);
  const order: string[] = [];
  const wait = (caller: string): Promise<unknown> => sharedTurn(caller).then(() => order.push(caller));
  const first = nextTurn('a').then(() => order.push('alone'));
  await Promise.all([first, wait('a'), wait('a'), wait('b')]);
  t.strictSame(order, ['a', 'b', 'a', 'alone']);
});

t.test('all short work that waits has the same turn, however much of another caller waits for turns alone', async (t) => {
  await newTurn();
  const clock = stoppedClock(t);
  let given = 0;
  const large = Array.from({ length: 20 }, () =>
    nextTurn('large').then(() => {
      given += 1;
      clock.pass(100);
    }),
  );
  const before = await Promise.all(Array.from({ length: 10 }, () => sharedTurn('quiet').then(() => given)));
  t.strictSame([...new Set(before)], [0]);
  await Promise.all(large);
});

/** Eight pieces of short work of five milliseconds each; `done` says how many are. */
function shortWork(t: Test) {
  const clock = stoppedClock(t);
  let count = 0;
  const one = async (): Promise<void> => {
    await sharedTurn('short');
    count += 1;
    clock.pass(5);
  };
  return { clock, all: Promise.all(Array.from({ length: 8 }, one)), done: () => count };
}

t.test('one who wants a turn alone has one for each ten milliseconds of short work', async (t) => {
  await newTurn();
  const { all, done } = shortWork(t);
  await nextTurn('large');
  t.equal(done(), 2);
  await all;
  await nextTurn();
});

t.test('after ten milliseconds of short work, those who want a turn alone share five: a large body has many short pieces', async (t) => {
  await newTurn();
  const { clock, all, done } = shortWork(t);
  const had: number[] = [];
  for (let piece = 0; piece < 8; piece += 1) {
    await nextTurn('large');
    had.push(done());
    clock.pass(1);
  }
  t.strictSame(had, [2, 2, 2, 2, 2, 4, 4, 4]);
  await all;
  await nextTurn();
});

t.test('those who waited share a turn, until it has taken ten milliseconds', async (t) => {
  const clock = stoppedClock(t);
  const turn = countTurns(t);
  const first = nextTurn();
  // Some of the work of a request comes a few promises later.
  const short = async (ms: number): Promise<number> => {
    await sharedTurn('a');
    const given = turn();
    await undefined;
    await undefined;
    clock.pass(ms);
    return given;
  };
  const [one = 0, two, long, after] = await Promise.all([4, 5, 1, 0].map(short));
  await first;
  t.strictSame([two, long, after], [one, one, one + 1]);
});

t.test('nobody has a turn while newcomers come, for twenty milliseconds at a time', async (t) => {
  const clock = stoppedClock(t);
  await nextTurn();
  let newcomers = 0;
  const come = (): void => {
    letNewcomersIn();
    newcomers += 1;
    clock.pass(1);
    coming = setImmediate(come);
  };
  let coming = setImmediate(come);
  letNewcomersIn();
  await nextTurn();
  const had = newcomers;
  clock.pass(11); // its share of that time
  await nextTurn();
  clearImmediate(coming);
  t.ok(had > 15 && had < 25 && newcomers - had > 15, `${had} and ${newcomers - had} had come`);
});

t.test('after a turn that others have made long, those who want a turn alone share half as much time, and 25 milliseconds at most', async (t) => {
  for (const [tookMs, pieces] of [
    [8, 1],
    [20, 5],
    [40, 10],
    [200, 13],
  ] as const) {
    await newTurn();
    const clock = stoppedClock(t);
    let turn = 0;
    const read = (): void => {
      turn += 1;
      clock.pass(tookMs);
      reading = setImmediate(read);
    };
    const first = nextTurn('large');
    clock.pass(tookMs);
    let reading = setImmediate(read);
    await first;
    const began = turn;
    let had = 0;
    for (; turn === began; had += 1) {
      clock.pass(2);
      await nextTurn('large');
    }
    clearImmediate(reading);
    t.equal(had, pieces, `after ${tookMs} ms`);
  }
});

t.test('what those who want a turn alone do themselves makes no turn long', async (t) => {
  await newTurn();
  const clock = stoppedClock(t);
  const turn = countTurns(t);
  const given: number[] = [];
  const large = async (caller: string): Promise<void> => {
    for (let piece = 0; piece < 3; piece += 1) {
      await nextTurn(caller);
      given.push(turn());
      clock.pass(50);
    }
  };
  await Promise.all([large('a'), large('b')]);
  t.equal(new Set(given).size, 6, given.join());
});
