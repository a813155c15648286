import t from 'tap';
import type { BlockhouseError } from '../../../core/errors.ts';
import { AttemptQueue } from '../../../core/gateway/queue.ts';
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
