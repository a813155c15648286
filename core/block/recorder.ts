// What a block does, made visible: each step on the bus, in the log and in pulse.json; the task at hand; the heartbeat.
//
// One-order: steps are written in their order, and writing them never holds the monitor up and never fails it: a fault is told on the bus.
// Quiet-beat: a heartbeat changes nothing that anybody waits for, and writes nothing when only the time has changed.
// Shown-anyway: steps that the disk did not take are shown all the same, as long as the process lives.
// Actor-wins: what runs is what the actor says. A pulse.json that was removed, reset or edited meanwhile is shown with the last step in it, and is
// written so with the next heartbeat.
import PQueue from 'p-queue';
import { beat, beginRun, type Step, takeStep, uptime } from '../monitor/pulse.ts';
import type { BlockPulse, BlockState, CurrentTask } from '../schemas/block.ts';
import type { BlockLog } from '../workspace/block-log.ts';
import { countQueue } from './chat-file.ts';
import type { BlockFileSet } from './files.ts';
import type { MachineContext } from './machine-setup.ts';
import type { World } from './workshop.ts';

export interface RecorderOptions {
  readonly name: string;
  readonly files: BlockFileSet;
  readonly log: BlockLog;
  readonly world: World;
  /** After a heartbeat: the list may show it. */
  onBeat(): void;
  /** A step is shown that the disk did not take (shown-anyway). */
  onUnwritten(): void;
  onFault(what: string, error: unknown): void;
}

/** Steps that wait for the disk at most: what is shown follows from the last ones. */
const KEPT_STEPS = 50;

/** A pulse.json in which only the time has changed is written no more often. */
const REFRESH_MS = 600_000;

/** The step that was told last; `seen` is missing before the first one. */
interface Told {
  readonly state: BlockState;
  /** Its reason and its time, as text to be compared. */
  readonly detail: string;
  readonly seen?: Pick<SeenState, 'context'> & { readonly now: number };
}

const NO_DETAIL = JSON.stringify([null, null]);

/** What is told of a snapshot of the block's actor. */
export interface SeenState {
  readonly state: BlockState;
  readonly context: Pick<MachineContext, 'reason' | 'wakeUpAt' | 'cause' | 'actor' | 'restarts' | 'consecutiveFailures'>;
}

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #writes = new PQueue({ concurrency: 1 });
  /** The step that was told last, for what comes next to be told apart from it. */
  #told: Told = { state: 'stopped', detail: NO_DETAIL };
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

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** A monitor begins; whatever the last one left in pulse.json is over. */
  begin(): void {
    const now = this.#options.world.now();
    this.#startedAt = new Date(now).toISOString();
    this.#lastBeat = now;
    this.#lastStep = undefined;
    this.#update((pulse) => beginRun(pulse, now));
  }

  /** A snapshot of the actor. One that shows no other state is no step, but its reason or its time may be another. */
  see({ state, context }: SeenState): void {
    const detail = JSON.stringify([context.reason, context.wakeUpAt]);
    const from = this.#told.state;
    if (state === from && detail === this.#told.detail) return;
    this.#told = { state, detail, seen: { context, now: this.#options.world.now() } };
    if (state !== from) this.#tell(from, state, context);
    this.#enqueue(() => this.#writeStep(state, context));
  }

  setTask(task: CurrentTask): void {
    this.#task = task;
    this.#enqueue(async () => {
      const { chat, pulse } = this.#options.files;
      const queue = await chat.read().then(countQueue, () => undefined);
      await pulse.update((old) => ({
        value: { ...this.#asItRuns(old), currentTask: task, queue: queue ?? old.queue, lastRun: this.#lastRun ?? old.lastRun },
        result: undefined,
      }));
    });
  }

  /** What pulse.json says, with what has happened since it was written. */
  present(written: BlockPulse): BlockPulse {
    const pulse = this.#withTold(this.#asItRuns(written));
    const lastPulse = this.#lastBeat > (Date.parse(pulse.lastPulse ?? '') || 0) ? new Date(this.#lastBeat).toISOString() : pulse.lastPulse;
    return { ...pulse, lastPulse, currentTask: this.#task, uptimeSeconds: uptime(pulse, this.#options.world.now()) };
  }

  /** A step that is still on its way to the disk. */
  #withTold(pulse: BlockPulse): BlockPulse {
    const { state, seen } = this.#told;
    if (seen === undefined || pulse.state === state) return pulse;
    return takeStep(pulse, { to: state, ...seen.context, now: seen.now, isWanted: pulse.desired === 'running', lastRun: this.#lastRun, queue: undefined });
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
    if (messageId === null) this.#update((pulse) => ({ ...this.#asItRuns(pulse), currentTask: this.#task }));
    else this.#lastRun = new Date(this.#options.world.now()).toISOString();
  }

  /** Resolves when everything up to now is written. */
  written(): Promise<void> {
    return this.#writes.onIdle();
  }

  beatEvery(ms: number): void {
    this.endBeat();
    this.#endBeat = this.#options.world.heartbeats.every(ms, () => this.#enqueue(() => this.#beat()));
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

  async #writeStep(to: BlockState, context: SeenState['context']): Promise<void> {
    const { files, world, onUnwritten } = this.#options;
    const { cause, actor, reason, wakeUpAt, restarts, consecutiveFailures } = context;
    const now = world.now();
    // A damaged file is no reason not to say so.
    const queue = await files.chat.read().then(countQueue, () => undefined);
    const isWanted =
      !isSentAway(to, context) &&
      (await files.config.read().then(
        ({ enabled }) => enabled,
        () => to !== 'stopped',
      ));
    const step: Step = { to, cause, actor, now, reason, wakeUpAt, restarts, consecutiveFailures, isWanted, lastRun: this.#lastRun, queue };
    this.#comingStep = step;
    try {
      await files.pulse.update((pulse) => ({ value: takeStep(this.#asItRuns(pulse), step), result: undefined }));
      this.#unwritten = [];
    } catch (error) {
      this.#unwritten = [...this.#unwritten, step].slice(-KEPT_STEPS);
      onUnwritten();
      throw error;
    } finally {
      this.#lastStep = step;
      this.#comingStep = undefined;
    }
  }

  /** Quiet-beat. */
  async #beat(): Promise<void> {
    const { files, world, onBeat } = this.#options;
    const now = world.now();
    this.#lastBeat = now;
    const queue = countQueue(await files.chat.read());
    const change = (pulse: BlockPulse): BlockPulse => {
      const next = beat(this.#asItRuns(pulse), now, queue, this.#task);
      return isOlderOnly(pulse, next) && Math.abs(now - Date.parse(pulse.lastPulse ?? '')) < REFRESH_MS ? pulse : next;
    };
    await files.pulse.update((pulse) => ({ value: change(pulse), result: undefined }), { quiet: this.#unwritten.length === 0 });
    this.#unwritten = [];
    onBeat();
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

  #update(change: (pulse: BlockPulse) => BlockPulse): void {
    this.#enqueue(() => this.#options.files.pulse.update((pulse) => ({ value: change(pulse), result: undefined })));
  }

  /** One-order. */
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

/** A person wants no monitor: config.json says so only when it has ended. */
function isSentAway(to: BlockState, { cause, actor }: SeenState['context']): boolean {
  return (to === 'stopping' || to === 'stopped') && actor === 'user' && cause !== 'restart';
}

/** True when `next` says nothing that `pulse` doesn't, but what time it is. */
function isOlderOnly(pulse: BlockPulse, next: BlockPulse): boolean {
  const same = { lastPulse: pulse.lastPulse, uptimeSeconds: pulse.uptimeSeconds };
  return JSON.stringify({ ...next, ...same }) === JSON.stringify(pulse);
}
