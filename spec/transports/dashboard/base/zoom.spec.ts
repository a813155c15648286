import t from 'tap';
import { stepped } from '../../../../transports/dashboard/base/zoom.ts';

const TIMES = Array.from({ length: 101 }, (_, index) => index * 10);

t.test('a step in shows half of the time around its middle, a step out the whole again', async (t) => {
  const half = stepped(undefined, TIMES, 'in');
  t.same(half, { from: 250, to: 750 });
  t.same(stepped(half, TIMES, 'in'), { from: 375, to: 625 });
  t.equal(stepped(half, TIMES, 'out'), undefined);
  t.equal(stepped(undefined, TIMES, 'out'), undefined);
});

t.test('a step aside moves by a quarter, and stays within the times', async (t) => {
  t.same(stepped({ from: 250, to: 750 }, TIMES, 'back'), { from: 125, to: 625 });
  t.same(stepped({ from: 450, to: 950 }, TIMES, 'on'), { from: 500, to: 1000 });
  t.same(stepped({ from: 0, to: 500 }, TIMES, 'back'), { from: 0, to: 500 });
  t.equal(stepped(undefined, TIMES, 'on'), undefined);
});

t.test('no step goes nearer than four points, and few or no points are shown whole', async (t) => {
  let span = stepped(undefined, TIMES, 'in');
  for (let turn = 0; turn < 20; turn += 1) span = stepped(span, TIMES, 'in');
  t.equal((span?.to ?? 0) - (span?.from ?? 0), 40);
  t.equal(stepped(undefined, [], 'in'), undefined);
  t.equal(stepped(undefined, [5], 'in'), undefined);
});
