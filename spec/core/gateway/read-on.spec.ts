import { mock } from 'node:test';
import t from 'tap';
import { generatedIn, READ_ON_MS, ReadOn, withUnseen } from '../../../core/gateway/read-on.ts';

t.test('an answer is read on until its time is over, and a call that has ended leaves no timer', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const [late, early] = [new ReadOn(), new ReadOn()];
  mock.timers.tick(READ_ON_MS * 2);
  t.notOk(late.until.aborted || late.hasLeft, 'its caller is still there');
  late.begin();
  early.begin();
  early.end();
  mock.timers.tick(READ_ON_MS - 1);
  t.notOk(late.until.aborted);
  mock.timers.tick(1);
  t.ok(late.until.aborted && late.hasLeft);
  t.notOk(early.until.aborted);
  t.end();
});

t.test('what a call was lent serves the next one, unless its caller has left or it was stopped, and a thousand calls at most', (t) => {
  const lent = ReadOn.lend();
  const { until } = lent;
  lent.end();
  t.equal(ReadOn.lend(), lent);
  t.equal(lent.until, until);
  lent.begin();
  lent.end();
  const next = ReadOn.lend();
  t.not(next, lent, 'its caller has left');
  next.stop();
  next.end();
  const last = ReadOn.lend();
  t.not(last, next, 'it was stopped');
  t.notOk(last.until.aborted || last.hasLeft);
  last.end();
  for (let call = 0; call < 1000; call += 1) ReadOn.lend().end();
  t.not(ReadOn.lend(), last, 'a thousand calls had it');
  t.end();
});

t.test('what may have been generated unseen is added by estimate, and lowers no count', (t) => {
  const used = { inputTokens: 10, outputTokens: 50, totalTokens: 60, cacheReadTokens: 4 };
  t.same(withUnseen(used, 100), { inputTokens: 10, outputTokens: 100, totalTokens: 110, cacheReadTokens: 4, estimated: true });
  t.equal(withUnseen(used, 50), used);
  t.equal(withUnseen(used, 0), used);
  t.equal(withUnseen(undefined, 100), undefined, 'nothing was sent');
  t.end();
});

t.test('what a model may have generated grows with the time that it had', (t) => {
  t.same([0, 1, 300, 120_000].map(generatedIn), [0, 1, 30, 12_000]);
  t.end();
});
