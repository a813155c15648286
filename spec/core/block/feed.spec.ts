import t from 'tap';
import type { ReplyStep } from '../../../core/block/api.ts';
import { ReplyFeed, StepCounter } from '../../../core/block/feed.ts';

const START = { id: 'm1', event: 'start', provider: 'p', model: 'm', attempt: 1 } as const;
const say = (text: string) => ({ id: 'm1', event: 'content', text }) as const;
const DONE = { id: 'm1', event: 'done', answerId: 'a1', status: 'done', stopReason: 'end_turn' } as const;

function reader(): { steps: ReplyStep[]; read: (step: ReplyStep) => void } {
  const steps: ReplyStep[] = [];
  return { steps, read: (step) => void steps.push(step) };
}

t.test('steps are numbered through, and a later process counts on', (t) => {
  const first = new StepCounter(1000);
  const later = new StepCounter(1001);
  let last = 0;
  for (let n = 0; n < 999; n += 1) last = first.next();
  t.equal(last, 1_000_999);
  t.ok(later.next() > last);
  t.end();
});

t.test('each step goes to each reader once, until it leaves', (t) => {
  const feed = new ReplyFeed(new StepCounter(0));
  const [one, two] = [reader(), reader()];
  const leave = feed.join(one.read);
  feed.emit(START);
  feed.join(two.read, 1);
  feed.emit(say('a'));
  leave();
  leave();
  feed.emit(DONE);
  t.same(one.steps, [
    { ...START, seq: 1 },
    { ...say('a'), seq: 2 },
  ]);
  t.same(two.steps, [
    { ...say('a'), seq: 2 },
    { ...DONE, seq: 3 },
  ]);
  t.end();
});

t.test('whoever joins late gets the text so far as one step, from where it stood', (t) => {
  const feed = new ReplyFeed(new StepCounter(0));
  for (const fact of [START, say('ab'), say('cd'), say('ef')]) feed.emit(fact);
  const missed = (sinceSeq?: number): ReplyStep[] => {
    const { steps, read } = reader();
    feed.join(read, sinceSeq)();
    return steps;
  };
  t.same(missed(), [
    { ...START, seq: 1 },
    { ...say('abcdef'), seq: 4 },
  ]);
  t.same(missed(1), [{ ...say('abcdef'), seq: 4 }]);
  t.same(missed(2), [{ ...say('cdef'), seq: 4 }]);
  t.same(missed(4), []);
  t.same(missed(99), []);
  t.end();
});

t.test('a reply that is over is no news, and neither is a failed attempt', (t) => {
  for (const end of [DONE, { id: 'm1', event: 'error', code: 'X', error: 'x', willRetry: true } as const]) {
    const feed = new ReplyFeed(new StepCounter(0));
    for (const fact of [START, say('ab'), end]) feed.emit(fact);
    const { steps, read } = reader();
    feed.join(read);
    t.same(steps, []);
    feed.emit({ ...START, attempt: 2 });
    feed.join(reader().read);
    t.match(steps, [{ event: 'start', attempt: 2 }]);
  }
  t.end();
});

t.test('who joins before the first word gets the start alone', (t) => {
  const feed = new ReplyFeed(new StepCounter(0));
  feed.emit(START);
  const { steps, read } = reader();
  feed.join(read);
  t.same(steps, [{ ...START, seq: 1 }]);
  t.end();
});
