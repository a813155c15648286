import { closeSync, futimesSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { EventFlood } from '../../../../core/store/files/event-flood.ts';
import { until } from '../../../support/until.ts';
import { openWatch, standing } from '../../../support/watched.ts';

const QUEUE = '/proc/sys/fs/inotify/max_queued_events';

t.test('many events in one turn make everybody look once, few in each of many turns nobody', async (t) => {
  const flood = new EventFlood();
  let looks = 0;
  const look = (): void => {
    looks += 1;
  };
  flood.looks.add(look);
  for (let turn = 0; turn < 10; turn += 1) {
    for (let n = 0; n < 8191; n += 1) flood.count();
    await nextTurn();
  }
  t.equal(looks, 0);
  for (let n = 0; n < 20_000; n += 1) flood.count();
  await nextTurn();
  t.equal(looks, 1);
  flood.looks.delete(look);
  for (let n = 0; n < 20_000; n += 1) flood.count();
  await nextTurn();
  t.equal(looks, 1);
});

t.test(
  'a change whose event the system has dropped, because too many waited in another folder, is found',
  { skip: process.platform !== 'linux' && 'other systems are watched another way' },
  async (t) => {
    const kept = Number(readFileSync(QUEUE, 'utf8'));
    if (kept > 40_000) return t.comment(`not tried: the system keeps ${kept} events`);
    const folder = t.testdir({ busy: {}, other: { 'config.json': '{}' } });
    const [busy, other] = [join(folder, 'busy'), join(folder, 'other')];
    const [atBusy, atOther] = [openWatch(t, busy), openWatch(t, other)];
    await standing(busy, atBusy);
    await standing(other, atOther);
    // In turns, because equal events that follow each other become one.
    const files = ['a', 'b'].map((name) => openSync(join(busy, name), 'w'));
    for (let n = 0; n <= kept; n += 1) futimesSync(files[n % 2] as number, n, n);
    for (const file of files) closeSync(file);
    writeFileSync(join(other, 'config.json'), '{"a":1}');
    await until('it is told', () => atOther.told.includes('config.json'));
    t.strictSame([...atBusy.faults, ...atOther.faults], []);
  },
);
