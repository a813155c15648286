// Reports what a block does: each step on the bus, in the log and in pulse.json; the current task; the heartbeat.
//
// one-order: steps are written in their order, and steps that come together share one write. Writing never delays or fails the monitor: the bus
//   reports a fault.
// quiet-beat: a heartbeat triggers no callbacks, and writes nothing if only the time has changed.
// shown-anyway: steps that could not be written are shown anyway until the process ends.
// actor-wins: the actor decides what runs. If pulse.json was removed, reset or edited meanwhile, it is shown with the last step added, and the next
//   heartbeat writes it so.

import PQueue from 'p-queue';
import type { BlockPulse, BlockState, CurrentTask, QueueCounts } from '../schemas/block-pulse.ts';
import type { BlockLog } from '../store/files/logs/block-log.ts';
import type { BlockDocuments } from '../store/port.ts';
import type { MachineContext } from './actor/types.ts';
import { countQueue } from './conversation/counts.ts';
import type { WorkspaceContext } from './reply/block-context.ts';
import { beat, beginRun, type Step, takeStep, uptime } from './status/pulse.ts';

/** What the writer needs from its block. */
export interface PulseWriterOptions {
  readonly name: string;
  readonly files: BlockDocuments;
  readonly log: BlockLog;
  readonly world: WorkspaceContext;
  /** Called when the shown pulse changes, because the list is then out of date. */
  onShown(): void;
  /** Called when a step is shown that could not be written. */
  onUnwritten(): void;
  onFault(what: string, error: unknown): void;
}

/** The most unwritten steps that are kept; the last ones determine what is shown. */
const KEPT_STEPS = 50;

/** Steps within this time share one write, because most replies and stops take several steps at once. */
const WRITE_DELAY_MS = 25;
/** The interval of writes in which only the time has changed. */
const REFRESH_MS = 600_000;

/** A step as it was reported. */
interface ToldStep extends SeenState {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly lastRun: string | null;
}

/** Facts from the other files at the time of a write; undefined if they can't be read. */
interface Facts {
  readonly queue: QueueCounts | undefined;
  readonly enabled: boolean | undefined;
}

type Change = (pulse: BlockPulse, facts: Facts) => BlockPulse;
/** A waiting change of pulse.json: a step, or another change. */
type Pending = ToldStep | Change;

const NO_DETAIL = JSON.stringify([null, null]);

/** The part of an actor's snapshot that is reported. */
export interface SeenState {
  readonly state: BlockState;
  readonly context: Pick<MachineContext, 'reason' | 'wakeUpAt' | 'cause' | 'actor' | 'restarts' | 'consecutiveFailures'>;
}

/** Reports what one block does. */
export class PulseWriter {
  readonly #options: PulseWriterOptions;
  readonly #writes = new PQueue({ concurrency: 1 });
  /** The step that was reported last, to recognise the next one. */
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
  /** shown-anyway. */
  #unwritten: Step[] = [];
  /** actor-wins: the last step of this run, written or not. */
  #lastStep: Step | undefined;
  /** The step that is being written; pulse.json on disk may or may not contain it yet. */
  #comingStep: Step | undefined;

  constructor(options: PulseWriterOptions) {
    this.#options = options;
  }

  /** Called when a monitor begins: clears what the last one left in pulse.json. */
  begin(): void {
    const now = this.#options.world.now();
    this.#startedAt = new Date(now).toISOString();
    this.#lastBeat = now;
    this.#lastStep = undefined;
    this.#write((pulse) => beginRun(pulse, now));
  }

  /** Takes a snapshot of the actor. If the state is the same, only a changed reason or wake-up time is recorded. */
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

  /** The pulse of the file, with everything that has happened since it was written. */
  present(written: BlockPulse): BlockPulse {
    const pulse = this.#withTold(this.#asItRuns(written));
    const lastPulse = this.#lastBeat > (Date.parse(pulse.lastPulse ?? '') || 0) ? new Date(this.#lastBeat).toISOString() : pulse.lastPulse;
    return { ...pulse, lastPulse, currentTask: this.#task, uptimeSeconds: uptime(pulse, this.#options.world.now()) };
  }

  /** Adds the step that is still being written. */
  #withTold(pulse: BlockPulse): BlockPulse {
    if (this.#told === undefined || pulse.state === this.#told.state) return pulse;
    return takeStep(pulse, stepOf(this.#told, { queue: undefined, enabled: pulse.desired === 'running' }));
  }

  /** Writes once, when the text begins; later the heartbeat writes its length. */
  growTask(outputChars: number): void {
    if (this.#task === null) return;
    const isFirst = this.#task.phase !== 'streaming';
    this.#task = { ...this.#task, phase: 'streaming', outputChars };
    if (isFirst) this.setTask(this.#task);
  }

  /** The reply to a message is over, or, with null, a compaction. The next step writes that. */
  endTask(messageId: string | null): void {
    if (this.#task?.messageId !== messageId) return;
    this.#task = null;
    if (messageId === null) this.#write((pulse) => ({ ...pulse, currentTask: null }));
    else this.#lastRun = new Date(this.#options.world.now()).toISOString();
  }

  /** Resolves when everything so far is written. */
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

  /** one-order. */
  #drain(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const round = this.#pending;
    this.#pending = [];
    if (round.length > 0) this.#enqueue(() => this.#writeRound(round));
  }

  async #writeRound(round: readonly Pending[]): Promise<void> {
    const { files, onUnwritten } = this.#options;
    // A damaged chat.json must not prevent writing the pulse.
    const queue = await files.conversation.entries().then(countQueue, () => undefined);
    const enabled = await files.config.read().then(
      (config) => config.enabled,
      () => undefined,
    );
    const facts = { queue, enabled };
    const items = round.map((pending) => (typeof pending === 'function' ? pending : stepOf(pending, facts)));
    const steps = items.filter((item) => typeof item !== 'function');
    const take = (pulse: BlockPulse, item: Step | Change): BlockPulse => (typeof item === 'function' ? item(pulse, facts) : takeStep(pulse, item));
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

  /** quiet-beat. */
  async #beat(): Promise<void> {
    const { files, world, onShown } = this.#options;
    const now = world.now();
    this.#lastBeat = now;
    const queue = countQueue(await files.conversation.entries());
    const change = (pulse: BlockPulse): BlockPulse => {
      const next = beat(this.#asItRuns(pulse), now, queue, this.#task);
      return isOlderOnly(pulse, next) && Math.abs(now - Date.parse(pulse.lastPulse ?? '')) < REFRESH_MS ? pulse : next;
    };
    await files.pulse.update((pulse) => ({ value: change(pulse), result: undefined }), { quiet: this.#unwritten.length === 0 });
    this.#unwritten = [];
    onShown();
  }

  /** shown-anyway, actor-wins. */
  #asItRuns(pulse: BlockPulse): BlockPulse {
    const seen = this.#withUnwritten(pulse);
    const last = this.#lastStep;
    if (last === undefined || seen.state === last.to || seen.state === this.#comingStep?.to) return seen;
    return takeStep({ ...seen, startedAt: this.#startedAt }, { ...last, lastRun: this.#lastRun });
  }

  /** shown-anyway. The file may contain a step although its write failed, if only the confirmation failed. */
  #withUnwritten(pulse: BlockPulse): BlockPulse {
    const isThere = ({ now, to }: Step): boolean => pulse.transitions.some((one) => one.to === to && Date.parse(one.at) === now);
    return this.#unwritten.filter((step) => !isThere(step)).reduce(takeStep, pulse);
  }

  #enqueue(work: () => Promise<void>): void {
    void this.#writes.add(() => work().catch((error: unknown) => this.#options.onFault('pulse.json', error)));
  }
}

function stepOf({ state, context, now, lastRun }: ToldStep, { queue, enabled }: Facts): Step {
  return { to: state, ...context, now, lastRun, queue, isWanted: !isSentAway(state, context) && (enabled ?? state !== 'stopped') };
}

/** True if a person has stopped the monitor, which config.json records only after its end. */
function isSentAway(to: BlockState, { cause, actor }: SeenState['context']): boolean {
  return (to === 'stopping' || to === 'stopped') && actor === 'user' && cause !== 'restart';
}

/** True if `next` differs from `pulse` only in the time. */
function isOlderOnly(pulse: BlockPulse, next: BlockPulse): boolean {
  const same = { lastPulse: pulse.lastPulse, uptimeSeconds: pulse.uptimeSeconds };
  return JSON.stringify({ ...next, ...same }) === JSON.stringify(pulse);
}
