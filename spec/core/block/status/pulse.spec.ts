import t from 'tap';
import { beat, beginRun, type Step, takeStep } from '../../../../core/block/status/pulse.ts';
import { type BlockPulse, STATES } from '../../../../core/schemas/block-pulse.ts';
import { AT, pulseOf } from '../../../support/block-files.ts';

const NOW = Date.parse(AT);
const QUEUE = { queued: 1, processing: 0, failed: 0, oldestQueuedAt: AT };
const TASK = { messageId: 'm1', startedAt: AT, attempt: 1, phase: 'streaming', outputChars: 5 } as const;
const REASON = { code: 'X', message: 'Why.', fix: null };

function stepTo(to: Step['to'], fields: Partial<Step> = {}): Step {
  const plain = { cause: 'c', actor: 'monitor', now: NOW, reason: null, wakeUpAt: null, restarts: 0, consecutiveFailures: 0 } as const;
  return { to, ...plain, lastRun: null, isWanted: true, queue: QUEUE, ...fields };
}

t.test('a step is one transition, with its cause and its actor', async (t) => {
  const pulse = takeStep(pulseOf(), stepTo('starting', { cause: 'start', actor: 'user' }));
  t.match(pulse, { state: 'starting', status: 'BUSY', desired: 'running', attention: false, lastPulse: AT, startedAt: AT, queue: QUEUE });
  t.strictSame(pulse.transitions, [{ at: AT, from: 'stopped', to: 'starting', cause: 'start', actor: 'user' }]);
});

t.test('another reason for the same state is not a transition', async (t) => {
  const before = takeStep(pulseOf(), stepTo('paused', { reason: REASON }));
  const after = takeStep(before, stepTo('paused', { reason: { ...REASON, message: 'Still.' }, wakeUpAt: NOW }));
  t.match(after, { reason: { message: 'Still.' }, nextWakeUp: AT });
  t.equal(after.transitions.length, 1);
});

t.test('the last fifty transitions are kept, in their order', async (t) => {
  let pulse = pulseOf();
  for (let count = 0; count < 60; count += 1) pulse = takeStep(pulse, stepTo(count % 2 === 0 ? 'working' : 'idle', { cause: `${count}` }));
  t.equal(pulse.transitions.length, 50);
  t.strictSame(
    pulse.transitions.map(({ cause }) => Number(cause)),
    Array.from({ length: 50 }, (_, index) => index + 10),
  );
});

t.test('the fields of pulse.json follow from the state', async (t) => {
  const statuses: Record<string, string> = {
    paused: 'SLEEPING',
    failed: 'ERROR',
    backoff: 'BUSY',
    idle: 'ACTIVE',
    stopped: 'SLEEPING',
    unconfigured: 'SLEEPING',
  };
  const before: BlockPulse = pulseOf({ currentTask: TASK, startedAt: AT, stoppedAt: null, lastRun: 'before' });
  for (const state of STATES) {
    const pulse = takeStep(before, stepTo(state, { reason: REASON, isWanted: false, restarts: 2, consecutiveFailures: 3 }));
    t.equal(pulse.status, statuses[state] ?? 'BUSY', state);
    t.equal(pulse.attention, state === 'paused' || state === 'failed', state);
    t.equal(pulse.error, state === 'backoff' || state === 'failed' ? 'Why.' : null, state);
    t.equal(pulse.currentTask !== null, ['working', 'compacting', 'stopping'].includes(state), state);
    t.equal(pulse.stoppedAt, state === 'stopped' ? AT : null, state);
    t.match(pulse, { desired: 'stopped', restarts: 2, consecutiveFailures: 3, lastRun: 'before' });
  }
  t.equal(takeStep(before, stepTo('failed')).error, null, 'no reason, no error');
  t.equal(takeStep(before, stepTo('idle', { lastRun: AT })).lastRun, AT);
});

t.test('the uptime counts from the start of the run, and is never negative', async (t) => {
  const started = beginRun(pulseOf({ currentTask: TASK, uptimeSeconds: 99 }), NOW);
  t.match(started, { startedAt: AT, uptimeSeconds: 0, currentTask: null });
  t.equal(beat(started, NOW + 90_400, QUEUE, null).uptimeSeconds, 90);
  t.equal(beat(started, NOW - 3_600_000, QUEUE, null).uptimeSeconds, 0, 'the clock was set back');
  t.equal(beat(started, NOW + 315_360_000_000, QUEUE, null).uptimeSeconds, 315_360_000, 'and forward by ten years');
  t.equal(takeStep(started, stepTo('idle', { now: NOW + 2000 })).uptimeSeconds, 2);
  t.equal(beat(pulseOf(), NOW, QUEUE, null).uptimeSeconds, 0);
});

t.test('a heartbeat updates the time, the queue and the current task', async (t) => {
  const before = pulseOf({ state: 'working', transitions: [{ at: AT, from: 'idle', to: 'working', cause: 'c', actor: 'monitor' }] });
  const after = beat(before, NOW, QUEUE, TASK);
  t.strictSame({ ...after, lastPulse: null, queue: before.queue, currentTask: null }, before);
  t.match(after, { lastPulse: AT, queue: QUEUE, currentTask: TASK });
});
