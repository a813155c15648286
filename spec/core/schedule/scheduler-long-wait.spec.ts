// What a look at the schedules costs after long. The time of one run is looked for in tens of microseconds, so their number is what counts.
import { Cron } from 'croner';
import t, { type Test } from 'tap';
import { createBus } from '../../../core/bus.ts';
import { Scheduler } from '../../../core/schedule/scheduler.ts';
import { viewsOf } from '../../../core/schedule/view.ts';
import type { ScheduledBlock } from '../../../core/schedule/work.ts';
import type { BlockConfig, BlockState, ChatEntry, Schedule } from '../../../core/types.ts';
import type { ScheduleStates } from '../../../core/store/port.ts';
import { sweep } from '../../support/sweep.ts';
import { until } from '../../support/until.ts';

const NOW = Date.parse('2026-11-20T10:00:30.000Z');
const EVERY_MINUTE: Schedule = { id: 'often', cron: '* * * * *', message: 'Look.' };
const OF = '* * * * * UTC';

/** How often the next run of a pattern was looked for during `work`. */
async function countsLooks(t: Test, work: () => unknown): Promise<number> {
  let looks = 0;
  const { nextRun } = Cron.prototype;
  Cron.prototype.nextRun = function (this: Cron, after) {
    looks += 1;
    return nextRun.call(this, after);
  };
  const restore = (): void => {
    Cron.prototype.nextRun = nextRun;
  };
  t.teardown(restore);
  await work();
  restore();
  return looks;
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

function rig(t: Test, schedule: readonly Schedule[]) {
  const one = { isHalted: false, state: 'idle' as BlockState, states: {} as ScheduleStates };
  for (const { id } of schedule) (one.states as Record<string, object>)[id] = { last: '2026-11-17T10:00:00.000Z', of: OF };
  const block = {
    name: 'ada',
    isRunning: true,
    get state() {
      return one.state;
    },
    files: {
      config: { read: async () => ({ schedule, budget: { timezone: 'UTC' } }) },
      conversation: { entries: async () => [], message: async () => undefined },
    },
    stored: {
      schedules: {
        read: async () => one.states,
        update: async (change: (states: ScheduleStates) => { value: ScheduleStates }) => {
          one.states = change(one.states).value;
        },
      },
    },
  } as unknown as ScheduledBlock;
  const sent: string[] = [];
  const scheduler = new Scheduler({
    bus: createBus(),
    now: () => NOW,
    onFault: (error) => t.fail(String(error)),
    work: {
      pass: (work) => work(),
      isHalted: () => one.isHalted,
      isAtCap: async () => false,
      post: async (_block, { clientId }) => {
        sent.push(clientId);
        return clientId;
      },
    },
  });
  t.teardown(() => scheduler.close());
  return { one, block, scheduler, sent };
}

for (const [what, change] of [
  ['all blocks are halted', { isHalted: true }],
  ['its block has failed', { state: 'failed' as const }],
] as const) {
  t.test(`while ${what}, a look does not count the thousands of runs that wait`, async (t) => {
    const { one, block, scheduler, sent } = rig(t, [EVERY_MINUTE]);
    Object.assign(one, change);
    const looks = await countsLooks(t, async () => {
      scheduler.see(block);
      await settled();
    });
    t.ok(looks < 10, `${looks} looks`);
    t.match(one.states, { often: { last: '2026-11-17T10:00:00.000Z' } }, 'they wait');
    Object.assign(one, { isHalted: false, state: 'idle' });
    scheduler.see(block);
    await settled();
    t.strictSame(sent, ['schedule:often:2026-11-20T10:00:00.000Z']);
    t.match(one.states, { often: { skipped: 'isHalted' in change ? { halted: 999, missed: 0 } : { halted: 0, missed: 999 } } }, 'and are counted once');
  });
}

t.test('others are served between the schedules of a block that have missed many runs', async (t) => {
  const { block, scheduler, sent } = rig(
    t,
    Array.from({ length: 10 }, (_, n) => ({ ...EVERY_MINUTE, id: `s${n}` })),
  );
  let between = 0;
  const others = setInterval(() => {
    between += 1;
  }, 0);
  t.teardown(() => clearInterval(others));
  const seen: number[] = [];
  scheduler.see(block);
  while (sent.length < 10) {
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(sent.length);
  }
  t.ok(new Set(seen).size >= 5, `${[...new Set(seen)]}`);
  t.ok(between > 0);
});

t.test('counted-in-turns: where many blocks have missed many runs at once, as after a sleep, each turn counts some of one of them', async (t) => {
  const rigs = Array.from({ length: sweep(20, 3) }, () => rig(t, [EVERY_MINUTE]));
  let inTurn = 0;
  let most = 0;
  const { nextRun } = Cron.prototype;
  Cron.prototype.nextRun = function (this: Cron, after) {
    inTurn += 1;
    return nextRun.call(this, after);
  };
  t.teardown(() => {
    Cron.prototype.nextRun = nextRun;
  });
  for (const { scheduler, block } of rigs) scheduler.see(block);
  while (rigs.some(({ sent }) => sent.length === 0)) {
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, inTurn);
    inTurn = 0;
  }
  t.ok(most <= 600, `${most} looks in one turn`);
  const [{ scheduler, block, sent, one }] = [rig(t, [EVERY_MINUTE])];
  scheduler.see(block);
  await new Promise((resolve) => setImmediate(resolve));
  one.state = 'stopped';
  await settled();
  t.strictSame([sent, one.states['often']?.last], [[], '2026-11-17T10:00:00.000Z'], 'the runs of a block that stops meanwhile wait');
});

t.test('a schedule that is paused while its missed runs are counted sends nothing', async (t) => {
  const { one, block, scheduler, sent } = rig(
    t,
    ['first', 'second'].map((id) => ({ ...EVERY_MINUTE, id })),
  );
  scheduler.see(block);
  await new Promise((resolve) => setImmediate(resolve));
  const { second } = one.states;
  if (second !== undefined) one.states = { ...one.states, second: { ...second, pausedBecause: 'person' } };
  await until('the look is over', () => one.states['first']?.last === '2026-11-20T10:00:00.000Z');
  t.strictSame(sent, ['schedule:first:2026-11-20T10:00:00.000Z']);
  t.match(one.states['second'], { pausedBecause: 'person', last: '2026-11-17T10:00:00.000Z' });
});

t.test('what a day costs is worked out for schedules that have cost something', async (t) => {
  for (const schedule of [EVERY_MINUTE, { ...EVERY_MINUTE, until: '2026-12-31' }]) {
    const config = { schedule: [schedule], budget: { timezone: 'UTC' } } as unknown as BlockConfig;
    const shown = (entries: unknown[]) => viewsOf({ config, states: {}, entries: entries as ChatEntry[], now: NOW });
    t.ok((await countsLooks(t, () => shown([]))) < 10);
    const run = { id: 'm1', role: 'user', status: 'done', timestamp: '2026-11-20T10:00:00.000Z', clientId: 'schedule:often:2026-11-20T10:00:00.000Z' };
    t.match(shown([run, { id: 'm2', role: 'assistant', replyTo: 'm1', costUsd: 0.01 }]), [{ costsAbout: { perRunUsd: 0.01, runsPerDay: 48 } }]);
    const again = await countsLooks(t, () => shown([run, { id: 'm2', role: 'assistant', replyTo: 'm1', costUsd: 0.02 }]));
    t.ok(again < 10, `${again} looks: the page reads it at each change, and it is counted once a day`);
  }
});
