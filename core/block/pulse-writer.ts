// What a block does, made visible: each step on the bus, in the log and in pulse.json; the task at hand; the heartbeat.
//
// One-order: what happens is written in its order, what happens together by one write. Writing never holds the monitor up and never fails it: a
// fault is told on the bus.
// Quiet-beat: a heartbeat changes nothing that anybody waits for, and writes nothing when only the time has changed.
// Shown-anyway: steps that the disk did not take are shown all the same, as long as the process lives.
// Actor-wins: what runs is what the actor says. A pulse.json that was removed, reset or edited meanwhile is shown with the last step in it, and is
// written so with the next heartbeat.
import PQueue from 'p-queue';
import { beat, beginRun, type Step, takeStep, uptime } from '../monitor/pulse.ts';
import type { BlockPulse, BlockState, CurrentTask, QueueCounts } from '../schemas/block.ts';
import type { BlockLog } from '../workspace/block-log.ts';
import type { WorkspaceContext } from './block-context.ts';
import { countQueue } from './chat-file.ts';
import type { BlockFileSet } from './files.ts';
import type { MachineContext } from './machine-types.ts';

/** What the pulseWriter needs of its block. */
export interface PulseWriterOptions {
  readonly name: string;
  readonly files: BlockFileSet;
  readonly log: BlockLog;
  readonly world: WorkspaceContext;
  /** What is shown of the block is another: the list is out of date. */
  onShown(): void;
  /** A step is shown that the disk did not take (shown-anyway). */
  onUnwritten(): void;
  onFault(what: string, error: unknown): void;
}

/** Steps that wait for the disk at most: what is shown follows from the last ones. */
const KEPT_STEPS = 50;

/** What follows within this time travels with the first: most replies and stops take several steps at once. */
const WRITE_DELAY_MS = 25;
/** A pulse.json in which only the time has changed is written no more often. */
const REFRESH_MS = 600_000;

/** A step as it was told. */
interface ToldStep extends SeenState {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly lastRun: string | null;
}

/** What the other files say at the time of a write; undefined where they can't be read. */
interface Facts {
  readonly queue: QueueCounts | undefined;
  readonly enabled: boolean | undefined;
}

/** Something that pulse.json is to say: a step, or another change of it. */
type Pending = ToldStep | ((pulse: BlockPulse, facts: Facts) => BlockPulse);

const NO_DETAIL = JSON.stringify([null, null]);

/** What is told of a snapshot of the block's actor. */
export interface SeenState {
  readonly state: BlockState;
  readonly context: Pick<MachineContext, 'reason' | 'wakeUpAt' | 'cause' | 'actor' | 'restarts' | 'consecutiveFailures'>;
}

/** Writes down what one block does. */
export class PulseWriter {
  readonly #options: PulseWriterOptions;
  readonly #writes = new PQueue({ concurrency: 1 });
  /** The step that was told last, for what comes next to be told apart from it. */
  #told: ToldStep | undefined;
  #detail = NO_DETAIL;
  #pending: Pending[] = [];
  #timer: NodeJS.Timeout | undefined;
  #task: CurrentTask | null = null;
  #lastRun: string | null = null;
  #startedAt: string | null = null;
  /** Epoch milliseconds; of this run. */
  #lastBeat = 0;
  #endBeat: (() => void) | undefined;
  /** Shown-anyway. */
  #unwritten: Step[] = [];
  /** Actor-wins: of this run, whether the disk took it or not. */
  #lastStep: Step | undefined;
  /** While it is on its way to the disk, pulse.json is as before it or as after it. */
  #comingStep: Step | undefined;

  constructor(options: PulseWriterOptions) {
    this.#options = options;
  }

  /** A monitor begins; whatever the last one left in pulse.json is over. */
  begin(): void {
    const now = this.#options.world.now();
    this.#startedAt = new Date(now).toISOString();
    this.#lastBeat = now;
    this.#lastStep = undefined;
    this.#write((pulse) => beginRun(pulse, now));
  }

  /** A snapshot of the actor. One that shows no other state is no step, but its reason or its time may be another. */
  see({ state, context }: SeenState): void {
    const detail = JSON.stringify([context.reason, context.wakeUpAt]);
    const from = this.#told?.state ?? 'stopped';
    if (state === from && detail === this.#detail) return;
    this.#detail = detail;
    this.#told = { state, context, now: this.#options.world.now(), lastRun: this.#lastRun };
    if (state !== from) this.#tell(from, state, context);
    this.#write(this.#told);
    this.#options.onShown();
  }

  setTask(task: CurrentTask): void {
    this.#task = task;
    const lastRun = this.#lastRun;
    this.#write((pulse, { queue }) => ({ ...pulse, currentTask: task, queue: queue ?? pulse.queue, lastRun: lastRun ?? pulse.lastRun }));
  }

  /** What pulse.json says, with what has happened since it was written. */
  present(written: BlockPulse): BlockPulse {
    const pulse = this.#withTold(this.#asItRuns(written));
    const lastPulse = this.#lastBeat > (Date.parse(pulse.lastPulse ?? '') || 0) ? new Date(this.#lastBeat).toISOString() : pulse.lastPulse;
    return { ...pulse, lastPulse, currentTask: this.#task, uptimeSeconds: uptime(pulse, this.#options.world.now()) };
  }

  /** A step that is still on its way to the disk. */
  #withTold(pulse: BlockPulse): BlockPulse {
    if (this.#told === undefined || pulse.state === this.#told.state) return pulse;
    return takeStep(pulse, stepOf(this.#told, { queue: undefined, enabled: pulse.desired === 'running' }));
  }

  /** Written once, when text begins to come: its growth is for the heartbeat, and every word for the feed. */
  growTask(outputChars: number): void {
    if (this.#task === null) return;
    const isFirst = this.#task.phase !== 'streaming';
    this.#task = { ...this.#task, phase: 'streaming', outputChars };
    if (isFirst) this.setTask(this.#task);
  }

  /** The reply to a message is over, or, with null, a compaction. What comes after a reply writes that. */
  endTask(messageId: string | null): void {
    if (this.#task?.messageId !== messageId) return;
    this.#task = null;
    if (messageId === null) this.#write((pulse) => ({ ...pulse, currentTask: null }));
    else this.#lastRun = new Date(this.#options.world.now()).toISOString();
  }

  /** Resolves when everything up to now is written. */
  written(): Promise<void> {
    this.#drain();
    return this.#writes.onIdle();
  }

  beatEvery(ms: number): void {
    this.endBeat();
    this.#endBeat = this.#options.world.heartbeats.every(ms, () => {
      this.#drain();
      this.#enqueue(() => this.#beat());
    });
  }

  endBeat(): void {
    this.#endBeat?.();
    this.#endBeat = undefined;
  }

  #tell(from: BlockState, to: BlockState, { cause, actor, reason }: SeenState['context']): void {
    const { name, world, log } = this.#options;
    world.bus.emit('block.transitioned', { block: name, from, to, cause, actor });
    log.write(to === 'failed' ? 'ERROR' : 'INFO', `state.${to}`, { cause, by: actor, reason: reason?.message });
  }

  #write(pending: Pending): void {
    this.#pending.push(pending);
    this.#timer ??= setTimeout(() => this.#drain(), WRITE_DELAY_MS);
  }

  /** One-order. */
  #drain(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const round = this.#pending;
    this.#pending = [];
    if (round.length > 0) this.#enqueue(() => this.#writeRound(round));
  }

  async #writeRound(round: readonly Pending[]): Promise<void> {
    const { files, onUnwritten } = this.#options;
    // A damaged file is no reason not to say so.
    const queue = await files.chat.read().then(countQueue, () => undefined);
    const enabled = await files.config.read().then(
      (config) => config.enabled,
      () => undefined,
    );
    const items = round.map((pending) => (typeof pending === 'function' ? pending : stepOf(pending, { queue, enabled })));
    const steps = items.filter((item) => typeof item !== 'function');
    const take = (pulse: BlockPulse, item: Step | ((pulse: BlockPulse, facts: Facts) => BlockPulse)): BlockPulse =>
      typeof item === 'function' ? item(pulse, { queue, enabled }) : takeStep(pulse, item);
    this.#comingStep = steps.at(-1);
    try {
      await files.pulse.update((pulse) => ({ value: items.reduce(take, this.#asItRuns(pulse)), result: undefined }));
      this.#unwritten = [];
    } catch (error) {
      this.#unwritten = [...this.#unwritten, ...steps].slice(-KEPT_STEPS);
      if (steps.length > 0) onUnwritten();
      throw error;
    } finally {
      this.#lastStep = steps.at(-1) ?? this.#lastStep;
      this.#comingStep = undefined;
    }
  }

  /** Quiet-beat. */
  async #beat(): Promise<void> {
    const { files, world, onShown } = this.#options;
    const now = world.now();
    this.#lastBeat = now;
    const queue = countQueue(await files.chat.read());
    const change = (pulse: BlockPulse): BlockPulse => {
      const next = beat(this.#asItRuns(pulse), now, queue, this.#task);
      return isOlderOnly(pulse, next) && Math.abs(now - Date.parse(pulse.lastPulse ?? '')) < REFRESH_MS ? pulse : next;
    };
    await files.pulse.update((pulse) => ({ value: change(pulse), result: undefined }), { quiet: this.#unwritten.length === 0 });
    this.#unwritten = [];
    onShown();
  }

  /** Shown-anyway, actor-wins. */
  #asItRuns(pulse: BlockPulse): BlockPulse {
    const seen = this.#withUnwritten(pulse);
    const last = this.#lastStep;
    if (last === undefined || seen.state === last.to || seen.state === this.#comingStep?.to) return seen;
    return takeStep({ ...seen, startedAt: this.#startedAt }, { ...last, lastRun: this.#lastRun });
  }

  /** Shown-anyway. A step may be there although its writing failed: the disk took it, and did not confirm it. */
  #withUnwritten(pulse: BlockPulse): BlockPulse {
    const isThere = ({ now, to }: Step): boolean => pulse.transitions.some((one) => one.to === to && Date.parse(one.at) === now);
    return this.#unwritten.filter((step) => !isThere(step)).reduce(takeStep, pulse);
  }

  #enqueue(work: () => Promise<void>): void {
    void this.#writes.add(() => this.#attempt(work));
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.onFault('pulse.json', error);
    }
  }
}

function stepOf({ state, context, now, lastRun }: ToldStep, { queue, enabled }: Facts): Step {
  return { to: state, ...context, now, lastRun, queue, isWanted: !isSentAway(state, context) && (enabled ?? state !== 'stopped') };
}

/** A person wants no monitor: config.json says so only when it has ended. */
function isSentAway(to: BlockState, { cause, actor }: SeenState['context']): boolean {
  return (to === 'stopping' || to === 'stopped') && actor === 'user' && cause !== 'restart';
}

/** True when `next` says nothing that `pulse` doesn't, but what time it is. */
function isOlderOnly(pulse: BlockPulse, next: BlockPulse): boolean {
  const same = { lastPulse: pulse.lastPulse, uptimeSeconds: pulse.uptimeSeconds };
  return JSON.stringify({ ...next, ...same }) === JSON.stringify(pulse);
}
