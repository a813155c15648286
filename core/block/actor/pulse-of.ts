// What pulse.json shows of a block's actor: a projection of its snapshot. Pure: no I/O.
import type { BlockState } from '../../schemas/block-pulse.ts';
import { statusOf } from '../status/list-entry.ts';
import type { ActorPulse } from '../status/pulse.ts';
import { type BlockSnapshot, stateOf } from './machine.ts';
import type { Cause } from './types.ts';

/** States that wait for a person. */
const NEEDS_A_PERSON: ReadonlySet<BlockState> = new Set(['paused', 'waiting-approval', 'failed']);
const AT_WORK: ReadonlySet<BlockState> = new Set(['working', 'compacting', 'stopping']);
const IN_TROUBLE: ReadonlySet<BlockState> = new Set(['failed', 'backoff']);

/** The pulse by the actor. */
export function pulseOf(snapshot: BlockSnapshot): ActorPulse {
  const state = stateOf(snapshot);
  const { reason, wakeUpAt, task, startedAt, stoppedAt, lastRun, restarts, consecutiveFailures } = snapshot.context;
  return {
    state,
    status: statusOf(state),
    reason,
    attention: NEEDS_A_PERSON.has(state),
    error: IN_TROUBLE.has(state) ? (reason?.message ?? null) : null,
    nextWakeUp: wakeUpAt === null ? null : new Date(wakeUpAt).toISOString(),
    currentTask: AT_WORK.has(state) ? task : null,
    startedAt,
    stoppedAt,
    lastRun,
    restarts,
    consecutiveFailures,
    isSentAway: isSentAway(state, snapshot.context),
  };
}

function isSentAway(state: BlockState, { cause, actor }: Cause): boolean {
  return (state === 'stopping' || state === 'stopped') && actor === 'user' && cause !== 'restart';
}

/** The monitor has nothing to do until something comes. */
const AT_REST: ReadonlySet<BlockState> = new Set(['idle', 'waiting-approval']);
/** The monitor runs, and does nothing. */
const WAITS: ReadonlySet<BlockState> = new Set(['backoff', 'paused', 'waiting-approval', 'failed']);

/** Whether a block that is active could as well be given to another server. */
export function doingIn(state: BlockState, isDraining: boolean): 'idle' | 'something' {
  return AT_REST.has(state) || (isDraining && WAITS.has(state)) ? 'idle' : 'something';
}

/** Until when the monitor waits for a person, in epoch milliseconds; undefined where it does not. */
export function heldUntil(snapshot: BlockSnapshot): number | undefined {
  return stateOf(snapshot) === 'waiting-approval' ? (snapshot.context.wakeUpAt ?? undefined) : undefined;
}
