import t from 'tap';
import { initialTransition, transition } from 'xstate';
import { createBlockMachine } from '../../../../core/block/actor/machine.ts';
import { doingIn, heldUntil, pulseOf } from '../../../../core/block/actor/pulse-of.ts';
import { CHAT, EPOCH, MACHINE_STATES, REASON, rigIn, START, STOP } from '../../../support/monitor-rig.ts';

const AT = new Date(EPOCH).toISOString();
const TASK = { messageId: 'm1', startedAt: AT, attempt: 1, phase: 'waiting-model', outputChars: 0 } as const;
const TOOK = { type: 'task.changed', task: TASK } as const;

t.test('each state of the machine has its pulse', async (t) => {
  const statuses: Record<string, string> = { idle: 'ACTIVE', failed: 'ERROR', paused: 'SLEEPING', stopped: 'SLEEPING' };
  for (const name of MACHINE_STATES) {
    const { actor } = await rigIn(name);
    actor.send(TOOK);
    const pulse = pulseOf(actor.getSnapshot());
    const { state, reason } = pulse;
    t.equal(pulse.status, statuses[state] ?? 'BUSY', name);
    t.equal(pulse.attention, state === 'paused' || state === 'failed', name);
    t.equal(pulse.error, state === 'backoff' || state === 'failed' ? (reason?.message ?? '') : null, name);
    t.equal(pulse.currentTask !== null, ['working', 'compacting', 'stopping'].includes(state), name);
    t.match(pulse, { startedAt: AT, stoppedAt: name === 'stopped' ? AT : null, isSentAway: state === 'stopping' || state === 'stopped' });
    actor.stop();
  }
});

t.test('a wait is shown with its reason and its end', async (t) => {
  const { actor } = await rigIn('backoff');
  t.match(pulseOf(actor.getSnapshot()), { reason: REASON, error: REASON.message, nextWakeUp: new Date(EPOCH + 5000).toISOString(), consecutiveFailures: 1 });
  actor.stop();
});

t.test('the end of a reply is the last run, unless it is a reply of an earlier run; that of a compaction is not', async (t) => {
  const machine = createBlockMachine(() => EPOCH);
  const [stopped] = initialTransition(machine, { name: 'ada', archiveName: null });
  t.match(pulseOf(stopped), { state: 'stopped', startedAt: null, stoppedAt: null, lastRun: null });
  const rows = [
    ['m1', TASK, AT, null],
    ['m0', TASK, null, TASK],
    [null, TASK, null, TASK],
    [null, { ...TASK, messageId: null, phase: 'compacting' }, null, null],
  ] as const;
  for (const [messageId, task, lastRun, left] of rows) {
    const [begun] = transition(machine, stopped, { type: 'task.changed', task });
    const [ended] = transition(machine, begun, { type: 'task.ended', messageId });
    t.equal(pulseOf(ended).lastRun, lastRun);
    t.same(ended.context.task, left);
  }
});

t.test('only a person who stops a monitor sends it away', async (t) => {
  const rows = [
    [STOP, true],
    [{ ...STOP, cause: 'restart' }, false],
    [{ ...STOP, actor: 'server' }, false],
    [{ type: 'block.archive' }, true],
    [{ type: 'block.close' }, false],
    [CHAT, false],
  ] as const;
  const machine = createBlockMachine(() => EPOCH);
  const [stopped] = initialTransition(machine, { name: 'ada', archiveName: null });
  const [running] = transition(machine, stopped, START);
  for (const [event, isSentAway] of rows) t.equal(pulseOf(transition(machine, running, event)[0]).isSentAway, isSentAway, JSON.stringify(event));
});

t.test('a block that waits for a person may go to another server, one that waits for anything else only when its server is drained', async (t) => {
  for (const state of ['idle', 'waiting-approval'] as const) t.equal(doingIn(state, false), 'idle');
  for (const state of ['backoff', 'paused', 'failed'] as const) t.same([doingIn(state, false), doingIn(state, true)], ['something', 'idle']);
  t.same([doingIn('working', false), doingIn('working', true)], ['something', 'something']);
  const { actor } = await rigIn('backoff');
  t.equal(heldUntil(actor.getSnapshot()), undefined, 'it waits for no person');
  actor.stop();
});
