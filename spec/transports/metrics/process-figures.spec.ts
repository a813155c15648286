import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { ProcessFigures } from '../../../transports/metrics/process-figures.ts';

const read = (figures: ProcessFigures) => Object.fromEntries([...figures.families()].map(([key, samples]) => [key, [...samples][0]?.[1]]));

t.test('how late the loop was is known from the second look on, without the time between two looks at it, and begins again each time', async (t) => {
  const figures = new ProcessFigures();
  t.notOk('loopMax' in read(figures), 'nobody has asked before');
  await delay(50);
  const until = performance.now() + 300;
  while (performance.now() < until); // holds up the loop
  await delay(50);
  const { loopMax = 0, loopP50 = 1, loopBusy = 0 } = read(figures);
  t.ok(loopMax >= 0.2 && loopMax > loopP50, `${loopMax} s`);
  t.ok(loopBusy > 0 && loopBusy <= 1);
  await delay(50);
  t.ok((read(figures)['loopMax'] ?? 1) < loopMax);
});

t.test('processor time only grows, and memory is that of this process', async (t) => {
  const figures = new ProcessFigures();
  const [first, second] = [read(figures), read(figures)];
  t.ok((second['cpuSeconds'] ?? 0) >= (first['cpuSeconds'] ?? 1));
  t.ok((first['residentBytes'] ?? 0) > (first['heapUsedBytes'] ?? 0));
  t.ok((first['startSeconds'] ?? 0) * 1000 < Date.now());
});
