// pulse.json: what the monitor of a block does and has done. Pure: no I/O.
import type * as types from '../types.ts';
import { count, listOf, object, oneOf, orNull, string, time } from './fields.ts';

/** The coarse status of a block; `statusOf` maps the states to it. */
export const STATUSES = ['SLEEPING', 'ACTIVE', 'BUSY', 'ERROR'] as const;
export type BlockStatus = types.BlockStatus;
/** The states of a block. docs/architecture.md explains them. */
export const STATES = [
  'unconfigured',
  'stopped',
  'starting',
  'idle',
  'working',
  'compacting',
  'backoff',
  'paused',
  'waiting-approval',
  'stopping',
  'failed',
] as const;
export type BlockState = types.BlockState;

/** Why a block is in its state, and the command or edit that changes it. */
export const Reason = object({ code: string, message: string, fix: orNull(string) });
export type Reason = types.Reason;

/** One change of a block's state. */
export const Transition = object({
  at: time,
  from: oneOf(STATES),
  to: oneOf(STATES),
  cause: string,
  actor: oneOf(['user', 'monitor', 'server', 'budget']),
});
export type Transition = types.Transition;
/** Who or what caused a transition. */
export type TransitionActor = types.TransitionActor;

/** The message that is being answered, or the compaction under way. */
export const CurrentTask = object(
  {
    messageId: orNull(string),
    startedAt: time,
    attempt: count,
    phase: oneOf(['waiting-model', 'streaming', 'checking', 'calling-tool', 'concluding', 'saving', 'compacting']),
    outputChars: count,
    step: { ...count, description: 'With tools: which call of the model this is' },
    steps: { ...count, description: 'With tools: how many there may be' },
    tool: { type: 'string', description: 'The tool that is called' },
    toolSince: time,
  },
  ['step', 'steps', 'tool', 'toolSince'],
);
export type CurrentTask = types.CurrentTask;
/** The phase of the current task. */
export type TaskPhase = CurrentTask['phase'];

/** How many messages are waiting, are being answered, or have failed. */
export const QueueCounts = object({ queued: count, processing: count, failed: count, oldestQueuedAt: orNull(time) });
export type QueueCounts = types.QueueCounts;

/** pulse.json: what the monitor does and has done. */
export const PulseFile = {
  type: 'object',
  required: ['status', 'state'],
  properties: {
    status: oneOf(STATUSES),
    state: oneOf(STATES),
    reason: orNull(Reason),
    desired: oneOf(['running', 'stopped']),
    attention: { type: 'boolean', description: 'True if the block needs a person' },
    lastPulse: orNull(time),
    lastRun: { ...orNull(time), description: 'When the last reply ended' },
    nextWakeUp: orNull(time),
    error: orNull(string),
    currentTask: orNull(CurrentTask),
    startedAt: orNull(time),
    stoppedAt: orNull(time),
    uptimeSeconds: { type: 'number', minimum: 0 },
    restarts: count,
    consecutiveFailures: count,
    queue: QueueCounts,
    transitions: { ...listOf(Transition), description: 'The last 50 transitions' },
  },
} as const;
/** The content that `PulseFile` describes, with every field. */
export type BlockPulse = types.BlockPulse;
