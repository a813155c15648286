import t from 'tap';
import { RetryWait } from '../../../../core/block/status/retry-wait.ts';

const NOW = 1_800_000_000_000;
const at = (ms: number): string => new Date(NOW + ms).toISOString();

function waitOf() {
  const clock = { monotonic: 500 };
  return { clock, wait: new RetryWait(() => clock.monotonic) };
}

t.test('a wait that this process began is measured on the monotonic clock', async (t) => {
  const { clock, wait } = waitOf();
  const message = { id: 'm1', nextAttemptAt: at(1500) };
  wait.begin(message, 1500);
  clock.monotonic += 500;
  for (const jump of [0, -3_600_000, 3_600_000]) t.equal(wait.left(message, NOW + jump, 10), 1000, `${jump}`);
  clock.monotonic += 5000;
  t.equal(wait.left(message, NOW - 3_600_000, 10), 0);
});

t.test('a wait from the file is limited to the longest wait, and measured from then on', async (t) => {
  const { clock, wait } = waitOf();
  const message = { id: 'm1', nextAttemptAt: at(3_600_000) };
  t.equal(wait.left(message, NOW, 300_000), 300_000);
  clock.monotonic += 100_000;
  t.equal(wait.left(message, NOW, 300_000), 200_000);
  t.equal(wait.left({ id: 'm1', nextAttemptAt: at(10) }, NOW, 300_000), 10, 'a person has written another time');
  t.equal(wait.left({ id: 'm2', nextAttemptAt: at(20) }, NOW, 300_000), 20, 'another message is the first one');
});

t.test('a message is due if its time is missing, past or invalid', async (t) => {
  const { wait } = waitOf();
  t.equal(wait.left({ id: 'm1' }, NOW, 10), 0);
  t.equal(wait.left({ id: 'm1', nextAttemptAt: at(-1) }, NOW, 10), 0);
  t.equal(wait.left({ id: 'm1', nextAttemptAt: 'tomorrow' }, NOW, 10), 0);
});
