import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { Intake } from '../../../../../core/store/postgres/signals/intake.ts';

t.test('notices have a part of the time, and what is left out is told once', async (t) => {
  let now = 0;
  let lost = 0;
  const taken: string[] = [];
  const intake = new Intake({
    take: (payload) => {
      taken.push(payload);
      now += 10;
    },
    onLost: () => {
      lost += 1;
    },
    clock: () => now,
    afterMs: 1,
  });
  t.teardown(() => intake.close());
  for (let count = 0; count < 1000; count += 1) intake.hear(`a${count}`);
  t.strictSame(taken, ['a0', 'a1', 'a2', 'a3', 'a4']);
  now = 200;
  intake.hear('b');
  t.equal(taken.at(-1), 'b');
  t.equal(lost, 0);
  await delay(5);
  t.equal(lost, 1);
  await delay(5);
  t.equal(lost, 1);
});

t.test('nothing is told where nothing was left out, nor after the end', async (t) => {
  let lost = 0;
  let now = 0;
  const intake = new Intake({
    take: () => {
      now += 60;
    },
    onLost: () => {
      lost += 1;
    },
    clock: () => now,
    afterMs: 1,
  });
  intake.hear('a');
  await delay(5);
  intake.hear('b');
  intake.close();
  await delay(5);
  t.equal(lost, 0);
});
