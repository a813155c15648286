import t from 'tap';
import { CallProgress, type ProgressFact } from '../../../../../core/block/reply/run/call-progress.ts';
import { until } from '../../../../support/until.ts';

const HOUR_MS = 3_600_000;
const NOTHING = { state: 'working', task: false };

t.test('the first is told at once, of a flood only the newest, and nothing after the end', async (t) => {
  const facts: ProgressFact[] = [];
  const slow = new CallProgress((fact) => void facts.push(fact), HOUR_MS);
  for (let progress = 1; progress <= 10_000; progress += 1) slow.note({ isTask: false, progress, total: 10_000 });
  t.strictSame(facts, [{ ...NOTHING, progress: 1, total: 10_000 }]);
  slow.end();
  slow.note({ isTask: true });
  t.equal(facts.length, 1);
  const quick = new CallProgress((fact) => void facts.push(fact), 1);
  for (const progress of [1, 2, 3]) quick.note({ isTask: true, progress });
  await until('the newest has come', () => facts.at(-1)?.progress === 3);
  t.strictSame(facts.slice(1), [
    { ...NOTHING, task: true, progress: 1 },
    { ...NOTHING, task: true, progress: 3 },
  ]);
  quick.end();
});

t.test('the same is said once', async (t) => {
  const facts: ProgressFact[] = [];
  const progress = new CallProgress((fact) => void facts.push(fact), 0);
  for (let times = 0; times < 5; times += 1) {
    progress.note({ isTask: true, message: 'Reading' });
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  t.equal(facts.length, 1);
  progress.end();
});

t.test('what a server says is one short line of what is seen, and numbers are numbers', async (t) => {
  const of = (said: object): ProgressFact | undefined => {
    let fact: ProgressFact | undefined;
    const one = new CallProgress((told) => {
      fact = told;
    }, HOUR_MS);
    one.note({ isTask: false, ...said });
    one.end();
    return fact;
  };
  t.equal(of({ message: ' a\n\tb\u0000c\u200b\u202e d ' })?.message, 'a bc d');
  const long = of({ message: '😀'.repeat(100_000) })?.message ?? '';
  t.ok(long.length <= 200 && !/\p{Surrogate}/u.test(long) && long.endsWith('…'), long);
  for (const message of ['', ' \n', 7, {}, null, undefined]) t.equal(of({ message })?.message, undefined);
  for (const progress of [Number.NaN, Number.POSITIVE_INFINITY, '3', {}, undefined]) t.strictSame(of({ progress, total: progress }), NOTHING);
  t.match(of({ progress: -1, total: 0 }), { progress: -1, total: 0 });
});
