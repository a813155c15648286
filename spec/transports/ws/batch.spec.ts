import t from 'tap';
import { Batch } from '../../../transports/ws/batch.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const TIMING = { quietMs: 100, patienceMs: 500 };

/** When notices leave after changes at these times. */
function noticesOf(changes: readonly number[]): number[] {
  const clock = new ManualClock();
  const notices: number[] = [];
  const batch = new Batch(TIMING, clock, () => notices.push(clock.now()));
  for (const at of changes) {
    clock.pass(at - clock.now());
    batch.change();
  }
  clock.pass(10_000);
  if (clock.pending > 0) throw new Error('a timer was left');
  return notices;
}

const every = (ms: number, until: number): number[] => Array.from({ length: Math.floor(until / ms) + 1 }, (_, index) => index * ms);

t.test('a notice leaves 100 ms after the last change of a burst, and never later than 500 ms after the first', async (t) => {
  const cases: [title: string, changes: number[], notices: number[]][] = [
    ['no change', [], []],
    ['one change', [0], [100]],
    ['two at once', [0, 0], [100]],
    ['two near each other', [0, 60], [160]],
    ['a change at the very moment of the notice', [0, 100], [100, 200]],
    ['two apart', [0, 300], [100, 400]],
    ['2,000 within 100 ms', every(0.05, 100), [200]],
    ['a steady trickle of 1.2 s', every(50, 1200), [500, 1000, 1300]],
    ['a change just before patience ends', [0, 90, 180, 270, 360, 450, 499], [500]],
  ];
  for (const [title, changes, notices] of cases) t.strictSame(noticesOf(changes), notices, title);
});

t.test('changes without end cause one to ten notices a second, and one after the last', async (t) => {
  for (const ms of [1, 7, 50, 99, 100, 101, 130]) {
    const notices = noticesOf(every(ms, 10_000));
    for (let second = 0; second < 10; second += 1) {
      const within = notices.filter((at) => at >= second * 1000 && at < (second + 1) * 1000).length;
      t.ok(within >= 1 && within <= 10, `every ${ms} ms, second ${second}: ${within}`);
    }
    const last = Math.floor(10_000 / ms) * ms;
    const after = notices.filter((at) => at > last);
    t.ok(after.length === 1 && (after[0] ?? 0) <= last + 500, `every ${ms} ms: one after the last change`);
  }
});

t.test('a burst keeps one timer', async (t) => {
  const clock = new ManualClock();
  const batch = new Batch(TIMING, clock, () => undefined);
  for (let i = 0; i < 1000; i += 1) batch.change();
  t.equal(clock.pending, 1);
});

t.test('what is cleared is not told, and later changes are', async (t) => {
  const clock = new ManualClock();
  const notices: number[] = [];
  const batch = new Batch(TIMING, clock, () => notices.push(clock.now()));
  batch.clear();
  batch.change();
  clock.pass(50);
  batch.clear();
  t.equal(clock.pending, 0);
  clock.pass(1000);
  t.strictSame(notices, []);
  batch.change();
  clock.pass(1000);
  t.strictSame(notices, [1150]);
});
