import t from 'tap';
import type { BlockhouseError } from '../../../core/errors.ts';
import { AttemptQueue } from '../../../core/gateway/queue.ts';
import { Random } from '../../support/crash/random.ts';
import { gate } from '../../support/stepped-adapter.ts';
import { until } from '../../support/until.ts';

const signal = () => new AbortController().signal;
const run = <T>(queue: AttemptQueue, task: () => Promise<T>, signal: AbortSignal): Promise<T> => queue.run(task, 'one', signal);
const FULL = { code: 'QUEUE_FULL', status: 429 } as const;

t.test('so many run at the same time, the rest wait for their turn in order', async (t) => {
  const queue = new AttemptQueue({ concurrency: 2, waiting: 10 });
  const gates = Array.from({ length: 5 }, gate);
  const started: number[] = [];
  const runs = gates.map((held, n) =>
    run(
      queue,
      async () => {
        started.push(n);
        await held.opened;
        return n;
      },
      signal(),
    ),
  );
  t.same(started, [0, 1]);
  gates[1]?.open();
  await runs[1];
  await until('the third has started', () => started.length === 3);
  t.same(started, [0, 1, 2]);
  for (const held of gates) held.open();
  t.same(await Promise.all(runs), [0, 1, 2, 3, 4]);
  t.same(started, [0, 1, 2, 3, 4]);
});

t.test('beyond the waiting room a request is turned away at once, with a time to come back', async (t) => {
  for (const waiting of [0, 1, 3]) {
    const queue = new AttemptQueue({ concurrency: 1, waiting });
    const held = gate();
    const runs = Array.from({ length: 1 + waiting }, () => run(queue, () => held.opened, signal()));
    let ran = false;
    const surplus = run(
      queue,
      async () => {
        ran = true;
      },
      signal(),
    );
    await t.rejects(surplus, { ...FULL, retryAfterMs: 2000, retryable: true, message: new RegExp(`1 requests running, ${waiting} waiting`) });
    held.open();
    await Promise.all(runs);
    t.equal(ran, false);
    t.equal(await run(queue, async () => 'again', signal()), 'again', 'and there is room again');
  }
});

t.test('a request that leaves while it waits frees its place and never runs', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 1 });
  const held = gate();
  const first = run(queue, () => held.opened, signal());
  const leaver = new AbortController();
  const left = run(queue, async () => t.fail('ran though it had left'), leaver.signal);
  await t.rejects(
    run(queue, async () => 0, signal()),
    FULL,
  );
  leaver.abort();
  await t.rejects(left, { code: 'CANCELLED', status: 499 });
  const third = run(queue, async () => 'third', signal());
  held.open();
  await first;
  t.equal(await third, 'third');
});

t.test('a request that had left before it came never runs', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 1 });
  await t.rejects(
    run(queue, async () => t.fail('ran'), AbortSignal.abort()),
    { code: 'CANCELLED' },
  );
  t.equal(await run(queue, async () => 'next', signal()), 'next');
});

t.test('a request that leaves at work ends at once and frees its place', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 1 });
  const leaver = new AbortController();
  const deaf = run(queue, () => new Promise<never>(() => undefined), leaver.signal);
  leaver.abort();
  await t.rejects(deaf, { code: 'CANCELLED' });
  t.equal(await run(queue, async () => 'next', signal()), 'next');
});

t.test('once a task has begun, the abort of its caller is heard by the task alone', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 1 });
  const held = gate();
  const first = run(queue, () => held.opened, signal());
  const leaver = new AbortController();
  const noticed = new Error('ended in its own way');
  const second = run(queue, () => new Promise((_resolve, reject) => leaver.signal.addEventListener('abort', () => reject(noticed))), leaver.signal);
  held.open();
  await first;
  await new Promise(setImmediate);
  leaver.abort();
  await t.rejects(second, noticed);
});

t.test('a thousand that leave the waiting room leave nothing behind', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 1 });
  const held = gate();
  const first = run(queue, () => held.opened, signal());
  const codes = new Set<unknown>();
  for (let n = 0; n < 1000; n += 1) {
    const leaver = new AbortController();
    const left = run(queue, async () => t.fail('ran though it had left'), leaver.signal);
    leaver.abort();
    await left.catch((error: unknown) => codes.add((error as BlockhouseError).code));
  }
  t.strictSame([...codes], ['CANCELLED']);
  const last = run(queue, async () => 'last', signal());
  held.open();
  await first;
  t.equal(await last, 'last');
});

t.test('the failure of a task is its own, and the next one runs', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 1 });
  const failure = new Error('mine');
  await t.rejects(
    run(queue, () => Promise.reject(failure), signal()),
    failure,
  );
  await t.rejects(
    run(
      queue,
      () => {
        throw failure;
      },
      signal(),
    ),
    failure,
  );
  t.equal(await run(queue, async () => 1, signal()), 1);
});

t.test('the head of the line that leaves while its place becomes free loses no place, at whatever moment', async (t) => {
  for (let moment = 0; moment < 12; moment += 1) {
    const queue = new AttemptQueue({ concurrency: 1, waiting: 2 });
    const leaver = new AbortController();
    const held = gate();
    const first = run(queue, () => held.opened, signal());
    const head = run(queue, () => new Promise<never>(() => undefined), leaver.signal).catch(({ code }: BlockhouseError) => code);
    const behind = run(queue, async () => 'behind', signal());
    await new Promise(setImmediate);
    t.same(queue.load, { atWork: 1, waiting: 2 });
    held.open();
    for (let turn = 0; turn < moment; turn += 1) await undefined;
    leaver.abort();
    t.same(await Promise.all([first, head, behind]), [undefined, 'CANCELLED', 'behind']);
    await new Promise(setImmediate);
    t.same(queue.load, { atWork: 0, waiting: 0 });
  }
});

t.test(
  'whoever comes, waits, leaves and fails in any order: never more at work than there are places, in their order, and at the end all are free',
  async (t) => {
    const dice = new Random(7);
    const random = () => dice.next();
    for (let round = 0; round < 40; round += 1) {
      const concurrency = 1 + Math.floor(random() * 3);
      const queue = new AttemptQueue({ concurrency, waiting: 5 });
      const started: number[] = [];
      const ended: Promise<unknown>[] = [];
      let atWork = 0;
      let tooMany = 0;
      for (let n = 0; n < 30; n += 1) {
        const leaver = new AbortController();
        const chance = random();
        const work = async () => {
          started.push(n);
          atWork += 1;
          if (atWork > concurrency) tooMany += 1;
          for (let turns = Math.floor(random() * 4); turns > 0; turns -= 1) await new Promise(setImmediate);
          atWork -= 1;
          if (chance < 0.2) throw new Error('mine');
        };
        ended.push(run(queue, work, chance > 0.8 ? AbortSignal.abort() : leaver.signal).catch((error: BlockhouseError) => error.code));
        // Work that is under way here does not heed its signal, so only those that wait leave.
        if (chance > 0.6 && !started.includes(n)) leaver.abort();
        if (random() < 0.4) await new Promise(setImmediate);
      }
      await Promise.all(ended);
      await new Promise(setImmediate);
      t.equal(tooMany, 0);
      t.same(queue.load, { atWork: 0, waiting: 0 });
      t.same(
        started,
        [...started].sort((a, b) => a - b),
      );
    }
  },
);

/** Calls that run until the test ends them, and who has begun so far. */
function held(queue: AttemptQueue) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const refused: string[] = [];
  const call = (caller: string, times = 1): void => {
    for (let n = 0; n < times; n += 1) {
      const work = () => {
        begun.push(caller);
        return new Promise<void>((resolve) => ends.push(resolve));
      };
      queue.run(work, caller, signal()).catch(({ code }: BlockhouseError) => refused.push(`${caller} ${code}`));
    }
  };
  /** Ends the oldest call at work, and waits for whoever gets its place. */
  const end = async (): Promise<string[]> => {
    const before = begun.length;
    ends.shift()?.();
    await new Promise(setImmediate);
    return begun.slice(before);
  };
  return { begun, refused, call, end };
}

t.test('a free place goes to the waiting caller who holds the fewest', async (t) => {
  const queue = new AttemptQueue({ concurrency: 3, waiting: 10 });
  const { call, end } = held(queue);
  call('a', 6);
  call('b', 2);
  t.same(await end(), ['b'], 'a holds two');
  t.same(await end(), ['a'], 'each holds one, and b has just had its turn');
  t.same(await end(), ['b']);
});

t.test('among callers who hold as many, each has its turn', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 100 });
  const { call, end } = held(queue);
  call('a', 50);
  call('b', 2);
  call('c', 2);
  const order: string[] = [];
  for (let n = 0; n < 6; n += 1) order.push(...(await end()));
  t.same(order, ['a', 'b', 'c', 'a', 'b', 'c']);
});

t.test('callers who come again and again hold nobody up', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 100 });
  const { call, end } = held(queue);
  call('new 0');
  call('patient');
  call('new 1');
  t.same(await end(), ['patient'], 'it came first');
  call('patient');
  for (let n = 2; n < 5; n += 1) call(`new ${n}`);
  t.same([await end(), await end()], [['new 1'], ['patient']]);
});

t.test('from eight places up the last free one is given only to a caller who holds none', async (t) => {
  for (const [concurrency, places] of [
    [7, 7],
    [8, 7],
    [64, 63],
  ] as const) {
    const queue = new AttemptQueue({ concurrency, waiting: 256 });
    const { begun, call, end } = held(queue);
    call('a', concurrency);
    t.same(queue.load, { atWork: places, waiting: concurrency - places });
    call('b', 2);
    t.equal(queue.load.atWork, concurrency, 'one of b');
    if (concurrency < 8) continue;
    t.equal(begun.at(-1), 'b');
    t.same(await end(), [], 'b holds one, so the last free place is kept');
    call('c');
    t.equal(begun.at(-1), 'c');
    t.equal(queue.load.atWork, concurrency);
  }
});

t.test('with 64 calls at work and 256 waiting, another caller is not refused, and has the next free place', async (t) => {
  const queue = new AttemptQueue({ concurrency: 64, waiting: 256 });
  const { begun, refused, call, end } = held(queue);
  call('b');
  call('a', 63 + 256);
  await end();
  call('a', 2);
  call('c');
  t.same(begun.at(-1), 'c', 'the last place is kept for a newcomer');
  call('d');
  t.same(queue.load, { atWork: 64, waiting: 256 });
  t.same(await end(), ['d']);
  t.same(refused, ['a QUEUE_FULL', 'a QUEUE_FULL', 'a QUEUE_FULL'], 'two that found it full, and the newest of those that waited');
});

t.test('a full waiting room is shared: whoever has fewer calls in it takes the space of the newest call of whoever has most', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 6 });
  const { refused, call } = held(queue);
  call('a', 7);
  call('b', 4);
  await new Promise(setImmediate);
  t.same([...refused].sort(), ['a QUEUE_FULL', 'a QUEUE_FULL', 'a QUEUE_FULL', 'b QUEUE_FULL'], 'three of each are left');
  call('c', 3);
  call('d', 3);
  await new Promise(setImmediate);
  t.same(queue.load, { atWork: 1, waiting: 6 });
  t.equal(refused.length, 4 + 6);
  t.same([...new Set(refused.slice(4))].sort(), ['a QUEUE_FULL', 'b QUEUE_FULL', 'c QUEUE_FULL', 'd QUEUE_FULL']);
});

t.test('where everybody has one call in the waiting room, it is full for everybody', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 2 });
  const { refused, call } = held(queue);
  for (const caller of ['a', 'b', 'c', 'd']) call(caller);
  await new Promise(setImmediate);
  t.same(refused, ['d QUEUE_FULL']);
});

t.test('whoever is pushed out of the waiting room and leaves at the same moment is told once', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 2 });
  const { call, end } = held(queue);
  call('a', 2);
  const leaver = new AbortController();
  const pushedOut = queue.run(async () => t.fail('ran'), 'a', leaver.signal);
  const newcomer = queue.run(async () => 'b', 'b', signal());
  leaver.abort();
  await t.rejects(pushedOut, FULL);
  await end();
  await end();
  t.equal(await newcomer, 'b');
  await new Promise(setImmediate);
  t.same(queue.load, { atWork: 0, waiting: 0 });
  t.equal(queue.callers, 0);
});

t.test(
  'with any callers in any order: never more at work than there are places, nobody waits for a free one, each call ends, and nothing is left',
  async (t) => {
    const dice = new Random(11);
    const roll = (sides: number): number => Math.floor(dice.next() * sides);
    const broken: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      const says = (isKept: boolean, rule: string): void => void (isKept || broken.push(`round ${round}: ${rule}`));
      const concurrency = 1 + roll(12);
      const waitingAtMost = 4 + roll(20);
      const queue = new AttemptQueue({ concurrency, waiting: waitingAtMost });
      const atWork = new Map<string, number>();
      const waiting = new Map<string, number[]>();
      const outcomes: Promise<string>[] = [];
      let lost = 0;
      const count = (caller: string): number => atWork.get(caller) ?? 0;
      const total = (): number => [...atWork.values()].reduce((sum, each) => sum + each, 0);
      const mayHave = (caller: string): boolean => total() < concurrency - (concurrency >= 8 && count(caller) > 0 ? 1 : 0);
      for (let n = 0; n < 80; n += 1) {
        const caller = 'abcde'[Math.min(roll(5), roll(5))] as string;
        const leaver = new AbortController();
        let hasBegun = false;
        const work = async () => {
          hasBegun = true;
          const own = waiting.get(caller) ?? [];
          if (own.includes(n)) {
            says(own[0] === n, 'in order within one caller');
            own.shift();
          }
          atWork.set(caller, count(caller) + 1);
          if (total() > concurrency) lost += 1;
          for (let turns = roll(5); turns > 0; turns -= 1) await new Promise(setImmediate);
          atWork.set(caller, count(caller) - 1);
          return 'done';
        };
        const { atWork: running } = queue.load;
        const outcome = queue.run(work, caller, leaver.signal).catch(({ code }: BlockhouseError) => {
          waiting.set(
            caller,
            (waiting.get(caller) ?? []).filter((each) => each !== n),
          );
          return code as string;
        });
        outcomes.push(outcome);
        if (!hasBegun) waiting.set(caller, [...(waiting.get(caller) ?? []), n]);
        if (hasBegun) says(queue.load.atWork === running + 1, 'who has begun is at work');
        if (roll(10) === 0 && !hasBegun) leaver.abort();
        if (roll(3) === 0) {
          await new Promise(setImmediate);
          for (const [each, calls] of waiting)
            if (calls.length > 0) says(!(mayHave(each) && queue.load.atWork < concurrency - 1), 'nobody waits for a place that is free');
        }
        says(queue.load.atWork <= concurrency && queue.load.waiting <= waitingAtMost, 'never more than there is room for');
      }
      const ended = await Promise.all(outcomes);
      await new Promise(setImmediate);
      t.strictSame(
        [...new Set(ended)].filter((each) => !['done', 'CANCELLED', 'QUEUE_FULL'].includes(each)),
        [],
      );
      t.equal(lost, 0, 'never more at work than there are places');
      t.same(queue.load, { atWork: 0, waiting: 0 });
      t.equal(queue.callers, 0);
    }
    t.same(broken, []);
  },
);
