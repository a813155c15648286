import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import t from 'tap';
import { SpanQueue } from '../../../transports/telemetry/span-queue.ts';
import type { Noted } from '../../../transports/telemetry/spans.ts';
import { until } from '../../support/until.ts';

const noted = (count = 1): Noted => ({ count, spans: () => Array.from({ length: count }, () => ({}) as ReadableSpan) });

/** An exporter whose exports the test ends: true for success. */
function held(settings: { most?: number; batch?: number; delayMs?: number; timeoutMs?: number } = {}) {
  const batches: { readonly count: number; end(ok: boolean): void }[] = [];
  const dropped: Record<string, number> = {};
  const failures: string[] = [];
  const exporter: SpanExporter = {
    export: (spans, done) => void batches.push({ count: spans.length, end: (ok) => done(ok ? { code: 0 } : { code: 1, error: new Error('no') }) }),
    shutdown: async () => undefined,
  };
  const queue = new SpanQueue(
    exporter,
    { most: 10, batch: 4, delayMs: 1, timeoutMs: 60_000, ...settings },
    {
      dropped: (reason, count) => {
        dropped[reason] = (dropped[reason] ?? 0) + count;
      },
      failed: (error) => failures.push(error?.message ?? ''),
    },
  );
  const add = (count: number): void => {
    for (let index = 0; index < count; index += 1) queue.add(noted());
  };
  return { queue, batches, dropped, failures, add };
}

t.test('spans go in batches, one after the other', async (t) => {
  const { batches, dropped, add } = held();
  add(9);
  t.strictSame(
    batches.map(({ count }) => count),
    [4],
    'a full batch waits for nothing',
  );
  batches[0]?.end(true);
  await until('the next one is sent', () => batches.length === 2);
  batches[1]?.end(true);
  await until('the rest is sent after its delay', () => batches.length === 3);
  t.equal(batches[2]?.count, 1);
  t.strictSame(dropped, {});
});

t.test('what makes several spans is not parted, and counts as so many', async (t) => {
  const { queue, batches, dropped } = held();
  queue.add(noted(3));
  queue.add(noted(3));
  queue.add(noted(8));
  t.strictSame(dropped, { queue_full: 8 });
  t.equal(batches[0]?.count, 3);
  batches[0]?.end(true);
  await until('the next one is sent', () => batches.length === 2);
  t.equal(batches[1]?.count, 3);
  batches[1]?.end(true);
  queue.add(noted(6));
  await until('one that is larger than a batch is sent, too', () => batches.length === 3);
  t.equal(batches[2]?.count, 6);
});

t.test('a collector that hangs costs what does not fit into the queue, and no more memory', async (t) => {
  const { batches, dropped, add } = held();
  add(4);
  add(25);
  t.equal(batches.length, 1);
  t.strictSame(dropped, { queue_full: 15 });
});

t.test('a batch that fails is counted and told, and the next one is tried', async (t) => {
  const { batches, dropped, failures, add } = held();
  add(8);
  batches[0]?.end(false);
  await until('the next one is sent', () => batches.length === 2);
  t.strictSame([dropped, failures], [{ export_failed: 4 }, ['no']]);
});

t.test('an exporter that never answers or throws is a failure', async (t) => {
  const { batches, dropped, add, failures } = held({ timeoutMs: 5 });
  add(8);
  await until('both have failed', () => dropped['export_failed'] === 8);
  t.equal(batches.length, 2);
  t.match(failures, [/within 5 ms/, /within 5 ms/]);
  const told: unknown[] = [];
  const exporter = {
    export: () => {
      throw new Error('broken');
    },
    shutdown: async () => undefined,
  };
  const reports = { dropped: (reason: string, count: number) => told.push([reason, count]), failed: (error: Error | undefined) => told.push(error?.message) };
  const queue = new SpanQueue(exporter, { most: 1, batch: 1, delayMs: 0, timeoutMs: 1000 }, reports);
  queue.add(noted());
  await queue.forceFlush();
  t.strictSame(told, [['export_failed', 1], 'broken']);
});

t.test('the end waits for what is under way and what waits, and only so long', async (t) => {
  const good = held();
  good.add(7);
  const ended = good.queue.shutdown(60_000);
  good.batches[0]?.end(true);
  await until('the rest is sent at once', () => good.batches.length === 2);
  good.batches[1]?.end(true);
  await ended;
  t.strictSame(good.dropped, {});
  good.add(1);
  t.strictSame(good.dropped, { shutdown: 1 }, 'what comes after it');
  await good.queue.shutdown(1);

  const bad = held();
  bad.add(9);
  await bad.queue.shutdown(5);
  t.strictSame(bad.dropped, { shutdown: 9 });
  bad.batches[0]?.end(false);
  await Promise.resolve();
  t.strictSame(bad.dropped, { shutdown: 9 }, 'each is counted once');
});

t.test('what has no place is said to what it was noted for', async (t) => {
  const { queue } = held({ most: 1 });
  let lost = 0;
  const one: Noted = {
    ...noted(),
    lost: () => {
      lost += 1;
    },
  };
  queue.add(one);
  t.equal(lost, 0);
  queue.add(one);
  t.equal(lost, 1);
});
