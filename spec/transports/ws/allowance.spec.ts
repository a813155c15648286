import t from 'tap';
import { Allowance } from '../../../transports/ws/allowance.ts';
import { ManualClock } from '../../support/manual-clock.ts';

function takeAll(allowance: Allowance): number {
  let count = 0;
  while (allowance.take()) count += 1;
  return count;
}

t.test('so many may be taken at once, and then so many a second', async (t) => {
  const clock = new ManualClock();
  const allowance = new Allowance(10, 4, clock.now);
  t.equal(takeAll(allowance), 10, 'the burst');
  clock.pass(249);
  t.equal(takeAll(allowance), 0);
  clock.pass(1);
  t.equal(takeAll(allowance), 1);
  clock.pass(1000);
  t.equal(takeAll(allowance), 4);
  clock.pass(1_000_000);
  t.equal(takeAll(allowance), 10, 'what is not used is not saved up beyond the burst');
});

t.test('whoever keeps to the rate is never refused', async (t) => {
  const clock = new ManualClock();
  const allowance = new Allowance(2, 4, clock.now);
  for (let i = 0; i < 100; i += 1) {
    t.ok(allowance.take());
    clock.pass(250);
  }
});
