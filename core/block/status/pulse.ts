// pulse.json shows people and programs what the monitor does: what its actor says now, and the last transitions. Pure: no I/O.
import type { BlockPulse, BlockState, CurrentTask, QueueCounts, Transition } from '../../schemas/block-pulse.ts';

const KEPT_TRANSITIONS = 50;

/** The part of a pulse that the actor of a block decides. A time is null as long as the actor has none; the one in the file then stays. */
export interface ActorPulse
  extends Pick<
    BlockPulse,
    | 'state'
    | 'status'
    | 'reason'
    | 'attention'
    | 'error'
    | 'nextWakeUp'
    | 'currentTask'
    | 'startedAt'
    | 'stoppedAt'
    | 'lastRun'
    | 'restarts'
    | 'consecutiveFailures'
  > {
  /** A person has stopped the monitor, which config.json records only after its end. */
  readonly isSentAway: boolean;
}

/** A transition; the file says from which state. */
export type Step = Omit<Transition, 'from'>;

/** What a pulse has besides the word of the actor. */
export interface PulseFacts {
  /** Epoch milliseconds. */
  readonly now: number;
  /** ISO 8601; null if this process has not seen the block do anything. */
  readonly lastPulse: string | null;
  /** The last steps, of which the file may lack some. */
  readonly steps: readonly Step[];
  /** Characters of the reply under way. */
  readonly characters: number;
  /** Undefined when the chat can't be read; the counts then stay as they were. */
  readonly queue?: QueueCounts | undefined;
  /** `enabled` in config.json; undefined when that can't be read. */
  readonly enabled?: boolean | undefined;
}

/** The pulse as it is now. `written` is that of the file, which may be old, or edited by hand. */
export function currentPulse(written: BlockPulse, { isSentAway, ...actor }: ActorPulse, facts: PulseFacts): BlockPulse {
  const startedAt = actor.startedAt ?? written.startedAt;
  const isWanted = !isSentAway && (facts.enabled ?? actor.state !== 'stopped');
  return {
    ...written,
    ...actor,
    desired: isWanted ? 'running' : 'stopped',
    currentTask: grown(actor.currentTask, facts.characters),
    lastPulse: facts.lastPulse ?? written.lastPulse,
    lastRun: actor.lastRun ?? written.lastRun,
    startedAt,
    stoppedAt: actor.stoppedAt ?? written.stoppedAt,
    uptimeSeconds: startedAt === null ? 0 : Math.max(0, Math.round((facts.now - Date.parse(startedAt)) / 1000)),
    queue: facts.queue ?? written.queue,
    transitions: withSteps(written, facts.steps),
  };
}

function grown(task: CurrentTask | null, characters: number): CurrentTask | null {
  return task === null || task.phase !== 'streaming' ? task : { ...task, outputChars: Math.max(task.outputChars, characters) };
}

/** Adds the steps that the file lacks. It may have a step although its write failed, if only the confirmation failed. */
function withSteps({ state, transitions }: BlockPulse, steps: readonly Step[]): Transition[] {
  const added: Transition[] = [];
  let from: BlockState = state;
  for (const { at, to, cause, actor } of steps) {
    if (transitions.some((one) => one.to === to && one.at === at)) continue;
    if (from !== to) added.push({ at, from, to, cause, actor });
    from = to;
  }
  return [...transitions, ...added].slice(-KEPT_TRANSITIONS);
}
