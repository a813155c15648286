import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { MIN_DELAY_MS, watchLoop } from '../../../cli/serve/loop-watch.ts';
import { until } from '../../support/until.ts';

t.test('an event loop that was held up is told, with how long', async (t) => {
  const bus = createBus();
  const told: number[] = [];
  bus.on('loop.delayed', ({ delayMs, pid }) => told.push(pid === process.pid ? delayMs : -1));
  let skew = 0;
  const stop = watchLoop(bus, () => performance.now() + skew);
  skew = 60_000;
  await until('it is told', () => told.length === 1);
  stop();
  t.ok((told[0] ?? 0) >= 60_000 - 1000, String(told[0]));
  t.ok(MIN_DELAY_MS > 100, 'a busy machine is not told of');
});
