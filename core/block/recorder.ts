// What a monitor does, made visible: each step on the bus, in the log and in pulse.json; the task at hand; the heartbeat.
//
// E1 Writing pulse.json never holds the monitor up, and never fails it: a fault is told on the bus. Steps are written in their order.
// E2 A heartbeat is quiet: it changes nothing that anybody waits for.
// E3 Steps that the disk did not take are shown all the same, for as long as the process lives: nobody is told of a state that has ended.
// E4 What runs is what the monitor says: a pulse.json that was removed, reset or edited meanwhile is shown with the last step in it, and is written
//    so with the next heartbeat.
import { type MonitorContext, stateWord } from '../monitor/machine.ts';
import { beat, beginRun, type Step, takeStep, uptime } from '../monitor/pulse.ts';
import type { BlockPulse, BlockState, CurrentTask } from '../schemas/block.ts';
import type { BlockLog } from '../workspace/block-log.ts';
import { countQueue } from './chat-file.ts';
import type { BlockFileSet } from './files.ts';
import type { World } from './workshop.ts';

export interface RecorderOptions {
  readonly name: string;
  readonly files: BlockFileSet;
  readonly log: BlockLog;
  readonly world: World;
  /** A heartbeat was written: the list may show it. */
  onBeat(): void;
  /** A step is shown that the disk did not take (E3). */
  onUnwritten(): void;
  onFault(what: string, error: unknown): void;
}

/** Steps that wait for the disk at most: what is shown follows from the last ones. */
const KEPT_STEPS = 50;

/** What the recorder reads of a snapshot of the monitor. */
export interface MonitorSnapshot {
  readonly value: unknown;
  readonly context: MonitorContext;
}

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #waiting = new Set<(word: BlockState) => void>();
  #word: BlockState = 'stopped';
  /** Reason and time of the state, as they were written. */
  #detail = '';
  #task: CurrentTask | null = null;
  #lastRun: string | null = null;
  #startedAt: string | null = null;
  #heartbeat: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();
  /** E3. */
  #unwritten: Step[] = [];
  /** E4: of this run, whether the disk took it or not. */
  #lastStep: Step | undefined;
  /** While it is on its way to the disk, pulse.json is as before it or as after it. */
  #comingStep: Step | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  get state(): BlockState {
    return this.#word;
  }

  /** A monitor begins; whatever the last one left in pulse.json is over. */
  begin(): void {
    const now = this.#options.world.now();
    this.#startedAt = new Date(now).toISOString();
    this.#lastStep = undefined;
    this.#update((pulse) => beginRun(pulse, now));
  }

  /** A step of the monitor. One that leads to no other state is none, but its reason or its time may be another. */
  step({ value, context }: MonitorSnapshot): void {
    const to = stateWord(value);
    if (to === undefined) return;
    const from = this.#word;
    const detail = JSON.stringify([context.reason, context.wakeUpAt]);
    if (to === from && detail === this.#detail) return;
    this.#word = to;
    this.#detail = detail;
    if (to !== from) this.#tell(from, to, context);
    this.#enqueue(() => this.#writeStep(to, context));
    for (const look of [...this.#waiting]) look(to);
  }

  /** Resolves at the next step that leads to such a state. */
  until(condition: (word: BlockState) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (word: BlockState): void => {
        if (!condition(word)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
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

  /** What pulse.json says, with what has grown since it was written. */
  present(written: BlockPulse): BlockPulse {
    const pulse = this.#asItRuns(written);
    return { ...pulse, currentTask: this.#task ?? pulse.currentTask, uptimeSeconds: uptime(pulse, this.#options.world.now()) };
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
    return this.#last;
  }

  beatEvery(ms: number): void {
    this.endBeat();
    this.#heartbeat = setInterval(() => this.#enqueue(() => this.#beat()), ms);
    this.#heartbeat.unref();
  }

  endBeat(): void {
    clearInterval(this.#heartbeat);
  }

  #tell(from: BlockState, to: BlockState, { cause, actor, reason }: MonitorContext): void {
    const { name, world, log } = this.#options;
    world.bus.emit('block.transitioned', { block: name, from, to, cause, actor });
    log.write(to === 'failed' ? 'ERROR' : 'INFO', `state.${to}`, { cause, by: actor, reason: reason?.message });
  }

  async #writeStep(to: BlockState, context: MonitorContext): Promise<void> {
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

  /** E2. */
  async #beat(): Promise<void> {
    const { files, world, onBeat } = this.#options;
    const queue = countQueue(await files.chat.read());
    const quiet = this.#unwritten.length === 0;
    await files.pulse.update((pulse) => ({ value: beat(this.#asItRuns(pulse), world.now(), queue, this.#task), result: undefined }), { quiet });
    this.#unwritten = [];
    onBeat();
  }

  /** E3, E4. */
  #asItRuns(pulse: BlockPulse): BlockPulse {
    const seen = this.#withUnwritten(pulse);
    const last = this.#lastStep;
    if (last === undefined || seen.state === last.to || seen.state === this.#comingStep?.to) return seen;
    return takeStep({ ...seen, startedAt: this.#startedAt }, { ...last, lastRun: this.#lastRun });
  }

  /** E3. A step may be there although its writing failed: the disk took it, and did not confirm it. */
  #withUnwritten(pulse: BlockPulse): BlockPulse {
    const isThere = ({ now, to }: Step): boolean => pulse.transitions.some((one) => one.to === to && Date.parse(one.at) === now);
    return this.#unwritten.filter((step) => !isThere(step)).reduce(takeStep, pulse);
  }

  #update(change: (pulse: BlockPulse) => BlockPulse): void {
    this.#enqueue(() => this.#options.files.pulse.update((pulse) => ({ value: change(pulse), result: undefined })));
  }

  /** E1. */
  #enqueue(work: () => Promise<void>): void {
    this.#last = this.#last.then(() => this.#attempt(work));
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
function isSentAway(to: BlockState, { cause, actor }: MonitorContext): boolean {
  return (to === 'stopping' || to === 'stopped') && actor === 'user' && cause !== 'restart';
}
