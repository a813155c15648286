import { mock } from 'node:test';
import t from 'tap';
import { FailedLines } from '../../../core/keys/failed-lines.ts';
import type { GatewayCall } from '../../../core/store/port.ts';

const FAILED: GatewayCall = {
  at: '2026-11-22T10:00:00.000Z',
  requestId: 'r',
  key: 'app',
  provider: 'openai',
  model: 'a',
  usage: null,
  costUsd: null,
  firstTextMs: null,
  durationMs: 1,
  error: 'UPSTREAM_FAILED',
};
const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

t.test('a hundred failed calls of a key in a minute have lines of their own, and further ones one line together, by provider, error and day', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  let now = 0;
  const written: GatewayCall[] = [];
  const lines = new FailedLines(
    (call) => written.push(call),
    () => now,
  );
  const all = Array.from({ length: 250 }, (_, index) => lines.linesOf({ ...FAILED, requestId: `${index}`, model: `m${index}` }));
  t.same([all.slice(0, 100).every((one) => one === 1), all.slice(100).every((one) => one === 0)], [true, true]);
  t.equal(lines.linesOf({ ...FAILED, key: 'other' }), 1, 'each key has its own');
  t.equal(lines.linesOf({ ...FAILED, key: null }), 1, 'the token of the workspace has all');
  t.equal(lines.linesOf({ ...FAILED, usage: USAGE }), 1, 'what may have cost something has its own');
  for (const other of [{ provider: 'gpu' }, { error: 'QUEUE_FULL' }, { group: 'team' }, { at: '2026-11-23T00:00:00.000Z' }] as const)
    t.equal(lines.linesOf({ ...FAILED, ...other }), 0);
  t.same(written, []);
  mock.timers.tick(10_000);
  t.match(written, [
    { key: 'app', provider: 'openai', model: '…', error: 'UPSTREAM_FAILED', usage: null, calls: 150 },
    { provider: 'gpu', model: 'a', calls: 1 },
    { error: 'QUEUE_FULL', calls: 1 },
    { group: 'team', calls: 1 },
    { at: '2026-11-23T00:00:00.000Z', calls: 1 },
  ]);
  t.equal(written.length, 5);
  now += 6000;
  t.same(
    Array.from({ length: 11 }, () => lines.linesOf(FAILED)),
    [...Array.from({ length: 10 }, () => 1), 0],
    'a tenth of a minute later there are ten more',
  );
  lines.flush();
  t.match(written.at(-1), { model: 'a', calls: 1 });
  lines.flush();
  mock.timers.tick(10_000);
  t.equal(written.length, 6, 'once');
});
