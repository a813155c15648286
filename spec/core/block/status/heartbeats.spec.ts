import t from 'tap';
import { HeartbeatWheel } from '../../../../core/block/status/heartbeats.ts';
import { until } from '../../../support/until.ts';

t.test('each heartbeat keeps its interval until it is ended', async (t) => {
  const wheel = new HeartbeatWheel(5);
  const beats: string[] = [];
  const endQuick = wheel.every(5, () => beats.push('quick'));
  const endSlow = wheel.every(20, () => beats.push('slow'));
  await until('the slow one has beaten twice', () => beats.filter((one) => one === 'slow').length === 2);
  t.ok(beats.filter((one) => one === 'quick').length >= 7, 'four times as often');
  endSlow();
  const count = beats.filter((one) => one === 'slow').length;
  const before = beats.length;
  await until('the quick one goes on', () => beats.length > before + 8);
  t.equal(beats.filter((one) => one === 'slow').length, count);
  endQuick();
  endQuick();
  const end = beats.length;
  await new Promise((resolve) => setTimeout(resolve, 30));
  t.equal(beats.length, end);
  const again = wheel.every(5, () => beats.push('again'));
  await until('it begins again', () => beats.at(-1) === 'again');
  again();
});

t.test('a heartbeat may end others, or itself', async (t) => {
  const wheel = new HeartbeatWheel(5);
  const beats: string[] = [];
  const ends: (() => void)[] = [];
  for (const name of ['first', 'second'])
    ends.push(
      wheel.every(5, () => {
        beats.push(name);
        for (const end of ends) end();
      }),
    );
  await until('it has beaten', () => beats.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 30));
  t.strictSame(beats, ['first']);
});
