import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { Schedules } from '../../../core/schedule/schedules.ts';
import type { ScheduledBlock, ScheduleWork } from '../../../core/schedule/work.ts';
import type { Schedule } from '../../../core/types.ts';
import { until } from '../../support/until.ts';

const HOURLY: Schedule = { id: 'a', cron: '0 * * * *', message: 'x' };
const NOW = Date.parse('2026-11-20T10:30Z');

function rig(schedule: readonly Schedule[]) {
  const faults: unknown[] = [];
  const bus = createBus();
  bus.on('workspace.fault', (fact) => void faults.push(fact));
  let reads = 0;
  const block = {
    name: 'ada',
    isRunning: true,
    state: 'idle',
    files: { config: { read: async () => ({ schedule, budget: { timezone: 'UTC' } }) } },
    stored: {
      schedules: {
        read: async () => {
          reads += 1;
          return {};
        },
        update: async () => undefined,
      },
    },
  } as unknown as ScheduledBlock;
  const schedules = new Schedules({ bus, now: () => NOW });
  const provide = (): void => schedules.provide({ pass: (work: () => Promise<void>) => work(), isHalted: () => false } as unknown as ScheduleWork);
  return { schedules, block, faults, provide, reads: () => reads };
}

t.test('a block without schedules loads and reads nothing', async (t) => {
  const { schedules, block, faults, reads } = rig([]);
  schedules.see(block, { schedule: [] });
  await schedules.close();
  t.strictSame([schedules.dueAt('ada'), reads(), faults], [null, 0, []]);
});

t.test('a block with one is looked at again when its next run comes', async (t) => {
  const { schedules, block, provide } = rig([HOURLY]);
  provide();
  t.teardown(() => schedules.close());
  schedules.see(block, { schedule: [HOURLY] });
  await until('the run is known', () => schedules.dueAt('ada') === '2026-11-20T11:00:00.000Z');
  t.equal(schedules.dueAt('eve'), null);
});

t.test('after the end nothing is begun, also by what was being loaded', async (t) => {
  const { schedules, block, provide, reads } = rig([HOURLY]);
  provide();
  schedules.see(block, { schedule: [HOURLY] });
  await schedules.close();
  schedules.see(block, { schedule: [HOURLY] });
  t.strictSame([reads(), schedules.dueAt('ada')], [0, null]);
});

t.test('schedules without anybody to send their messages are a fault', async (t) => {
  const { schedules, block, faults } = rig([HOURLY]);
  schedules.see(block, { schedule: [HOURLY] });
  await until('it is told', () => faults.length === 1);
  t.match(faults, [{ what: 'schedule' }]);
});
