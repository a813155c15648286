import t from 'tap';
import { AnswerText } from '../../../../core/block/reply/answer-text.ts';
import type { ReplyStep } from '../../../../core/block/reply/reply-stream.ts';
import { ReplyStream, StepCounter } from '../../../../core/block/reply/reply-stream.ts';

const START = { id: 'm1', provider: 'p', model: 'm', attempt: 1 } as const;
const STARTED = { ...START, event: 'start' } as const;
const DONE = { id: 'm1', event: 'done', answerId: 'a1', status: 'done', stopReason: 'end_turn' } as const;
const FAILED = { id: 'm1', event: 'error', code: 'X', error: 'x', willRetry: true } as const;

const said = (text: string) => ({ id: 'm1', event: 'content', text }) as const;

function writer(counter = new StepCounter(0)) {
  const stream = new ReplyStream(counter);
  let text = new AnswerText();
  return {
    stream,
    start: (): void => {
      text = new AnswerText();
      stream.start(START, text);
    },
    say: (piece: string): void => stream.emit(said(text.append(piece))),
  };
}

function reader(): { steps: ReplyStep[]; read: (step: ReplyStep) => void } {
  const steps: ReplyStep[] = [];
  return { steps, read: (step) => void steps.push(step) };
}

t.test('steps are numbered by characters, and a later process continues with greater numbers', (t) => {
  const first = new StepCounter(1000);
  const later = new StepCounter(1001);
  let last = 0;
  for (let n = 0; n < 999; n += 1) last = first.next();
  t.equal(last, 1_000_999);
  t.ok(later.next() > last);
  t.end();
});

t.test('numbers are whole, also where a clock tells parts of a millisecond', (t) => {
  const counter = new StepCounter(1000.0001);
  t.equal(counter.next(), 1_000_002);
  counter.follow(2_000_000.25);
  t.equal(counter.next(), 2_000_002);
  t.end();
});

t.test('the numbers of a block grow from reply to reply, also after it is opened anew', (t) => {
  const counter = new StepCounter(0);
  const { steps, read } = reader();
  for (const one of [writer(counter), writer(counter)]) {
    one.stream.join(read);
    for (const end of [FAILED, DONE]) {
      one.start();
      one.say('abc');
      one.stream.emit(end);
    }
  }
  t.same(
    steps.map(({ seq }) => seq),
    [1, 4, 5, 6, 9, 10, 11, 14, 15, 16, 19, 20],
  );
  t.end();
});

t.test('the number of the last step is never less than that of a step before it, whichever object has sent it', (t) => {
  const counter = new StepCounter(0);
  const { steps, read } = reader();
  const one = writer(counter);
  one.stream.join(read);
  const numbers = [one.stream.seq];
  for (const step of [one.start, () => one.say('abc'), () => one.stream.emit(DONE)]) {
    step();
    numbers.push(one.stream.seq);
  }
  t.same(numbers, [0, ...steps.map(({ seq }) => seq)]);
  t.equal(writer(counter).stream.seq, one.stream.seq, 'the block was let go and is opened anew');
  t.end();
});

t.test('each step goes to each reader once, until it leaves', (t) => {
  const { stream, start, say } = writer();
  const [one, two] = [reader(), reader()];
  const leave = stream.join(one.read);
  start();
  stream.join(two.read, 1);
  say('a');
  leave();
  leave();
  stream.emit(DONE);
  t.same(one.steps, [
    { ...STARTED, seq: 1 },
    { ...said('a'), seq: 2 },
  ]);
  t.same(two.steps, [
    { ...said('a'), seq: 2 },
    { ...DONE, seq: 3 },
  ]);
  t.end();
});

t.test('a late reader gets the text after its sinceSeq as one step', (t) => {
  const { stream, start, say } = writer();
  start();
  for (const text of ['ab', 'cd', 'ef']) say(text);
  const missed = (sinceSeq?: number): ReplyStep[] => {
    const { steps, read } = reader();
    stream.join(read, sinceSeq)();
    return steps;
  };
  t.same(missed(), [
    { ...STARTED, seq: 1 },
    { ...said('abcdef'), seq: 7 },
  ]);
  t.same(missed(1), [{ ...said('abcdef'), seq: 7 }]);
  t.same(missed(3), [{ ...said('cdef'), seq: 7 }]);
  t.same(missed(7), []);
  t.same(missed(99), []);
  t.end();
});

t.test('a late reader gets nothing of a reply that is over, or of a failed attempt', (t) => {
  for (const end of [DONE, FAILED]) {
    const { stream, start, say } = writer();
    start();
    say('ab');
    stream.emit(end);
    const { steps, read } = reader();
    stream.join(read);
    t.same(steps, []);
    start();
    stream.join(reader().read);
    t.match(steps, [{ event: 'start', seq: 5 }]);
  }
  t.end();
});

t.test('a reader that joins before the first text gets only the start', (t) => {
  const { stream, start } = writer();
  start();
  const { steps, read } = reader();
  stream.join(read);
  t.same(steps, [{ ...STARTED, seq: 1 }]);
  t.end();
});
