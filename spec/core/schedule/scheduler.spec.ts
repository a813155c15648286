import t, { type Test } from 'tap';
import { createBus } from '../../../core/bus.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import { clientIdOf } from '../../../core/schedule/plan.ts';
import { MAX_FAILURES, Scheduler } from '../../../core/schedule/scheduler.ts';
import type { ScheduledBlock } from '../../../core/schedule/work.ts';
import type { BlockState, ChatEntry, Schedule } from '../../../core/types.ts';
import type { ScheduleStates } from '../../../core/store/port.ts';
import { fakeTimers } from '../../support/fake-timers.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const BEGIN = Date.parse('2026-11-20T10:00:30.000Z');
const EVERY_HOUR: Schedule = { id: 'hourly', cron: '0 * * * *', message: 'Look.' };

/** One block in memory, its clock, and what was sent to it. */
function rig(t: Test, schedule: readonly Schedule[], states: ScheduleStates = {}) {
  const pass = fakeTimers(t);
  const bus = createBus();
  const one = {
    now: BEGIN,
    state: 'idle' as BlockState,
    isRunning: true,
    isHalted: false,
    isAtCap: false,
    room: Number.POSITIVE_INFINITY,
    schedule,
    states,
    writes: 0,
    damage: undefined as Error | undefined,
    entries: [] as ChatEntry[],
    faults: [] as string[],
    facts: [] as unknown[],
    /** The clock and the timers go on together. */
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= MINUTE / 2) {
        one.now += Math.min(left, MINUTE / 2);
        await pass(Math.min(left, MINUTE / 2));
        await settled();
      }
    },
    /** The clock jumps, as after a sleep; a minute later it is seen. */
    async jump(ms: number) {
      one.now += ms;
      await one.pass(MINUTE);
    },
    answer(status: 'done' | 'failed' = 'done') {
      for (const [index, entry] of one.entries.entries()) {
        if (entry.status !== 'queued') continue;
        one.entries[index] = { ...entry, status };
        bus.emit('message.finished', { block: 'ada', id: entry.id, status });
      }
      return settled();
    },
    get sent() {
      return one.entries.map(({ clientId }) =>
        clientId
          ?.split(':')
          .slice(2)
          .join(':')
          .replace(/:00\.000Z$/, ''),
      );
    },
    get stand() {
      return one.states[one.schedule[0]?.id ?? ''];
    },
  };
  const block = {
    name: 'ada',
    get isRunning() {
      return one.isRunning;
    },
    get state() {
      return one.state;
    },
    files: {
      config: { read: async () => ({ schedule: one.schedule, budget: { timezone: 'UTC' } }) },
      conversation: { entries: async () => one.entries, message: async (id: string) => ({ entry: one.entries.find((entry) => entry.id === id) }) },
    },
    stored: {
      schedules: {
        read: async () => {
          if (one.damage !== undefined) throw one.damage;
          return one.states;
        },
        update: async (change: (states: ScheduleStates) => { value: ScheduleStates }) => {
          const { value } = change(one.states);
          if (value !== one.states) one.writes += 1;
          one.states = value;
        },
      },
    },
  } as unknown as ScheduledBlock;
  bus.on('*', (type, fact) => void (type.startsWith('schedule.') && one.facts.push({ type, ...(fact as object) })));
  const make = (): Scheduler =>
    new Scheduler({
      bus,
      now: () => one.now,
      onFault: (error) => void one.faults.push((error as Error).message),
      work: {
        pass: (work) => work(),
        isHalted: () => one.isHalted,
        isAtCap: async () => one.isAtCap,
        post: async (_block, { content, clientId, window }) => {
          const known = one.entries.find((entry) => entry.clientId === clientId);
          if (known !== undefined) return known.id;
          if (one.entries.filter(({ status }) => status === 'queued').length >= one.room) throw new BlockhouseError('QUEUE_FULL', 'Full.');
          const id = `m${one.entries.length}`;
          one.entries.push({ id, role: 'user', content, clientId, status: 'queued', ...(window !== undefined && { window }) } as ChatEntry);
          return id;
        },
      },
    });
  const scheduler = make();
  t.teardown(() => scheduler.close());
  return { one, block, scheduler, make, bus };
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

t.test('a run is sent at its time, once, and the state says so', async (t) => {
  const { one, block, scheduler } = rig(t, [EVERY_HOUR]);
  scheduler.see(block);
  await settled();
  t.match(one.stand, { last: '2026-11-20T10:00:30.000Z', next: '2026-11-20T11:00:00.000Z', fired: 0 });
  t.equal(scheduler.dueAt('ada'), Date.parse('2026-11-20T11:00:00.000Z'));
  await one.pass(59 * MINUTE);
  t.strictSame(one.sent, []);
  await one.pass(MINUTE);
  t.strictSame(one.sent, ['2026-11-20T11:00']);
  t.match(one.entries[0], { content: 'Look.', clientId: 'schedule:hourly:2026-11-20T11:00:00.000Z', window: 3 });
  t.match(one.stand, { last: '2026-11-20T11:00:00.000Z', next: '2026-11-20T12:00:00.000Z', fired: 1, today: 1 });
  t.match(one.facts, [{ type: 'schedule.fired', block: 'ada', schedule: 'hourly', at: '2026-11-20T11:00:00.000Z', id: 'm0' }]);
  await one.pass(30 * MINUTE);
  t.equal(one.sent.length, 1);
  t.equal(one.writes, 2, 'nothing is written while nothing happens');
});

t.test('a run never comes again, also after the clock was set back', async (t) => {
  const { one, block, scheduler } = rig(t, [EVERY_HOUR]);
  scheduler.see(block);
  await settled();
  await one.pass(HOUR);
  await one.answer();
  one.now -= HOUR;
  scheduler.see(block);
  await settled();
  await one.pass(90 * MINUTE);
  t.strictSame(one.sent, ['2026-11-20T11:00']);
  await one.pass(31 * MINUTE);
  t.strictSame(one.sent, ['2026-11-20T11:00', '2026-11-20T12:00']);
});

t.test('a server that ended between the message and the state sends no second message', async (t) => {
  const { one, block, scheduler, make } = rig(t, [EVERY_HOUR]);
  scheduler.see(block);
  await settled();
  const before = one.states;
  await one.pass(HOUR);
  await scheduler.close();
  one.states = before; // the write was lost
  const next = make();
  t.teardown(() => next.close());
  next.see(block);
  await settled();
  t.strictSame(one.sent, ['2026-11-20T11:00']);
  t.match(one.stand, { last: '2026-11-20T11:00:00.000Z' });
});

for (const [catchUp, sent, skipped] of [
  ['none', [], 72],
  ['one', ['2026-11-23T10:00'], 71],
  ['all', Array.from({ length: 24 }, (_, hour) => new Date(Date.parse('2026-11-22T11:00Z') + hour * HOUR).toISOString().slice(0, 16)), 48],
] as const) {
  t.test(`after three days without the server, catchUp ${catchUp} makes up for ${sent.length} runs`, async (t) => {
    const { one, block, scheduler } = rig(t, [{ ...EVERY_HOUR, catchUp, graceMinutes: 30, maxPerDay: 1440 }]);
    scheduler.see(block);
    await settled();
    await settled();
    await one.jump(72 * HOUR);
    t.strictSame(one.sent, sent);
    t.match(one.stand, { skipped: { missed: skipped, overlap: 0 }, fired: sent.length, last: '2026-11-23T10:00:00.000Z' });
    await one.answer();
    await one.pass(HOUR);
    t.equal(one.sent.at(-1), '2026-11-23T11:00', 'and goes on');
  });
}

t.test('a missed run that is older than the grace is left out', async (t) => {
  const { one, block, scheduler } = rig(t, [{ id: 'daily', cron: '0 11 * * *', message: 'x', graceMinutes: 60 }]);
  scheduler.see(block);
  await settled();
  await one.jump(HOUR + 61 * MINUTE);
  t.strictSame(one.sent, []);
  t.match(one.stand, { skipped: { missed: 1 } });
  await one.jump(23 * HOUR);
  t.strictSame(one.sent, ['2026-11-21T11:00'], 'a younger one is made up for');
});

t.test('a run is left out while the message before waits, and counted', async (t) => {
  const { one, block, scheduler } = rig(t, [EVERY_HOUR, { ...EVERY_HOUR, id: 'other', message: 'y' }]);
  scheduler.see(block);
  await settled();
  await one.pass(2 * HOUR);
  t.equal(one.sent.length, 2, 'one of each: another schedule does not count');
  t.match(one.states, { hourly: { skipped: { overlap: 1 }, fired: 1 }, other: { skipped: { overlap: 1 }, fired: 1 } });
  one.entries[0] = { ...(one.entries[0] as ChatEntry), status: 'waiting-approval' };
  await one.pass(HOUR);
  t.match(one.states, { hourly: { skipped: { overlap: 2 } } }, 'also while it waits for a person');
  one.entries[0] = { ...one.entries[0], status: 'queued' };
  await one.answer();
  await one.pass(HOUR);
  t.equal(one.sent.length, 4);
});

t.test('the runs that are made up for together do not hinder each other', async (t) => {
  const { one, block, scheduler } = rig(t, [{ ...EVERY_HOUR, catchUp: 'all' }]);
  scheduler.see(block);
  await settled();
  await one.jump(3 * HOUR);
  t.equal(one.sent.length, 3);
});

t.test('a day has at most maxPerDay runs, 48 without it', async (t) => {
  const { one, block, scheduler } = rig(t, [{ id: 'often', every: '1m', message: 'x' }]);
  scheduler.see(block);
  await settled();
  for (let minute = 0; minute < 60; minute += 1) {
    await one.pass(MINUTE);
    await one.answer();
  }
  t.equal(one.sent.length, 48);
  t.match(one.stand, { fired: 48, skipped: { cap: 12 } });
  one.schedule = [{ id: 'often', every: '1m', message: 'x', maxPerDay: 50 }];
  for (let minute = 0; minute < 5; minute += 1) {
    await one.pass(MINUTE);
    await one.answer();
  }
  t.equal(one.sent.length, 50);
  await one.jump(14 * HOUR);
  t.equal(one.sent.length, 51, 'another day');
});

t.test('a block at its cap gets nothing, and its runs are not made up for', async (t) => {
  const { one, block, scheduler } = rig(t, [EVERY_HOUR]);
  one.isAtCap = true;
  scheduler.see(block);
  await settled();
  await one.pass(HOUR);
  t.strictSame(one.sent, []);
  t.match(one.stand, { skipped: { cap: 1, missed: 0 }, last: '2026-11-20T11:00:00.000Z' });
  one.isAtCap = false;
  await one.pass(HOUR);
  t.strictSame(one.sent, ['2026-11-20T12:00']);
  one.state = 'paused';
  await one.pass(HOUR);
  t.match(one.stand, { skipped: { cap: 2 } });
});

t.test('runs wait while all blocks are halted, and are counted as that afterwards', async (t) => {
  const { one, block, scheduler } = rig(t, [EVERY_HOUR]);
  scheduler.see(block);
  await settled();
  one.isHalted = true;
  one.state = 'paused';
  await one.pass(3 * HOUR);
  t.strictSame(one.sent, []);
  t.match(one.stand, { last: '2026-11-20T10:00:30.000Z', skipped: { halted: 0 } });
  one.isHalted = false;
  one.state = 'idle';
  await one.pass(2 * MINUTE);
  t.strictSame(one.sent, ['2026-11-20T13:00']);
  t.match(one.stand, { skipped: { halted: 2, missed: 0 } });
});

t.test('runs wait for a block that has failed, and for room in its queue', async (t) => {
  const { one, block, scheduler } = rig(t, [{ ...EVERY_HOUR, catchUp: 'all' }]);
  scheduler.see(block);
  await settled();
  one.state = 'failed';
  await one.pass(2 * HOUR);
  t.strictSame(one.sent, []);
  one.state = 'idle';
  one.room = 1;
  await one.pass(MINUTE);
  t.strictSame(one.sent, ['2026-11-20T11:00']);
  t.match(one.stand, { last: '2026-11-20T11:00:00.000Z', fired: 1, skipped: { missed: 0 } });
  await one.answer();
  await one.pass(2 * MINUTE);
  t.strictSame(one.sent, ['2026-11-20T11:00', '2026-11-20T12:00']);
  t.strictSame(one.faults, []);
});

t.test('a schedule pauses after five failed runs in a row, until somebody resumes it', async (t) => {
  const { one, block, scheduler } = rig(t, [EVERY_HOUR]);
  scheduler.see(block);
  await settled();
  for (let run = 0; run < MAX_FAILURES - 1; run += 1) {
    await one.pass(HOUR);
    await one.answer('failed');
  }
  await one.pass(HOUR);
  await one.answer('done');
  t.match(one.stand, { failures: 0, pausedBecause: null }, 'an answer begins the count again');
  for (let run = 0; run < MAX_FAILURES; run += 1) {
    await one.pass(HOUR);
    await one.answer('failed');
  }
  t.match(one.stand, { failures: 5, pausedBecause: 'failures' });
  const { length } = one.sent;
  await one.pass(3 * HOUR);
  t.equal(one.sent.length, length);
  one.states = { hourly: { ...one.stand, last: new Date(one.now).toISOString(), next: null, pausedBecause: null, failures: 0 } as never };
  scheduler.see(block);
  await settled();
  await one.pass(HOUR);
  t.equal(one.sent.length, length + 1);
});

t.test('other messages of the block do not count as runs', async (t) => {
  const { one, block, scheduler, bus } = rig(t, [EVERY_HOUR]);
  scheduler.see(block);
  await settled();
  one.entries.push({ id: 'x', role: 'user', content: '', status: 'failed', clientId: 'mail-17' } as ChatEntry);
  for (let count = 0; count < MAX_FAILURES; count += 1) bus.emit('message.finished', { block: 'ada', id: 'x', status: 'failed' });
  bus.emit('message.finished', { block: 'other', id: 'x', status: 'failed' });
  bus.emit('message.finished', { block: 'ada', id: 'gone', status: 'failed' });
  await settled();
  t.match(one.stand, { failures: 0, pausedBecause: null });
});

t.test('other times make it a new schedule, which begins now', async (t) => {
  const { one, block, scheduler } = rig(t, [{ ...EVERY_HOUR, cron: '0 9 * * *' }]);
  scheduler.see(block);
  await settled();
  await one.pass(25 * MINUTE);
  one.schedule = [{ ...EVERY_HOUR, cron: '10 10 * * *' }];
  scheduler.see(block);
  await settled();
  t.strictSame(one.sent, [], 'ten past ten has passed before the schedule had this time');
  t.match(one.stand, { next: '2026-11-21T10:10:00.000Z', last: '2026-11-20T10:25:30.000Z' });
  one.schedule = [{ ...EVERY_HOUR, cron: '10 10 * * *', enabled: false }];
  scheduler.see(block);
  await settled();
  t.equal(scheduler.dueAt('ada'), undefined);
  one.schedule = [];
  scheduler.see(block);
  await settled();
  t.equal(scheduler.dueAt('ada'), undefined);
});

t.test('nothing is sent while schedule.json is damaged, and it goes on after the repair', async (t) => {
  const { one, block, scheduler } = rig(t, [EVERY_HOUR]);
  one.damage = new BlockhouseError('BLOCK_DAMAGED', 'schedule.json is damaged.');
  scheduler.see(block);
  await settled();
  await one.pass(2 * HOUR);
  t.strictSame([one.sent, one.writes], [[], 0]);
  t.strictSame(one.faults, ['schedule.json is damaged.'], 'told once');
  one.damage = undefined;
  one.states = { hourly: { last: '2026-11-20T10:00:00.000Z' } };
  await one.pass(MINUTE);
  t.strictSame(one.sent, ['2026-11-20T12:00']);
});

t.test('a schedule that can never run harms no other', async (t) => {
  const { one, block, scheduler } = rig(t, [{ id: 'wrong', cron: '0 0 30 2 *', message: 'x' }, EVERY_HOUR]);
  scheduler.see(block);
  await settled();
  await one.pass(HOUR);
  t.strictSame(one.sent, ['2026-11-20T11:00']);
  t.strictSame(one.faults, []);
});

t.test('a block that stops is looked at no more, and a pause that comes meanwhile stays', async (t) => {
  const { one, block, scheduler } = rig(t, [EVERY_HOUR]);
  scheduler.see(block);
  await settled();
  one.states = { hourly: { ...one.stand, pausedBecause: 'person' } as never };
  await one.pass(HOUR);
  t.strictSame(one.sent, []);
  t.match(one.stand, { pausedBecause: 'person' });
  one.isRunning = false;
  await one.pass(2 * MINUTE);
  scheduler.see(block);
  await settled();
  t.equal(scheduler.dueAt('ada'), undefined);
});

t.test('after the end nothing is sent', async (t) => {
  const { one, block, scheduler } = rig(t, [EVERY_HOUR]);
  scheduler.see(block);
  await settled();
  await scheduler.close();
  scheduler.see(block);
  await settled();
  await one.pass(2 * HOUR);
  t.strictSame(one.sent, []);
  t.equal(clientIdOf('a', 0), 'schedule:a:1970-01-01T00:00:00.000Z');
});
