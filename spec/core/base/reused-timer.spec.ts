import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { ReusedTimer } from '../../../core/base/reused-timer.ts';

function counter(): { readonly calls: string[]; readonly note: (name: string) => () => void } {
  const calls: string[] = [];
  return { calls, note: (name) => () => void calls.push(name) };
}

t.test('it calls back once, and again after another start', async (t) => {
  const { calls, note } = counter();
  const timer = new ReusedTimer();
  for (const name of ['first', 'second']) {
    const before = calls.length;
    timer.start(1, note(name));
    await until(() => calls.length > before);
    await later();
  }
  t.strictSame(calls, ['first', 'second']);
});

t.test('another start replaces what was due, with the same time and with another one', async (t) => {
  const { calls, note } = counter();
  const timer = new ReusedTimer();
  timer.start(5, note('a'));
  timer.start(5, note('b'));
  timer.start(6, note('c'));
  await until(() => calls.length > 0);
  await later();
  t.strictSame(calls, ['c']);
});

t.test('stop forgets its own callback, and leaves that of a later start', async (t) => {
  const { calls, note } = counter();
  const timer = new ReusedTimer();
  const first = note('first');
  timer.start(5, first);
  timer.start(5, note('second'));
  timer.stop(first);
  await until(() => calls.length > 0);
  t.strictSame(calls, ['second']);
  const third = note('third');
  timer.start(5, third);
  timer.stop(third);
  await later();
  t.strictSame(calls, ['second']);
});

t.test('end forgets whatever waits, and lets go of the timer', async (t) => {
  const { calls, note } = counter();
  const timer = new ReusedTimer();
  timer.end();
  timer.start(5, note('first'));
  timer.end();
  timer.refresh();
  await later();
  t.strictSame(calls, []);
  timer.start(5, note('second'));
  await until(() => calls.length > 0);
  t.strictSame(calls, ['second']);
});

t.test('refresh before the first start does nothing', async () => new ReusedTimer().refresh());

/** Resolves when whatever is due by then has called: Node calls timers in the order in which they are due. */
async function later(): Promise<void> {
  await sleep(7);
}

/** The timer alone doesn't keep the process alive; this wait does. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(1);
}
