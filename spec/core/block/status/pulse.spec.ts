import t from 'tap';
import { type ActorPulse, currentPulse, type PulseFacts, type Step } from '../../../../core/block/status/pulse.ts';
import type { BlockPulse } from '../../../../core/schemas/block-pulse.ts';
import { AT, pulseOf } from '../../../support/block-files.ts';

const NOW = Date.parse(AT);
const QUEUE = { queued: 1, processing: 0, failed: 0, oldestQueuedAt: AT };
const TASK = { messageId: 'm1', startedAt: AT, attempt: 1, phase: 'streaming', outputChars: 5 } as const;
const IDLE: ActorPulse = {
  state: 'idle',
  status: 'ACTIVE',
  reason: null,
  attention: false,
  error: null,
  nextWakeUp: null,
  currentTask: null,
  startedAt: AT,
  stoppedAt: null,
  lastRun: null,
  restarts: 2,
  consecutiveFailures: 3,
  isSentAway: false,
};

function now(written: Partial<BlockPulse>, actor: Partial<ActorPulse> = {}, facts: Partial<PulseFacts> = {}): BlockPulse {
  return currentPulse(pulseOf(written), { ...IDLE, ...actor }, { now: NOW, lastPulse: AT, steps: [], characters: 0, ...facts });
}

function stepTo(to: Step['to'], at = AT): Step {
  return { at, to, cause: 'c', actor: 'monitor' };
}

t.test('the actor decides, whatever the file says', async (t) => {
  const { isSentAway, ...said } = { ...IDLE, stoppedAt: AT, lastRun: AT, currentTask: TASK };
  const edited = { state: 'failed', status: 'ERROR', attention: true, error: 'By hand.', restarts: 9, startedAt: 'before', lastRun: 'before' } as const;
  t.match(now(edited, { ...said, isSentAway }), { ...said, lastPulse: AT });
});

t.test('times that the actor does not have stay as they were', async (t) => {
  const times = { startedAt: '2026-01-01T00:00:00.000Z', stoppedAt: '2026-01-02T00:00:00.000Z', lastRun: '2026-01-03T00:00:00.000Z', lastPulse: AT };
  t.match(now(times, { startedAt: null }, { lastPulse: null }), times);
});

t.test('each step is one transition, from the state before it', async (t) => {
  const { transitions } = now({}, {}, { steps: [stepTo('starting'), stepTo('idle')] });
  t.strictSame(transitions, [
    { at: AT, from: 'stopped', to: 'starting', cause: 'c', actor: 'monitor' },
    { at: AT, from: 'starting', to: 'idle', cause: 'c', actor: 'monitor' },
  ]);
  const again = now({ state: 'idle', transitions }, {}, { steps: [stepTo('idle')] });
  t.strictSame(again.transitions, transitions, 'a step that the file has is not added');
  const crashed = now({ state: 'starting' }, {}, { steps: [stepTo('starting'), stepTo('idle')] });
  t.match(crashed.transitions, [{ from: 'starting', to: 'idle' }], 'and none from a state to itself');
});

t.test('the last fifty transitions are kept, in their order', async (t) => {
  let pulse = pulseOf();
  for (let count = 0; count < 60; count += 1) {
    const state = count % 2 === 0 ? 'working' : 'idle';
    pulse = now(pulse, { state }, { steps: [stepTo(state, new Date(NOW + count).toISOString())] });
  }
  t.equal(pulse.transitions.length, 50);
  t.strictSame(
    pulse.transitions.map(({ at }) => Date.parse(at) - NOW),
    Array.from({ length: 50 }, (_, index) => index + 10),
  );
});

t.test('the wanted state comes from config.json, unless a person has just stopped the monitor', async (t) => {
  const rows = [
    ['idle', false, true, 'running'],
    ['idle', false, undefined, 'running'],
    ['stopped', false, undefined, 'stopped'],
    ['stopped', false, true, 'running'],
    ['stopping', true, true, 'stopped'],
    ['idle', false, false, 'stopped'],
  ] as const;
  for (const [state, isSentAway, enabled, desired] of rows) t.equal(now({}, { state, isSentAway }, { enabled }).desired, desired, `${state} ${enabled}`);
});

t.test('the uptime counts from the start of the run, and is never negative', async (t) => {
  t.equal(now({}, {}, { now: NOW + 90_400 }).uptimeSeconds, 90);
  t.equal(now({}, {}, { now: NOW - 3_600_000 }).uptimeSeconds, 0, 'the clock was set back');
  t.equal(now({}, {}, { now: NOW + 315_360_000_000 }).uptimeSeconds, 315_360_000, 'and forward by ten years');
  t.equal(now({ uptimeSeconds: 9 }, { startedAt: null }).uptimeSeconds, 0);
});

t.test('a task that streams has the length of the reply, and the queue stays if the chat is unreadable', async (t) => {
  t.match(now({}, { currentTask: TASK }, { characters: 50, queue: QUEUE }), { currentTask: { outputChars: 50 }, queue: QUEUE });
  t.match(now({}, { currentTask: { ...TASK, phase: 'saving' } }, { characters: 50 }), { currentTask: { outputChars: 5 } });
  t.same(now({ queue: QUEUE }).queue, QUEUE);
});
