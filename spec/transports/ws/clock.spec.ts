import t from 'tap';
import { realClock } from '../../../transports/ws/clock.ts';
import { until } from '../../support/until.ts';

t.test('a task runs once after its time, or never when it is cancelled', async (t) => {
  let ran = 0;
  let cancelled = 0;
  realClock.after(1, () => {
    ran += 1;
  });
  realClock.after(1, () => {
    cancelled += 1;
  })();
  await until('the task has run', () => ran > 0);
  const at = realClock.now();
  await until('some time has passed', () => realClock.now() > at + 5);
  t.strictSame([ran, cancelled], [1, 0]);
});

t.test('a task runs again and again until it is cancelled', async (t) => {
  let ran = 0;
  const cancel = realClock.every(1, () => {
    ran += 1;
  });
  await until('it has run some times', () => ran > 2);
  cancel();
  const { before, at } = { before: ran, at: realClock.now() };
  await until('some time has passed', () => realClock.now() > at + 5);
  t.equal(ran, before);
});
