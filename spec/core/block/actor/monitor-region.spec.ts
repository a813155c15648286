import t from 'tap';
import { createActor, initialTransition, transition } from 'xstate';
import { createBlockMachine, isRunning, stateOf } from '../../../../core/block/actor/machine.ts';
import { GRACE_MS, MAX_CRASHES, SAVING_MS } from '../../../../core/block/actor/setup.ts';
import type { MachineContext } from '../../../../core/block/actor/types.ts';
import {
  CHAT,
  DAMAGE,
  EPOCH,
  HALT,
  MACHINE_STATES,
  type MonitorRig,
  monitorRig,
  REASON,
  REPAIR,
  rigIn,
  SETTINGS,
  START,
  STOP,
} from '../../../support/monitor-rig.ts';

const DAY_MS = 86_400_000;
const WAIT = { kind: 'wait', until: EPOCH + 5000, reason: REASON } as const;
const PAUSE = { kind: 'pause', until: EPOCH + 5000, reason: REASON, actor: 'budget' } as const;
const APPROVAL = { kind: 'approval', until: EPOCH + 5000, reason: REASON } as const;
const FAIL = { kind: 'fail', reason: REASON } as const;
const NOTHING = { kind: 'nothing' } as const;
const REPLY = { kind: 'reply', messageId: 'm1' } as const;
const HELD = { reason: REASON, wakeUpAt: EPOCH + 5000, cause: 'X' } as const;

type Step = (rig: MonitorRig) => Promise<void> | void;
const done =
  (output?: Parameters<MonitorRig['done']>[0]): Step =>
  (rig) =>
    rig.done(output);
const send =
  (event: Parameters<MonitorRig['send']>[0]): Step =>
  (rig) =>
    rig.send(event);
const pass =
  (ms: number): Step =>
  (rig) =>
    rig.pass(ms);
const fault: Step = (rig) => rig.fault();

type Row = readonly [from: string, what: string, step: Step, to: string, context?: Partial<MachineContext>];

const ROWS: readonly Row[] = [
  ['starting', 'recovered', done(NOTHING), 'choosing', { cause: 'recovered', actor: 'monitor' }],
  ['starting', 'a damaged file', done(FAIL), 'failed', { reason: REASON }],
  ['starting', 'a full disk', done(WAIT), 'backoff', { ...HELD, actor: 'monitor' }],
  ['starting', 'a defect', fault, 'restarting', { restarts: 1, crashes: [EPOCH], wakeUpAt: EPOCH + 1000 }],
  ['starting', 'a message', send(CHAT), 'starting'],
  ['starting', 'start', send(START), 'starting'],
  ['starting', 'stop', send(STOP), 'stopping', { isStopping: true, cause: 'stop', actor: 'user' }],
  ['choosing', 'a message', done(REPLY), 'working.replying', { messageId: 'm1', cause: 'message', actor: 'monitor', reason: null }],
  ['choosing', 'none', done(NOTHING), 'idle', { messageId: null, reason: null, wakeUpAt: null }],
  ['choosing', 'a message whose time has not come', done(WAIT), 'backoff', { ...HELD, actor: 'monitor' }],
  ['choosing', 'the kill switch', done({ ...PAUSE, until: null, actor: 'user' }), 'paused', { reason: REASON, wakeUpAt: null, actor: 'user' }],
  ['choosing', 'no model', done(FAIL), 'failed', { reason: REASON }],
  ['choosing', 'a defect', fault, 'restarting', { restarts: 1 }],
  ['choosing', 'stop', send(STOP), 'stopping'],
  ['idle', 'a message', send(CHAT), 'choosing'],
  ['idle', 'other settings', send(SETTINGS), 'choosing', { cause: 'config changed', actor: 'user' }],
  ['idle', 'the kill switch', send(HALT), 'choosing', { cause: 'unhalt', actor: 'user' }],
  ['idle', 'start', send(START), 'idle'],
  ['idle', 'stop', send(STOP), 'stopping', { isStopping: true }],
  ['working.replying', 'answered', done({ kind: 'answered', compact: false }), 'choosing', { cause: 'answered', consecutiveFailures: 0 }],
  ['working.replying', 'answered, and the window is full', done({ kind: 'answered', compact: true }), 'compacting', { cause: 'window is full' }],
  ['working.replying', 'nothing left to do', done({ kind: 'over', failed: false }), 'choosing', { consecutiveFailures: 0 }],
  ['working.replying', 'permanent for the message', done({ kind: 'over', failed: true }), 'choosing', { cause: 'message failed', consecutiveFailures: 1 }],
  ['working.replying', 'transient', done(WAIT), 'backoff', { ...HELD, consecutiveFailures: 1 }],
  ['working.replying', 'cap reached', done(PAUSE), 'paused', { ...HELD, actor: 'budget', consecutiveFailures: 0 }],
  ['working.replying', 'permanent for the block', done(FAIL), 'failed', { reason: REASON, consecutiveFailures: 1 }],
  ['working.replying', 'a defect', fault, 'restarting', { restarts: 1 }],
  ['working.replying', 'another message', send(CHAT), 'working.replying'],
  ['working.replying', 'other settings', send(SETTINGS), 'working.replying'],
  ['working.replying', 'the kill switch', send(HALT), 'working.replying'],
  ['working.replying', 'start', send(START), 'working.replying'],
  ['working.replying', 'stop', send(STOP), 'working.finishing', { isStopping: true, cause: 'stop', actor: 'user' }],
  ['working.finishing', 'the reply ends in time', done({ kind: 'answered', compact: true }), 'stopping'],
  ['working.finishing', 'a defect', fault, 'stopping', { restarts: 0 }],
  ['working.finishing', 'almost the whole grace', pass(GRACE_MS - 1), 'working.finishing'],
  ['working.finishing', 'the grace is over', pass(GRACE_MS), 'working.aborting'],
  ['working.finishing', 'a second stop', send(STOP), 'working.aborting'],
  ['working.finishing', 'other settings', send(SETTINGS), 'working.finishing', { cause: 'stop' }],
  ['working.aborting', 'what came was saved', done({ kind: 'over', failed: false }), 'stopping'],
  ['working.aborting', 'a third stop', send(STOP), 'working.aborting'],
  ['working.aborting', 'it never ends', pass(SAVING_MS), 'stopping'],
  ['compacting', 'summarised', done(), 'choosing', { cause: 'compacted', actor: 'monitor' }],
  ['compacting', 'no summary', fault, 'choosing', { cause: 'compaction failed', restarts: 0 }],
  ['compacting', 'stop', send(STOP), 'stopping'],
  ['backoff', 'almost its time', pass(4999), 'backoff'],
  ['backoff', 'its time', pass(5000), 'choosing', { cause: 'time is up', isUrgent: true }],
  ['backoff', 'a message', send(CHAT), 'choosing', { isUrgent: false }],
  ['backoff', 'other settings', send(SETTINGS), 'choosing', { cause: 'config changed', isUrgent: true }],
  ['backoff', 'the kill switch', send(HALT), 'choosing', { cause: 'unhalt', isUrgent: false }],
  ['backoff', 'start', send(START), 'choosing', { cause: 'start', actor: 'user', isUrgent: true }],
  ['backoff', 'stop', send(STOP), 'stopping', { wakeUpAt: null }],
  ['paused', 'almost its time', pass(4999), 'paused'],
  ['paused', 'the day resets', pass(5000), 'choosing', { cause: 'time is up' }],
  ['paused', 'a message', send(CHAT), 'paused'],
  ['paused', 'the cap is raised', send(SETTINGS), 'choosing', { cause: 'config changed', actor: 'user' }],
  ['paused', 'the kill switch is released', send(HALT), 'choosing', { cause: 'unhalt', actor: 'user' }],
  ['paused', 'start', send(START), 'choosing', { cause: 'start' }],
  ['paused', 'stop', send(STOP), 'stopping'],
  ['failed', 'start', send(START), 'starting', { cause: 'start', reason: null, consecutiveFailures: 0, crashes: [] }],
  ['failed', 'config or auth.json changed', send(SETTINGS), 'starting', { cause: 'config changed', reason: null }],
  ['failed', 'the kill switch', send(HALT), 'failed', { reason: REASON }],
  ['failed', 'a message', send(CHAT), 'failed'],
  ['failed', 'a file is repaired', send(REPAIR), 'starting', { cause: 'chat changed' }],
  ['failed', 'a file is damaged', send(DAMAGE), 'failed', { reason: REASON }],
  ['idle', 'a file is damaged', send(DAMAGE), 'choosing', { cause: 'chat damaged', actor: 'server' }],
  ['idle', 'a file was changed by hand', send(REPAIR), 'idle'],
  ['failed', 'any time', pass(DAY_MS), 'failed'],
  ['failed', 'stop', send(STOP), 'stopping'],
  ['restarting', 'its delay', pass(1000), 'starting', { cause: 'restart', reason: null }],
  ['restarting', 'start', send(START), 'starting', { cause: 'start' }],
  ['restarting', 'a message', send(CHAT), 'restarting'],
  ['restarting', 'stop', send(STOP), 'stopping'],
  ['stopping', 'all is saved', done(), 'stopped', { reason: null, wakeUpAt: null, messageId: null }],
  ['stopping', 'the disk refuses', fault, 'stopped'],
  ['stopping', 'stop', send(STOP), 'stopping'],
  ['stopping', 'start', send(START), 'stopping'],
];

t.test('each event in each state leads to the expected state', async (t) => {
  for (const [from, what, step, to, context = {}] of ROWS) {
    const rig = await rigIn(from);
    await step(rig);
    t.equal(rig.state(), to, `${from}: ${what}`);
    t.match(rig.actor.getSnapshot().context, JSON.parse(JSON.stringify(context)), `${from}: ${what}`);
    rig.actor.stop();
  }
});

t.test('the machine is a pure function, and a run begins with the cause of its start', async (t) => {
  const machine = createBlockMachine(() => EPOCH);
  const [stopped] = initialTransition(machine, { name: 'ada', archiveName: null });
  t.equal(isRunning(stopped), false);
  const [first] = transition(machine, stopped, { ...START, cause: 'server start', actor: 'server' });
  t.strictSame(first.value.monitor, { running: 'starting' });
  t.match(first.context, { name: 'ada', cause: 'server start', actor: 'server', restarts: 0, crashes: [], isStopping: false });
  const [next] = transition(machine, first, STOP);
  t.strictSame(next.value.monitor, { running: 'stopping' });
});

t.test('a run begins without the leftovers of the previous run', async (t) => {
  const rig = await rigIn('failed');
  rig.send(STOP);
  await rig.done();
  rig.send({ ...START, cause: 'again' });
  t.match(rig.actor.getSnapshot().context, { cause: 'again', consecutiveFailures: 0, isStopping: false, reason: null, messageId: null });
});

t.test('each state has its public name; while the next message is chosen, the previous name is shown', async (t) => {
  const words = Object.fromEntries(await Promise.all(MACHINE_STATES.map(async (state) => [state, stateOf((await rigIn(state)).actor.getSnapshot())])));
  t.strictSame(words, {
    starting: 'starting',
    choosing: 'starting',
    idle: 'idle',
    'working.replying': 'working',
    'working.finishing': 'stopping',
    'working.aborting': 'stopping',
    compacting: 'compacting',
    backoff: 'backoff',
    paused: 'paused',
    failed: 'failed',
    restarting: 'backoff',
    stopping: 'stopping',
    stopped: 'stopped',
  });
  const rig = await rigIn('idle');
  rig.send(CHAT);
  t.equal(stateOf(rig.actor.getSnapshot()), 'idle');
});

t.test('a stop ends every state, and always through settling', async (t) => {
  for (const state of MACHINE_STATES.filter((name) => name !== 'stopped')) {
    const rig = await rigIn(state);
    rig.send(STOP);
    if (rig.state().startsWith('working')) await rig.done({ kind: 'over', failed: false });
    t.equal(rig.state(), 'stopping', state);
    t.equal(rig.task().source, 'settle', state);
    await rig.done();
    t.equal(rig.state(), 'stopped', state);
    t.notOk(isRunning(rig.actor.getSnapshot()), state);
  }
});

t.test('every state survives JSON, and its context contains only JSON', async (t) => {
  for (const state of MACHINE_STATES) {
    const rig = await rigIn(state);
    const { context } = rig.actor.getSnapshot();
    t.strictSame(JSON.parse(JSON.stringify(context)), context, `${state}: context`);
    const copy = monitorRig(JSON.parse(JSON.stringify(rig.actor.getPersistedSnapshot())));
    t.equal(copy.state(), state);
    t.strictSame(copy.actor.getSnapshot().context, context, state);
    rig.actor.stop();
    copy.actor.stop();
  }
});

t.test('a restored monitor continues the work that was under way', async (t) => {
  const rig = await rigIn('working.replying');
  const copy = monitorRig(JSON.parse(JSON.stringify(rig.actor.getPersistedSnapshot())));
  t.match(copy.task(), { source: 'reply', input: { messageId: 'm1' } });
  await copy.done({ kind: 'answered', compact: false });
  t.equal(copy.state(), 'choosing');
});

t.test('a message that comes during a choice leads to another choice', async (t) => {
  for (const event of [CHAT, SETTINGS, HALT, REPAIR, DAMAGE]) {
    for (const outcome of [NOTHING, WAIT, PAUSE, FAIL]) {
      const rig = await rigIn('choosing');
      rig.send(event);
      await rig.done(outcome);
      t.equal(rig.state(), 'choosing', `${event.type} ${outcome.kind}`);
      t.equal(rig.started('choose'), 2);
      await rig.done(NOTHING);
      t.equal(rig.state(), 'idle', 'and once is enough');
    }
  }
});

t.test('a file that is repaired during its reading is read again', async (t) => {
  const rig = await rigIn('starting');
  rig.send(SETTINGS);
  await rig.done(FAIL);
  t.equal(rig.state(), 'starting');
  await rig.done(FAIL);
  t.equal(rig.state(), 'failed', 'once');
});

t.test('a change during a reply counts once, as if it came after the reply', async (t) => {
  const cases = [
    [SETTINGS, FAIL, 'starting', 'failed'],
    [SETTINGS, PAUSE, 'choosing', 'paused'],
    [SETTINGS, WAIT, 'choosing', 'backoff'],
    [HALT, PAUSE, 'choosing', 'paused'],
    [REPAIR, FAIL, 'starting', 'failed'],
    [DAMAGE, FAIL, 'starting', 'failed'],
  ] as const;
  for (const [event, outcome, next, end] of cases) {
    const rig = await rigIn('working.replying');
    rig.send(event);
    await rig.done(outcome);
    t.equal(rig.state(), next, `${event.type} ${outcome.kind}`);
    t.match(rig.actor.getSnapshot().context, { cause: event.cause, actor: event.actor });
    if (next === 'starting') await rig.done(NOTHING);
    await rig.done(REPLY);
    await rig.done(outcome);
    t.equal(rig.state(), end, 'once');
    rig.actor.stop();
  }
});

t.test('a decision that comes while the reply still works is noticed once the reply leaves its message waiting', async (t) => {
  const rig = await rigIn('working.replying');
  rig.send({ type: 'approval.decided' });
  await rig.done(APPROVAL);
  t.equal(rig.state(), 'choosing');
  await rig.done(APPROVAL);
  t.equal(rig.state(), 'waitingApproval', 'another call waits');
  rig.send({ type: 'approval.decided' });
  await rig.done(REPLY);
  await rig.done(APPROVAL);
  t.equal(rig.state(), 'waitingApproval', 'once');
});

t.test('neither the kill switch nor a change before the reply makes a failed reply begin again', async (t) => {
  const halted = await rigIn('working.replying');
  halted.send(HALT);
  await halted.done(FAIL);
  t.equal(halted.state(), 'failed');
  const early = await rigIn('choosing');
  early.send(SETTINGS);
  await early.done(REPLY);
  await early.done(FAIL);
  t.equal(early.state(), 'failed');
});

t.test('a message whose attempt has ended is not tried again at once, unless something has changed', async (t) => {
  for (const failed of [false, true]) {
    const rig = await rigIn('working.replying');
    for (const round of [1, 2]) {
      await rig.done({ kind: 'over', failed });
      await rig.done(REPLY);
      t.equal(rig.state(), 'backoff', `round ${round}`);
      t.match(rig.actor.getSnapshot().context, { reason: { code: 'WAITING' }, wakeUpAt: rig.clock.now + 60_000, actor: 'monitor' });
      rig.pass(60_000);
      await rig.done(REPLY);
      t.equal(rig.state(), 'working.replying', 'its time has come');
    }
    await rig.done({ kind: 'over', failed });
    rig.send(CHAT);
    await rig.done(REPLY);
    t.equal(rig.state(), 'working.replying', 'somebody may have queued it again');
    await rig.done({ kind: 'over', failed });
    await rig.done({ ...REPLY, messageId: 'm2' });
    t.match(rig.task(), { source: 'reply', input: { messageId: 'm2' } }, 'another one');
    rig.actor.stop();
  }
});

t.test('a message whose attempt was cut off from outside may be tried again at once', async (t) => {
  const rig = await rigIn('working.replying');
  await rig.done({ kind: 'over', failed: false, isCutOff: true });
  await rig.done(REPLY);
  t.equal(rig.state(), 'working.replying');
  t.equal(rig.actor.getSnapshot().context.consecutiveFailures, 0);
});

t.test('a message whose attempt ended before a pause is tried after the pause', async (t) => {
  const rig = await rigIn('working.replying');
  await rig.done({ kind: 'over', failed: false });
  await rig.done(PAUSE);
  rig.send(HALT);
  await rig.done(REPLY);
  t.equal(rig.state(), 'working.replying');
});

t.test('a wait ends by its timer, whatever the clock says', async (t) => {
  const rig = await rigIn('backoff');
  rig.clock.now -= 3_600_000;
  rig.tick(5000);
  t.match(rig.task(), { source: 'choose', input: { isUrgent: true } });
  await rig.done(REPLY);
  await rig.done({ kind: 'answered', compact: false });
  t.match(rig.task(), { source: 'choose', input: { isUrgent: false } }, 'which says nothing about the next message');
});

t.test('a wait lasts a day at most, and a day if it has no end', async (t) => {
  for (const until of [EPOCH + 40 * DAY_MS, null]) {
    const rig = await rigIn('choosing');
    await rig.done({ ...PAUSE, until });
    rig.pass(DAY_MS - 1);
    t.equal(rig.state(), 'paused');
    rig.pass(1);
    t.equal(rig.state(), 'choosing');
    rig.actor.stop();
  }
});

t.test('a time in the past is not waited for', async (t) => {
  const rig = await rigIn('choosing');
  await rig.done({ ...WAIT, until: EPOCH - 1 });
  rig.pass(0);
  t.equal(rig.state(), 'choosing');
});

t.test('a stop gives a reply its grace period, then aborts it, then stops waiting for it', async (t) => {
  const rig = await rigIn('working.finishing');
  const { signal } = rig.task();
  rig.pass(GRACE_MS);
  t.equal(rig.aborts, 1);
  t.notOk(signal.aborted, 'the reply saves its text itself');
  rig.pass(SAVING_MS);
  t.ok(signal.aborted);
  t.match(rig.task(), { source: 'settle', input: { isReplyLeft: true } });
  t.equal(rig.state(), 'stopping');
});

t.test('defects are followed by waits of 1, 2, 4 and 8 seconds; the fifth waits for a person', async (t) => {
  const rig = await rigIn('starting');
  for (const seconds of [1, 2, 4, 8]) {
    await rig.fault();
    const { context } = rig.actor.getSnapshot();
    t.equal(rig.state(), 'restarting');
    t.equal(context.wakeUpAt, rig.clock.now + seconds * 1000);
    t.match(context.reason, { code: 'CRASHED', message: /TypeError/ });
    rig.pass(seconds * 1000 - 1);
    t.equal(rig.state(), 'restarting', `${seconds} s`);
    rig.pass(1);
    t.equal(rig.state(), 'starting');
  }
  await rig.fault();
  t.equal(rig.state(), 'failed');
  t.match(rig.actor.getSnapshot().context, { restarts: MAX_CRASHES, reason: { code: 'CRASH_LOOP', fix: /blockhouse logs ada/ }, wakeUpAt: null });
  rig.send(START);
  await rig.fault();
  t.equal(rig.state(), 'restarting', 'a person begins the count anew');
});

t.test('faults older than ten minutes are forgotten', async (t) => {
  const rig = await rigIn('starting');
  for (let count = 0; count < MAX_CRASHES + 2; count += 1) {
    await rig.fault();
    t.equal(rig.state(), 'restarting', `${count}`);
    rig.pass(150_001);
  }
});

t.test('a fault is named by its code or its class, or is unknown; its text is never shown', async (t) => {
  const cases: [error: unknown, name: RegExp][] = [
    [Object.assign(new Error('secret'), { code: 'EBADF' }), /\(EBADF\)/],
    [new RangeError('secret'), /\(RangeError\)/],
    ['secret', /\(unknown\)/],
    [null, /\(unknown\)/],
  ];
  for (const [error, name] of cases) {
    const rig = await rigIn('choosing');
    await rig.fault(error);
    const { reason } = rig.actor.getSnapshot().context;
    t.match(reason?.message, name);
    t.notMatch(reason?.message, /secret/);
    rig.actor.stop();
  }
});

t.test('a machine without an actor names the missing one', async (t) => {
  const actor = createActor(
    createBlockMachine(() => EPOCH),
    { input: { name: 'ada', archiveName: null } },
  ).start();
  actor.send(START);
  await new Promise(setImmediate);
  const snapshot = actor.getSnapshot();
  t.match([snapshot.value.monitor, snapshot.context.reason?.code, stateOf(snapshot)], [{ running: 'restarting' }, 'CRASHED', 'backoff']);
  actor.stop();
});

/** Commands of this type that were answered since the last look, with what they hold. */
function answersTo(rig: MonitorRig, to: string): unknown[] {
  return rig.answers.filter((answer) => answer.to === to).map(({ value, error, ticket }) => error ?? ticket ?? value);
}

t.test('a start is answered after the recovery and the first choice, and at once if they are over', async (t) => {
  const rig = await rigIn('starting');
  rig.send({ ...START, ticket: 7 });
  await rig.done(NOTHING);
  t.strictSame(answersTo(rig, 'block.start').length, 1, 'the refusal of the time before its first start');
  await rig.done(NOTHING);
  t.equal(answersTo(rig, 'block.start').length, 2);
  rig.send({ ...START, ticket: 8 });
  t.equal(answersTo(rig, 'block.start').at(-1), 8);
});

t.test('a start while the monitor stops begins another run afterwards, unless another stop follows', async (t) => {
  for (const state of ['working.finishing', 'working.aborting', 'stopping']) {
    for (const isStopped of [false, true]) {
      const rig = await rigIn(state);
      rig.send({ ...START, cause: 'again' });
      if (isStopped) for (const _ of [1, 2]) rig.send(STOP);
      if (state !== 'stopping') await rig.done({ kind: 'over', failed: false });
      await rig.done();
      t.equal(stateOf(rig.actor.getSnapshot()), 'stopped', 'which is seen');
      rig.pass(0);
      t.equal(rig.state(), isStopped ? 'stopped' : 'starting', state);
      if (!isStopped) t.match(rig.actor.getSnapshot().context, { cause: 'again', isStopping: false });
      else t.match(answersTo(rig, 'block.start').at(-1), { code: 'WRONG_STATE' });
    }
  }
});

t.test('a removed message ends only its own reply, and no command is answered', async (t) => {
  const rig = await rigIn('working.replying');
  const answers = rig.answers.length;
  rig.send({ type: 'message.gone', messageId: 'm2' });
  t.equal(rig.aborts, 0);
  rig.send({ type: 'message.gone', messageId: 'm1' });
  t.equal(rig.aborts, 1);
  t.equal(rig.answers.length, answers);
});

t.test('the reply to a message can be cancelled, and the command is answered at its end', async (t) => {
  const rig = await rigIn('working.replying');
  rig.send({ type: 'message.cancel', messageId: 'm2', ticket: 1 });
  rig.send({ type: 'message.cancel', messageId: 'm1', ticket: 2 });
  t.strictSame(
    rig.answers.filter(({ to }) => to === 'message.cancel'),
    [{ type: 'answer', to: 'message.cancel', ticket: 1, value: false }],
  );
  await rig.done({ kind: 'over', failed: false, cancelled: true });
  t.match(rig.answers.filter(({ to }) => to === 'message.cancel').at(-1), { value: true });
  rig.send({ type: 'message.cancel', messageId: 'm1', ticket: 3 });
  t.match(rig.answers.at(-1), { to: 'message.cancel', ticket: 3, value: false });
});

t.test('no reply begins during a compaction by hand', async (t) => {
  const rig = await rigIn('idle');
  rig.send({ type: 'block.compact' });
  t.equal(stateOf(rig.actor.getSnapshot()), 'compacting');
  t.match(rig.task(), { source: 'compact', input: { trigger: 'manual' } });
  rig.send(CHAT);
  await rig.done(REPLY);
  t.equal(rig.state(), 'compacting');
  await rig.done();
  t.equal(rig.state(), 'choosing');
  await rig.done(REPLY);
  t.equal(rig.state(), 'working.replying');
});
