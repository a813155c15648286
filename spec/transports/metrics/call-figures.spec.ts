import t from 'tap';
import type { CoreEvents } from '../../../core/bus.ts';
import { CallFigures } from '../../../transports/metrics/call-figures.ts';

type Finished = CoreEvents['call.finished'];

const call = (fields: Partial<Finished> = {}): Finished => ({
  kind: 'chat',
  call: 1,
  requestId: 'r',
  adapter: 'gpu',
  model: 'm',
  attempts: 1,
  durationMs: 100,
  path: '/v1/chat',
  ...fields,
});
const sums = (calls: Iterable<readonly [readonly string[], number]>) => Object.fromEntries([...calls].map(([labels, value]) => [labels.join(' '), value]));

t.test('a caller that makes up a thousand names of models makes no series, and hides no model that answers', async (t) => {
  const figures = new CallFigures();
  for (let index = 0; index < 1000; index += 1) figures.finished(call({ model: `made-up-${index}`, code: 'UPSTREAM_REJECTED' }));
  figures.finished(call({ model: 'real' }));
  t.same(sums(figures.calls()), { 'gpu other /v1/chat error': 1000, 'gpu real /v1/chat ok': 1 });
});

t.test('where a server answers for any name, the first 200 have their own', async (t) => {
  const figures = new CallFigures();
  for (let index = 0; index < 1000; index += 1) figures.finished(call({ model: `made-up-${index}` }));
  for (let index = 0; index < 1000; index += 1) figures.finished(call({ adapter: 'other-gpu', model: `more-${index}` }));
  const calls = sums(figures.calls());
  t.equal(Object.keys(calls).length, 202);
  t.equal(calls['gpu other /v1/chat ok'], 800);
  t.equal(calls['other-gpu other /v1/chat ok'], 1000);
});

t.test('paths are bounded too, and a block and a program have names in their place', async (t) => {
  const figures = new CallFigures();
  for (let index = 0; index < 100; index += 1) figures.finished(call({ path: `/${index}` }));
  figures.finished(call({ path: undefined, caller: 'helper' }));
  figures.finished(call({ path: undefined }));
  const calls = sums(figures.calls());
  t.equal(Object.keys(calls).length, 51);
  t.equal(calls['gpu m other ok'], 52);
  const early = new CallFigures();
  early.finished(call({ path: undefined, caller: 'helper' }));
  early.finished(call({ path: undefined }));
  early.finished(call({ path: undefined, caller: 'someone', key: 'app' }));
  t.same(sums(early.calls()), { 'gpu m block ok': 1, 'gpu m program ok': 2 });
});

t.test('a call is ok, an error with its code, or cancelled', async (t) => {
  const figures = new CallFigures();
  figures.finished(call());
  for (const code of ['CANCELLED', 'UPSTREAM_FAILED', 'UPSTREAM_FAILED', 'QUEUE_FULL'] as const)
    figures.finished(call({ code, attempts: code === 'QUEUE_FULL' ? 0 : 2 }));
  t.same(sums(figures.calls()), { 'gpu m /v1/chat ok': 1, 'gpu m /v1/chat cancelled': 1, 'gpu m /v1/chat error': 3 });
  t.same(sums(figures.errors()), { 'gpu UPSTREAM_FAILED': 2, 'gpu QUEUE_FULL': 1 });
  t.same(sums(figures.attempts()), { gpu: 7 });
});

t.test('times to tokens are those of streams', async (t) => {
  const figures = new CallFigures();
  const usage = { inputTokens: 5, outputTokens: 11, totalTokens: 16 };
  figures.finished(call({ firstTextMs: 99, usage }));
  t.same([...figures.firstToken()], [], 'a whole answer has all its tokens at once');
  figures.finished(call({ stream: true, firstTextMs: 200, durationMs: 700, usage }));
  figures.finished(call({ stream: true, firstTextMs: 300, durationMs: 400, usage: { ...usage, outputTokens: 1 } }));
  figures.finished(call({ stream: true, durationMs: 400, code: 'UPSTREAM_FAILED' }));
  const [[labels, first] = []] = [...figures.firstToken()];
  t.same(labels, ['gpu', 'm', '/v1/chat', 'ok']);
  t.equal(first?.sum, 0.5);
  const [[, further] = []] = [...figures.outputToken()];
  t.equal(further?.sum, 0.05, 'ten tokens after the first in half a second');
  t.equal(
    [...figures.seconds()].reduce((sum, [, seconds]) => sum + seconds.counts.reduce((all, count) => all + count, 0), 0),
    4,
  );
});

t.test('tokens are counted by type, also of calls that failed', async (t) => {
  const figures = new CallFigures();
  figures.finished(call({ usage: { inputTokens: 100, outputTokens: 10, totalTokens: 110, cacheReadTokens: 60, cacheWriteTokens: 20 } }));
  figures.finished(call({ code: 'CANCELLED', usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10, estimated: true } }));
  t.same(sums(figures.tokens()), { 'gpu m input': 107, 'gpu m output': 13, 'gpu m cache_read': 60, 'gpu m cache_write': 20 });
});

t.test('costs are those of clients and of blocks, and calls without a price are told apart', async (t) => {
  const figures = new CallFigures();
  figures.paid('client', { connection: 'gpu', model: 'm', costUsd: 0.25, hasSucceeded: true });
  figures.paid('client', { connection: 'gpu', model: 'm', costUsd: null, hasSucceeded: true });
  figures.paid('block', { connection: 'gpu', model: 'm', costUsd: 0.5, hasSucceeded: true });
  figures.paid('client', { connection: 'gpu', model: 'made-up', costUsd: 0.125, hasSucceeded: false });
  t.same(sums(figures.cost()), { 'gpu m client': 0.25, 'gpu m block': 0.5, 'gpu other client': 0.125 });
  t.same(sums(figures.unpriced()), { 'gpu m client': 1 });
});

t.test('waits and repetitions are those of a connection', async (t) => {
  const figures = new CallFigures();
  figures.finished(call({ queuedMs: 1500 }));
  figures.retried({ kind: 'chat', call: 1, requestId: 'r', adapter: 'gpu', model: 'made-up', attempt: 1, delayMs: 5, code: 'UPSTREAM_FAILED', error: 'x' });
  const [[labels, wait] = []] = [...figures.wait()];
  t.same([labels, wait?.sum], [['gpu'], 1.5]);
  t.same(sums(figures.retries()), { 'gpu UPSTREAM_FAILED': 1 });
});
