import t from 'tap';
import { HeartbeatWheel } from '../../../../core/block/status/heartbeats.ts';
import { fakeTimers } from '../../../support/fake-timers.ts';

t.test('each heartbeat keeps its interval until it is ended', async (t) => {
  const pass = fakeTimers(t);
  const wheel = new HeartbeatWheel(5);
  const beats: string[] = [];
  const counts = () => ['quick', 'slow'].map((name) => beats.filter((one) => one === name).length);
  const endQuick = wheel.every(5, () => beats.push('quick'));
  const endSlow = wheel.every(20, () => beats.push('slow'));
  await pass(40);
  t.strictSame(counts(), [8, 2]);
  endSlow();
  await pass(40);
  t.strictSame(counts(), [16, 2]);
  endQuick();
  endQuick();
  await pass(40);
  t.strictSame(counts(), [16, 2]);
  const again = wheel.every(5, () => beats.push('again'));
  await pass(40);
  t.equal(beats.filter((one) => one === 'again').length, 8);
  again();
});

t.test('a heartbeat may end others, or itself', async (t) => {
  const pass = fakeTimers(t);
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
  await pass(30);
  t.strictSame(beats, ['first']);
});
