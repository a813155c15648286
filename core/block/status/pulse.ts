// pulse.json shows people and programs what the monitor does. Each step of the machine is one change of it. Pure: no I/O.
import type { BlockPulse, BlockState, CurrentTask, QueueCounts, Reason, Transition, TransitionActor } from '../../schemas/block-pulse.ts';
import { statusOf } from './list-entry.ts';

const KEPT_TRANSITIONS = 50;

/** A step of the machine, as pulse.json records it. */
export interface Step {
  readonly to: BlockState;
  readonly cause: string;
  readonly actor: TransitionActor;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly reason: Reason | null;
  readonly wakeUpAt: number | null;
  readonly restarts: number;
  readonly consecutiveFailures: number;
  /** When the last reply ended, ISO 8601; null when there was none in this run. */
  readonly lastRun: string | null;
  readonly isWanted: boolean;
  /** Undefined when the chat can't be read; the counts then stay as they were. */
  readonly queue: QueueCounts | undefined;
}

/** States that wait for a person. */
const NEEDS_A_PERSON: ReadonlySet<BlockState> = new Set(['paused', 'failed']);
const AT_WORK: ReadonlySet<BlockState> = new Set(['working', 'compacting', 'stopping']);

/** The pulse after a step. */
export function takeStep(pulse: BlockPulse, step: Step): BlockPulse {
  const { to, now } = step;
  const at = new Date(now).toISOString();
  const transition: Transition = { at, from: pulse.state, to, cause: step.cause, actor: step.actor };
  const moved = pulse.state === to ? pulse.transitions : [...pulse.transitions, transition].slice(-KEPT_TRANSITIONS);
  return {
    ...pulse,
    state: to,
    status: statusOf(to),
    reason: step.reason,
    desired: step.isWanted ? 'running' : 'stopped',
    attention: NEEDS_A_PERSON.has(to),
    error: to === 'failed' || to === 'backoff' ? (step.reason?.message ?? null) : null,
    nextWakeUp: step.wakeUpAt === null ? null : new Date(step.wakeUpAt).toISOString(),
    currentTask: AT_WORK.has(to) ? pulse.currentTask : null,
    lastPulse: at,
    lastRun: step.lastRun ?? pulse.lastRun,
    startedAt: to === 'starting' && pulse.startedAt === null ? at : pulse.startedAt,
    // A compaction by hand runs without a monitor, so no monitor stops at its end.
    stoppedAt: to === 'stopped' && pulse.state !== 'compacting' ? at : pulse.stoppedAt,
    uptimeSeconds: uptime(pulse, now),
    restarts: step.restarts,
    consecutiveFailures: step.consecutiveFailures,
    queue: step.queue ?? pulse.queue,
    transitions: moved,
  };
}

/** The pulse at the start of a run, without the task of the run before. */
export function beginRun(pulse: BlockPulse, now: number): BlockPulse {
  return { ...pulse, startedAt: new Date(now).toISOString(), uptimeSeconds: 0, currentTask: null };
}

/** The pulse after a heartbeat. */
export function beat(pulse: BlockPulse, now: number, queue: QueueCounts, task: CurrentTask | null): BlockPulse {
  return { ...pulse, lastPulse: new Date(now).toISOString(), uptimeSeconds: uptime(pulse, now), queue, currentTask: task };
}

/** Seconds since the monitor was started. */
export function uptime({ startedAt }: BlockPulse, now: number): number {
  return startedAt === null ? 0 : Math.max(0, Math.round((now - Date.parse(startedAt)) / 1000));
}
