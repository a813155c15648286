import { existsSync } from 'node:fs';
import t from 'tap';
import { nextTurn } from '../../../core/base/next-turn.ts';
import { askedOf, RUNNABLE, startCore } from '../../support/blocks.ts';
import { until } from '../../support/until.ts';
import { sendJson } from '../../support/upstream.ts';

const HOUR = 3_600_000;
const BRIEF = { id: 'brief', cron: '0 * * * *', message: 'Write the brief.', graceMinutes: 120 };

/** A core whose clock a test moves. */
async function clocked(t: Parameters<typeof startCore>[0], options: Parameters<typeof startCore>[1] = {}) {
  const clock = { now: Date.parse('2026-11-20T10:30:00Z') };
  const one = await startCore(t, { clock: () => clock.now, ...options });
  /** A change of the configuration makes the schedules look at the clock. */
  const look = async (ms: number): Promise<void> => {
    clock.now += ms;
    await one.blocks.updateConfig('ada', { description: String(clock.now) });
  };
  return { ...one, blocks: one.blocks, clock, look };
}

t.test('a block without schedules has no file for them', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'x');
  t.same(await one.blocks.schedules('ada'), { schedules: [], held: null });
  t.notOk(existsSync(one.folder('ada', 'schedule.json')));
});

t.test('a message comes at its time, from the channel of schedules, and is answered', async (t) => {
  const one = await clocked(t);
  await one.create('ada', { ...RUNNABLE, schedule: [BRIEF] });
  t.match(await one.blocks.schedules('ada'), { schedules: [{ id: 'brief', last: null, next: ['2026-11-20T11:00:00.000Z', /./, /./] }], held: /is stopped/ });
  await one.blocks.start('ada');
  await until('the schedule is seen', () => existsSync(one.folder('ada', 'schedule.json')));
  await one.look(HOUR / 2);
  await one.told('message.finished');
  await until('the state is stored', () => one.readJson('ada', 'schedule').brief.fired === 1);
  const [message, answer] = one.readJson('ada', 'chat');
  t.match(message, { channel: 'schedule', clientId: 'schedule:brief:2026-11-20T11:00:00.000Z', content: 'Write the brief.', status: 'done', window: 3 });
  t.match(answer, { replyTo: message.id, status: 'done' });
  t.match(one.factsOf('schedule.fired'), [{ block: 'ada', schedule: 'brief', at: '2026-11-20T11:00:00.000Z', id: message.id }]);
  t.match(await one.blocks.schedules('ada'), { schedules: [{ fired: 1, lastOutcomes: [{ messageId: message.id, status: 'done' }] }], held: null });
});

t.test('others are served between the schedules that are shown: to count the runs of a day takes some time', async (t) => {
  const one = await clocked(t);
  await one.create('ada', { ...RUNNABLE, schedule: Array.from({ length: 20 }, (_, at) => ({ ...BRIEF, id: `brief-${at}` })) });
  let turns = 0;
  let counting = setImmediate(function count() {
    turns += 1;
    counting = setImmediate(count);
  });
  t.teardown(() => clearImmediate(counting));
  const { schedules } = await one.blocks.schedules('ada');
  t.equal(schedules.length, 20);
  t.ok(turns >= 20, `${turns} turns`);
});

t.test('who looks at schedules does not wait until the missed runs of all blocks are counted', async (t) => {
  const one = await clocked(t);
  await one.create('ada', { ...RUNNABLE, schedule: Array.from({ length: 20 }, (_, at) => ({ ...BRIEF, id: `brief-${at}` })) });
  let counted = 0;
  let isOver = false;
  const counts = Array.from({ length: 30 }, async () => {
    for (; !isOver; counted += 1) await nextTurn('schedules'); // as the scheduler does
  });
  await one.blocks.schedules('ada');
  isOver = true;
  await Promise.all(counts);
  t.ok(counted < 200, `${counted} turns of others`);
});

t.test('the model sees as many earlier exchanges as the schedule says', async (t) => {
  const one = await startCore(t);
  await one.create('ada', {
    ...RUNNABLE,
    schedule: [
      { ...BRIEF, window: 0 },
      { ...BRIEF, id: 'three' },
      { ...BRIEF, id: 'all', window: 'all' },
    ],
  });
  await one.blocks.start('ada');
  for (const text of ['1', '2', '3', '4', '5']) await one.ask('ada', text);
  for (const [id, exchanges] of [
    ['brief', 0],
    ['three', 3],
    ['all', 7],
  ] as const) {
    const { id: message } = await one.blocks.runSchedule('ada', id);
    await one.told('message.finished', { id: message, status: 'done' });
    const { messages } = askedOf(one.upstream.requests.at(-1) as never);
    t.equal(messages.length, 2 * exchanges + 1, id);
    t.equal(messages.at(-1)?.content, BRIEF.message);
  }
  const { id } = await one.blocks.post('ada', { message: 'And all of it?' }, 'api');
  await one.told('message.finished', { id, status: 'done' });
  t.equal(askedOf(one.upstream.requests.at(-1) as never).messages.length, 17, 'a message of a person shows all');
});

t.test('an extra run changes no time, and goes into the queue of a stopped block', async (t) => {
  const one = await clocked(t);
  await one.create('ada', { ...RUNNABLE, schedule: [BRIEF] });
  const receipt = await one.blocks.runSchedule('ada', 'brief');
  t.match(receipt, { queued: true, running: false, note: /stopped/ });
  t.match(one.readJson('ada', 'chat')[0], { channel: 'schedule', clientId: /^schedule:brief:run-/, status: 'queued' });
  t.notOk(existsSync(one.folder('ada', 'schedule.json')));
  await t.rejects(one.blocks.runSchedule('ada', 'brif'), { code: 'SCHEDULE_NOT_FOUND', status: 404, message: /Did you mean brief\?/ });
  await t.rejects(one.blocks.runSchedule('ada', '__proto__'), { code: 'SCHEDULE_NOT_FOUND' });
});

t.test('a paused schedule rests, over a restart too, and goes on from the moment at which it is resumed', async (t) => {
  const one = await clocked(t);
  await one.create('ada', { ...RUNNABLE, schedule: [BRIEF] });
  t.match(await one.blocks.pauseSchedule('ada', 'brief'), { state: 'paused', pausedBecause: 'person', next: [] });
  await one.blocks.start('ada');
  await one.look(HOUR);
  await one.core.close();
  const again = await clocked(t, { workspace: one.workspace });
  again.clock.now = one.clock.now + HOUR;
  await again.inState('ada', 'idle');
  t.match(await again.blocks.resumeSchedule('ada', 'brief'), {
    state: 'active',
    last: '2026-11-20T12:30:00.000Z',
    next: ['2026-11-20T13:00:00.000Z', /./, /./],
  });
  await again.look(HOUR / 2 - 1);
  t.match(again.readJson('ada', 'chat'), []);
  await again.look(1);
  await again.told('schedule.fired', { at: '2026-11-20T13:00:00.000Z' });
  await t.rejects(again.blocks.pauseSchedule('ada', 'x'), { code: 'SCHEDULE_NOT_FOUND' });
  await t.rejects(again.blocks.resumeSchedule('ada', 'x'), { code: 'SCHEDULE_NOT_FOUND' });
  await t.rejects(again.blocks.schedules('nobody'), { code: 'BLOCK_NOT_FOUND' });
});

t.test('runs that were missed while the server was down are found at the start', async (t) => {
  const one = await clocked(t);
  await one.create('ada', { ...RUNNABLE, schedule: [BRIEF] });
  await one.blocks.start('ada');
  await until('the schedule is seen', () => existsSync(one.folder('ada', 'schedule.json')));
  await one.core.close();
  const again = await startCore(t, { workspace: one.workspace, clock: () => one.clock.now + 3 * HOUR });
  await again.told('schedule.fired', { block: 'ada', at: '2026-11-20T13:00:00.000Z' });
  await again.told('schedule.skipped', { reason: 'missed', runs: 2 });
});

t.test('five failed runs in a row pause the schedule, and why says so', async (t) => {
  const one = await clocked(t, {
    answer: (request, res) =>
      sendJson(res, request.path === '/api/tags' ? { models: [{ name: 'm' }] } : { error: 'no' }, request.path === '/api/tags' ? 200 : 400),
  });
  await one.create('ada', { ...RUNNABLE, schedule: [BRIEF] });
  await one.blocks.start('ada');
  await until('the schedule is seen', () => existsSync(one.folder('ada', 'schedule.json')));
  for (let run = 1; run <= 5; run += 1) {
    await one.look(HOUR);
    await until(`run ${run}`, () => one.factsOf('message.finished').length === run);
    while ((await one.blocks.schedules('ada')).schedules[0]?.failures !== run) await nextTurn(); // the file is there before its write has ended
  }
  t.match(await one.blocks.schedules('ada'), { schedules: [{ state: 'paused', pausedBecause: 'failures', problem: /5 runs in a row failed/ }] });
});

t.test('a damaged schedule.json sends nothing and is said, until it is repaired', async (t) => {
  const one = await clocked(t);
  await one.create('ada', { ...RUNNABLE, schedule: [BRIEF] });
  one.write('ada', 'schedule', '{"brief": {"last": "yesterday"}}');
  await one.blocks.start('ada');
  await one.told('workspace.fault', { block: 'ada', what: 'schedule' });
  await t.rejects(one.blocks.schedules('ada'), { code: 'BLOCK_DAMAGED', message: /schedule\.json can't be used: brief\.last must be a time/ });
  await t.rejects(one.blocks.pauseSchedule('ada', 'brief'), { code: 'BLOCK_DAMAGED' });
  await one.look(HOUR);
  t.match(one.factsOf('schedule.fired'), []);
  one.write('ada', 'schedule', { brief: { last: '2026-11-20T10:30:00.000Z' } });
  await one.look(0);
  await one.told('schedule.fired', { at: '2026-11-20T11:00:00.000Z' });
});

t.test('a block at its cap gets no message of a schedule', async (t) => {
  const one = await clocked(t);
  await one.create('ada', { ...RUNNABLE, schedule: [BRIEF], budget: { dailyTokens: 1_000_000 } });
  await one.blocks.start('ada');
  await one.ask('ada', 'x');
  await one.blocks.updateConfig('ada', { budget: { dailyTokens: 4 } });
  await one.look(HOUR);
  await one.told('schedule.skipped', { reason: 'cap', runs: 1 });
  t.equal(one.readJson('ada', 'chat').length, 2);
});

t.test('nonsense is refused when it is configured, and names the field', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  for (const [schedule, message] of [
    [[{ ...BRIEF, cron: '0 0 30 2 *' }], /^schedule\[0\]\.cron never comes/],
    [[BRIEF, BRIEF], /^schedule\[1\]\.id is there twice/],
    [Array.from({ length: 21 }, (_, n) => ({ ...BRIEF, id: `b${n}` })), /^schedule/],
    [[{ id: 'B!', cron: '@daily', message: 'x' }], /^schedule\[0\]\.id/],
    [[{ cron: '@daily', message: 'x' }], /^schedule\[0\]\.id/],
    [[{ ...BRIEF, window: -1 }], /^schedule\[0\]\.window/],
    [[{ ...BRIEF, maxPerDay: 0 }], /^schedule\[0\]\.maxPerDay/],
    [[{ ...BRIEF, catchUp: 'two' }], /^schedule\[0\]\.catchUp/],
    [[{ ...BRIEF, message: 'x'.repeat(32_769) }], /^schedule\[0\]\.message/],
  ] as const) {
    await t.rejects(one.blocks.updateConfig('ada', { schedule } as never), { code: 'INVALID_REQUEST', message });
  }
  await t.rejects(one.blocks.create({ name: 'eve', config: { schedule: [{ ...BRIEF, every: '5m' }] } }), {
    message: /^config\.schedule\[0\] must have only one of/,
  });
  const { warnings } = await one.blocks.updateConfig('ada', { schedule: [{ ...BRIEF, timezon: 'UTC' }] } as never);
  t.match(warnings, [{ field: 'schedule[0].timezon', message: /Did you mean schedule\[0\]\.timezone/ }]);
});

t.test('a schedule that a person wrote into the file and that can never run is said to be invalid', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, schedule: [BRIEF] });
  await one.blocks.start('ada');
  one.write('ada', 'config', { ...one.readJson('ada', 'config'), schedule: [{ ...BRIEF, cron: '99 * * * *' }] });
  t.match(await one.blocks.schedules('ada'), { schedules: [{ state: 'invalid', problem: /^cron can't be used: invalid value for minute: 99/ }] });
});
