import t from 'tap';
import { ExportQueue, type Sent } from '../../../transports/telemetry/export-queue.ts';
import { ObjectBatch, type Origin, type SpanBatch } from '../../../transports/telemetry/span-batch.ts';
import type { Noted } from '../../../transports/telemetry/spans.ts';
import { until } from '../../support/until.ts';

const OWN = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', flags: 1 };
const ORIGIN = { resource: {}, scope: { name: 'x' } } as Origin;

function write(batch: SpanBatch, name: string): void {
  batch.begin({ name, kind: 'INTERNAL', own: OWN, parent: undefined, from: 0, to: 1 });
  batch.end();
}

const noted = (count = 1, name = 'x', isReady = true): Noted => ({
  count,
  isReady,
  write: (batch) => {
    for (let index = 0; index < count; index += 1) write(batch, name);
  },
});

/** A queue whose exports the test ends: true for success. */
function held(settings: { most?: number; batch?: number; delayMs?: number; timeoutMs?: number } = {}) {
  const batches: { readonly count: number; readonly names: readonly string[]; end(ok: boolean, refused?: number): void }[] = [];
  const dropped: Record<string, number> = {};
  const failures: string[] = [];
  const outlet = {
    open: () => new ObjectBatch(ORIGIN),
    export: ({ spans }: ObjectBatch, done: (sent: Sent) => void) => {
      const names = spans.map(({ name }) => name);
      batches.push({ count: spans.length, names, end: (ok, refused = 0) => done(ok ? { refused } : { failure: new Error('no') }) });
    },
  };
  const queue = new ExportQueue(
    outlet,
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
  const outlet = {
    open: () => new ObjectBatch(ORIGIN),
    export: () => {
      throw new Error('broken');
    },
  };
  const reports = { dropped: (reason: string, count: number) => told.push([reason, count]), failed: (error: Error | undefined) => told.push(error?.message) };
  const queue = new ExportQueue(outlet, { most: 1, batch: 1, delayMs: 0, timeoutMs: 1000 }, reports);
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

t.test('what may still change is written when its batch is full or due, and is released when that is sent', async (t) => {
  const { queue, batches, add } = held();
  let released = 0;
  let name = 'early';
  const late: Noted = {
    count: 1,
    isReady: false,
    write: (batch) => write(batch, name),
    release: () => {
      released += 1;
    },
  };
  queue.add(late);
  add(2);
  name = 'late';
  t.equal(released, 0);
  add(1);
  t.strictSame(batches[0]?.names, ['x', 'x', 'x', 'late'], 'it waits no longer than the others');
  t.equal(released, 1);
  queue.add(late);
  add(3);
  t.equal(released, 1, 'nor is it released while it waits for its turn');
  batches[0]?.end(true);
  await until('the next one is sent', () => batches.length === 2);
  t.equal(released, 2);
});

t.test('spans that a collector refuses of a batch are counted', async (t) => {
  const { queue, batches, dropped, failures, add } = held();
  add(4);
  batches[0]?.end(true, 3);
  await queue.forceFlush();
  t.strictSame([dropped, failures], [{ export_failed: 3 }, []]);
  add(4);
  batches[1]?.end(true, 2 ** 62);
  await queue.forceFlush();
  t.strictSame(dropped, { export_failed: 7 }, 'it has refused no more than it got');
});

t.test('what has no place is released, and so is what waits at the end', async (t) => {
  const { queue } = held({ most: 1, delayMs: 60_000 });
  let released = 0;
  const one: Noted = {
    ...noted(1, 'x', false),
    release: () => {
      released += 1;
    },
  };
  queue.add({ ...one, count: 0 });
  t.equal(released, 1, 'what has no spans');
  queue.add(one);
  t.equal(released, 1);
  queue.add(one);
  t.equal(released, 2);
  const { queue: other } = held({ delayMs: 60_000 });
  other.add(one);
  await other.shutdown(0);
  t.equal(released, 3);
});

t.test('what is written at once is released when its batch is sent, and at the end', async (t) => {
  const { queue, batches, add } = held({ batch: 2 });
  let released = 0;
  const one: Noted = {
    ...noted(),
    release: () => {
      released += 1;
    },
  };
  queue.add(one);
  t.equal(released, 0);
  add(1);
  t.equal(released, 1);
  for (let count = 0; count < 3; count += 1) queue.add(one);
  batches[0]?.end(true);
  await until('the next one is sent', () => batches.length === 2);
  t.equal(released, 3);
  await queue.shutdown(0);
  t.equal(released, 4);
});

t.test('a batch that says that it is full is sent with fewer', async (t) => {
  const sizes: number[] = [];
  const outlet = {
    open: () => ({
      count: 0,
      get isFull() {
        return this.count === 3;
      },
    }),
    export: ({ count }: { count: number }, done: (sent: Sent) => void) => {
      sizes.push(count);
      done({});
    },
  };
  const reports = { dropped: () => undefined, failed: () => undefined };
  const queue = new ExportQueue<{ count: number; readonly isFull: boolean }>(outlet, { most: 100, batch: 100, delayMs: 60_000, timeoutMs: 60_000 }, reports);
  const write = (batch: { count: number }): void => {
    batch.count += 1;
  };
  for (let count = 0; count < 7; count += 1) queue.add({ count: 1, isReady: true, write });
  await queue.forceFlush();
  t.strictSame(sizes, [3, 3, 1]);
});

t.test('batches that say how long they are take so many bytes together, and more once some have gone', async (t) => {
  const MIB = 1024 * 1024;
  const ends: (() => void)[] = [];
  let droppedCount = 0;
  const outlet = {
    open: () => ({ count: 0, length: 0 }),
    export: (_batch: object, done: (sent: Sent) => void) => void ends.push(() => done({})),
  };
  const reports = { dropped: (_reason: string, count: number) => (droppedCount += count), failed: () => undefined };
  const queue = new ExportQueue<{ count: number; length: number }>(outlet, { most: 1000, batch: 4, delayMs: 60_000, timeoutMs: 60_000 }, reports);
  const released: number[] = [];
  const add = (name: number): void =>
    queue.add({
      count: 1,
      isReady: true,
      release: () => released.push(name),
      write: (batch) => {
        batch.count += 1;
        batch.length += MIB;
      },
    });
  for (let name = 0; name < 30; name += 1) add(name);
  t.strictSame([ends.length, droppedCount], [1, 10], '4 are on their way, 16 wait, and the others are dropped');
  t.strictSame(released, [0, 1, 2, 3, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
  ends[0]?.();
  await until('the next ones are sent', () => ends.length === 2);
  for (let name = 30; name < 40; name += 1) add(name);
  t.equal(droppedCount, 16, 'so many as have gone are taken');
  const closed = queue.shutdown(1);
  await closed;
});
