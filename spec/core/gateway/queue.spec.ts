import t from 'tap';
import type { BlockhouseError } from '../../../core/errors.ts';
import { AttemptQueue } from '../../../core/gateway/queue.ts';
import { Random } from '../../support/crash/random.ts';
import { gate } from '../../support/stepped-adapter.ts';
import { until } from '../../support/until.ts';

const signal = () => new AbortController().signal;
const FULL = { code: 'QUEUE_FULL', status: 429 } as const;

t.test('so many run at the same time, the rest wait for their turn in order', async (t) => {
  const queue = new AttemptQueue({ concurrency: 2, waiting: 10 });
  const gates = Array.from({ length: 5 }, gate);
  const started: number[] = [];
  const runs = gates.map((held, n) =>
    queue.run(async () => {
      started.push(n);
      await held.opened;
      return n;
    }, signal()),
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
    const runs = Array.from({ length: 1 + waiting }, () => queue.run(() => held.opened, signal()));
    let ran = false;
    const surplus = queue.run(async () => {
      ran = true;
    }, signal());
    await t.rejects(surplus, { ...FULL, retryAfterMs: 2000, retryable: true, message: new RegExp(`1 requests running, ${waiting} waiting`) });
    held.open();
    await Promise.all(runs);
    t.equal(ran, false);
    t.equal(await queue.run(async () => 'again', signal()), 'again', 'and there is room again');
  }
});

t.test('a request that leaves while it waits frees its place and never runs', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 1 });
  const held = gate();
  const first = queue.run(() => held.opened, signal());
  const leaver = new AbortController();
  const left = queue.run(async () => t.fail('ran though it had left'), leaver.signal);
  await t.rejects(
    queue.run(async () => 0, signal()),
    FULL,
  );
  leaver.abort();
  await t.rejects(left, { code: 'CANCELLED', status: 499 });
  const third = queue.run(async () => 'third', signal());
  held.open();
  await first;
  t.equal(await third, 'third');
});

t.test('a request that had left before it came never runs', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 1 });
  await t.rejects(
    queue.run(async () => t.fail('ran'), AbortSignal.abort()),
    { code: 'CANCELLED' },
  );
  t.equal(await queue.run(async () => 'next', signal()), 'next');
});

t.test('a request that leaves at work ends at once and frees its place', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 1 });
  const leaver = new AbortController();
  const deaf = queue.run(() => new Promise<never>(() => undefined), leaver.signal);
  leaver.abort();
  await t.rejects(deaf, { code: 'CANCELLED' });
  t.equal(await queue.run(async () => 'next', signal()), 'next');
});

t.test('once a task has begun, the abort of its caller is heard by the task alone', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 1 });
  const held = gate();
  const first = queue.run(() => held.opened, signal());
  const leaver = new AbortController();
  const noticed = new Error('ended in its own way');
  const second = queue.run(() => new Promise((_resolve, reject) => leaver.signal.addEventListener('abort', () => reject(noticed))), leaver.signal);
  held.open();
  await first;
  await new Promise(setImmediate);
  leaver.abort();
  await t.rejects(second, noticed);
});

t.test('a thousand that leave the waiting room leave nothing behind', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 1 });
  const held = gate();
  const first = queue.run(() => held.opened, signal());
  const codes = new Set<unknown>();
  for (let n = 0; n < 1000; n += 1) {
    const leaver = new AbortController();
    const left = queue.run(async () => t.fail('ran though it had left'), leaver.signal);
    leaver.abort();
    await left.catch((error: unknown) => codes.add((error as BlockhouseError).code));
  }
  t.strictSame([...codes], ['CANCELLED']);
  const last = queue.run(async () => 'last', signal());
  held.open();
  await first;
  t.equal(await last, 'last');
});

t.test('the failure of a task is its own, and the next one runs', async (t) => {
  const queue = new AttemptQueue({ concurrency: 1, waiting: 1 });
  const failure = new Error('mine');
  await t.rejects(
    queue.run(() => Promise.reject(failure), signal()),
    failure,
  );
  await t.rejects(
    queue.run(() => {
      throw failure;
    }, signal()),
    failure,
  );
  t.equal(await queue.run(async () => 1, signal()), 1);
});

t.test('the head of the line that leaves while its place becomes free loses no place, at whatever moment', async (t) => {
  for (let moment = 0; moment < 12; moment += 1) {
    const queue = new AttemptQueue({ concurrency: 1, waiting: 2 });
    const leaver = new AbortController();
    const held = gate();
    const first = queue.run(() => held.opened, signal());
    const head = queue.run(() => new Promise<never>(() => undefined), leaver.signal).catch(({ code }: BlockhouseError) => code);
    const behind = queue.run(async () => 'behind', signal());
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
      for (let n = 0; n < 30; n += 1) {
        const leaver = new AbortController();
        const chance = random();
        const work = async () => {
          started.push(n);
          atWork += 1;
          t.ok(atWork <= concurrency);
          for (let turns = Math.floor(random() * 4); turns > 0; turns -= 1) await new Promise(setImmediate);
          atWork -= 1;
          if (chance < 0.2) throw new Error('mine');
        };
        ended.push(queue.run(work, chance > 0.8 ? AbortSignal.abort() : leaver.signal).catch((error: BlockhouseError) => error.code));
        // Work that is under way here does not heed its signal, so only those that wait leave.
        if (chance > 0.6 && !started.includes(n)) leaver.abort();
        if (random() < 0.4) await new Promise(setImmediate);
      }
      await Promise.all(ended);
      await new Promise(setImmediate);
      t.same(queue.load, { atWork: 0, waiting: 0 });
      t.same(
        started,
        [...started].sort((a, b) => a - b),
      );
    }
  },
);
