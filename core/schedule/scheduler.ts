// Sends the messages of schedules, of all blocks that run on this server, with one timer.
//
// message-first: a message is stored before `last` is. Where the server ends in between, the same run is found again, and its `clientId` makes it the same message.
// one-timer: it waits a minute at most, so that a clock that was changed, or a machine that slept, is noticed within a minute. Without blocks there is none.
// waits-for-the-block: while a block can't take messages, its runs wait; when it can, they are runs that were missed. A block at its cap leaves them out at once.
// counted-in-turns: runs that were missed are counted some in a turn of the event loop, and in each turn of one block: after a machine has slept, all blocks have some.
// never-guessed: where schedule.json is damaged nothing is sent, and each minute it is read again.
import { nextTurn } from '../base/next-turn.ts';
import { faultText, toBlockhouseError } from '../errors.ts';
import type { CoreBus, CoreEvents } from '../bus.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import type { Schedule } from '../schemas/block-config.ts';
import type { SkippedRuns } from '../schemas/block-api.ts';
import type { ScheduleStates } from '../store/port.ts';
import { ScheduleFault, type Timing } from './occurrences.ts';
import {
  afterRuns,
  clientIdOf,
  dayOf,
  type Due,
  dueInSteps,
  type FullState,
  leftToday,
  nextOf,
  scheduleIn,
  stateNow,
  timingOf,
  timingText,
  windowOf,
} from './plan.ts';
import type { ScheduledBlock, ScheduleWork, SchedulesOptions } from './work.ts';

/** one-timer. */
const LOOK_MS = 60_000;
/** Blocks whose messages are written at the same time. */
const AT_ONCE = 16;
/** A schedule pauses after so many failed runs in a row. */
export const MAX_FAILURES = 5;

/** What the scheduler works with. */
export interface SchedulerOptions extends SchedulesOptions {
  readonly work: ScheduleWork;
  onFault(error: unknown, block: string): void;
}

interface Entry {
  readonly block: ScheduledBlock;
  /** Epoch milliseconds. Undefined: nothing comes. */
  dueAt: number | undefined;
  /** Looks at the schedules of a block come one after the other. */
  turn: Promise<void>;
  /** Schedules with a run that was due while all blocks were halted. */
  readonly halted: Set<string>;
  /** The fault that was reported. */
  fault: string | undefined;
}

type Reason = keyof SkippedRuns;
/** What came of the runs of one schedule. */
interface Sent {
  readonly latest: number;
  readonly fired: number;
  readonly skipped: Partial<Record<Reason, number>>;
}

/** The schedules of the blocks that run. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #bus: CoreBus;
  readonly #entries = new Map<string, Entry>();
  readonly #onFinished = (fact: CoreEvents['message.finished']): void => this.#finished(fact);
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isClosed = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#bus = options.bus;
    this.#bus.on('message.finished', this.#onFinished);
  }

  /** Looks at the schedules of a block, which runs. */
  see(block: ScheduledBlock): void {
    if (this.#isClosed) return;
    const known = this.#entries.get(block.name);
    const entry = known?.block === block ? known : { block, dueAt: undefined, turn: Promise.resolve(), halted: new Set<string>(), fault: undefined };
    this.#entries.set(block.name, entry);
    void this.#look(entry);
  }

  dueAt(name: string): number | undefined {
    return this.#entries.get(name)?.dueAt;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#bus.off('message.finished', this.#onFinished);
    await Promise.all([...this.#entries.values()].map(({ turn }) => turn));
  }

  #arm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isClosed || this.#isLooking || this.#entries.size === 0) return;
    const now = this.#options.now();
    let wait = LOOK_MS;
    for (const { dueAt } of this.#entries.values()) if (dueAt !== undefined) wait = Math.min(wait, dueAt - now);
    this.#timer = setTimeout(() => void this.#lookAtAll(), Math.max(0, wait)).unref();
  }

  async #lookAtAll(): Promise<void> {
    const now = this.#options.now();
    const due = [...this.#entries.values()].filter((entry) => {
      if (!entry.block.isRunning) this.#entries.delete(entry.block.name);
      return entry.block.isRunning && entry.dueAt !== undefined && entry.dueAt <= now;
    });
    const next = due.values();
    this.#isLooking = true;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const entry of next) await this.#look(entry);
      }),
    );
    this.#isLooking = false;
    this.#arm();
  }

  /** Never rejects. */
  #look(entry: Entry): Promise<void> {
    entry.turn = entry.turn.then(async () => {
      if (this.#isClosed || this.#entries.get(entry.block.name) !== entry) return;
      try {
        await this.#options.work.pass(() => this.#turn(entry));
        entry.fault = undefined;
      } catch (error) {
        entry.dueAt = this.#options.now() + LOOK_MS;
        this.#tell(entry, error);
      }
      this.#arm();
    });
    return entry.turn;
  }

  /** Reports a fault once, until it changes. */
  #tell(entry: Entry, error: unknown): void {
    const fault = faultText(error);
    if (toBlockhouseError(error).code === 'SHUTTING_DOWN' || entry.fault === fault) return;
    entry.fault = fault;
    this.#options.onFault(error, entry.block.name);
  }

  async #turn(entry: Entry): Promise<void> {
    const { block } = entry;
    if (!block.isRunning) return this.#forget(entry);
    const config = await block.files.config.read();
    if (config.schedule.length === 0) return this.#forget(entry);
    const stored = await block.stored.schedules.read(); // never-guessed
    const states: Record<string, FullState> = {};
    const dues: (number | undefined)[] = [];
    for (const schedule of config.schedule) {
      const before = stateNow(stored[schedule.id], timingText(schedule, config.budget.timezone), this.#options.now());
      const { state, dueAt } = await this.#one(entry, config, schedule, before);
      states[schedule.id] = state;
      dues.push(dueAt);
    }
    await this.#keep(block, states);
    const coming = dues.filter((at) => at !== undefined);
    entry.dueAt = coming.length === 0 ? undefined : Math.min(...coming);
  }

  #forget(entry: Entry): void {
    entry.dueAt = undefined;
    this.#entries.delete(entry.block.name);
  }

  /** What somebody else has changed meanwhile, such as a pause, stays. */
  async #keep(block: ScheduledBlock, states: Readonly<Record<string, FullState>>): Promise<void> {
    await block.stored.schedules.update((now) => {
      const value = Object.fromEntries(
        Object.entries(states).map(([id, state]) => {
          const other = now[id];
          if (other === undefined) return [id, state];
          const last = Date.parse(other.last) > Date.parse(state.last) ? other.last : state.last;
          return [id, { ...other, ...state, last, failures: other.failures ?? 0, pausedBecause: other.pausedBecause ?? null }];
        }),
      );
      return { value: JSON.stringify(value) === JSON.stringify(now) ? now : value, result: undefined };
    });
  }

  async #one(
    entry: Entry,
    config: BlockConfig,
    schedule: Schedule,
    before: FullState,
  ): Promise<{ readonly state: FullState; readonly dueAt: number | undefined }> {
    const now = this.#options.now();
    const known = before.next === null ? Number.NaN : Date.parse(before.next);
    if (schedule.enabled === false || before.pausedBecause !== null) return { state: { ...before, next: null }, dueAt: undefined };
    if (known > now) return { state: before, dueAt: known };
    let state = before;
    try {
      const timing = timingOf(schedule, config.budget.timezone);
      const first = nextOf(timing, state);
      const isDue = first !== undefined && first <= now && !this.#mustWait(entry, schedule);
      const sent = isDue ? await this.#send(entry, config, schedule, { timing, state, now }) : undefined;
      if (sent !== undefined) state = afterRuns(state, { ...sent, day: dayOf(schedule, config.budget.timezone, now) });
      const next = nextOf(timing, state);
      const dueAt = next === undefined || next > now ? next : now + LOOK_MS; // waits-for-the-block
      return { state: { ...state, next: next === undefined ? null : new Date(next).toISOString() }, dueAt };
    } catch (error) {
      if (error instanceof ScheduleFault) return { state: { ...state, next: null }, dueAt: undefined }; // shown with the schedules
      throw error;
    }
  }

  /** waits-for-the-block. Asked before the runs are counted, which takes long after a long wait and would be done again at each look. */
  #mustWait({ block, halted }: Entry, { id }: Schedule): boolean {
    if (this.#options.work.isHalted()) {
      halted.add(id);
      return true;
    }
    return TAKES_NONE.has(block.state);
  }

  /** Undefined while the runs wait. */
  async #send(
    entry: Entry,
    config: BlockConfig,
    schedule: Schedule,
    { timing, state, now }: { readonly timing: Timing; readonly state: FullState; readonly now: number },
  ): Promise<Sent | undefined> {
    const { block } = entry;
    const due = await this.#due(dueInSteps(schedule, timing, state, now));
    if (due === undefined || this.#mustWait(entry, schedule) || (await isPaused(block, schedule))) return undefined;
    const all = due.fire.length + due.missed;
    if (block.state === 'paused') return this.#skip(block, schedule, due.latest, { cap: all });
    const missed = { [entry.halted.delete(schedule.id) ? 'halted' : 'missed']: due.missed };
    if (due.fire.length === 0) return this.#skip(block, schedule, due.latest, missed);
    if (await this.#options.work.isAtCap(block, config)) return this.#skip(block, schedule, due.latest, { cap: all });
    if (await hasOpenRun(block, schedule.id, due.fire)) return this.#skip(block, schedule, due.latest, { ...missed, overlap: due.fire.length });
    const left = leftToday(schedule, state, dayOf(schedule, config.budget.timezone, now));
    const fire = due.fire.slice(Math.max(0, due.fire.length - left));
    const fired = await this.#post(block, schedule, fire);
    const isFull = fired < fire.length;
    if (isFull && fired === 0) return undefined; // all of them wait
    const { skipped } = this.#skip(block, schedule, due.latest, { ...missed, cap: due.fire.length - fire.length });
    return { latest: isFull ? (fire[fired - 1] ?? due.latest) : due.latest, fired, skipped };
  }

  /** counted-in-turns. Undefined also where the server ends meanwhile: what is due then waits. */
  async #due(steps: Generator<void, Due | undefined>): Promise<Due | undefined> {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await nextTurn('schedules');
      if (this.#isClosed) return undefined;
    }
  }

  /** message-first. Resolves with the number of messages that had room in the queue. */
  async #post(block: ScheduledBlock, schedule: Schedule, runs: readonly number[]): Promise<number> {
    for (const [index, at] of runs.entries()) {
      try {
        const messageId = await this.#options.work.post(block, {
          content: schedule.message,
          clientId: clientIdOf(schedule.id, at),
          window: windowOf(schedule),
        });
        this.#bus.emit('schedule.fired', { block: block.name, schedule: schedule.id, at: new Date(at).toISOString(), id: messageId });
      } catch (error) {
        if (toBlockhouseError(error).code !== 'QUEUE_FULL') throw error;
        return index;
      }
    }
    return runs.length;
  }

  #skip(block: ScheduledBlock, schedule: Schedule, latest: number, reasons: Partial<Record<Reason, number>>): Sent {
    const skipped = Object.fromEntries(Object.entries(reasons).filter(([, count]) => count > 0)) as Sent['skipped'];
    for (const [reason, runs] of Object.entries(skipped)) {
      this.#bus.emit('schedule.skipped', { block: block.name, schedule: schedule.id, reason: reason as Reason, runs });
    }
    return { latest, fired: 0, skipped };
  }

  #finished({ block: name, id, status }: CoreEvents['message.finished']): void {
    const entry = this.#entries.get(name);
    if (entry === undefined || (status !== 'done' && status !== 'failed')) return;
    entry.turn = entry.turn.then(async () => {
      try {
        await this.#options.work.pass(() => this.#count(entry, id, status));
      } catch (error) {
        this.#tell(entry, error);
      }
    });
  }

  async #count({ block }: Entry, messageId: string, status: 'done' | 'failed'): Promise<void> {
    const schedule = scheduleIn((await block.files.conversation.message(messageId).catch(unlessGone))?.entry.clientId);
    if (schedule === undefined) return;
    await block.stored.schedules.update((states): { value: ScheduleStates; result: undefined } => {
      const state = states[schedule];
      const failures = status === 'done' ? 0 : (state?.failures ?? 0) + 1;
      if (state === undefined || failures === (state.failures ?? 0)) return { value: states, result: undefined };
      const isEnough = failures >= MAX_FAILURES && (state.pausedBecause ?? null) === null;
      return { value: { ...states, [schedule]: { ...state, failures, ...(isEnough && { pausedBecause: 'failures' as const }) } }, result: undefined };
    });
  }
}

/** In these states a block answers nothing that comes. One that is paused is at its cap, so its runs are left out. */
const TAKES_NONE: ReadonlySet<string> = new Set(['failed', 'stopping', 'stopped', 'unconfigured']);

/** The statuses of a message without an outcome. */
const OPEN: ReadonlySet<string> = new Set(['queued', 'processing', 'waiting-approval']);

/** Asked once the runs are counted, which takes long where many blocks have missed some: somebody may have paused the schedule meanwhile. */
async function isPaused({ stored }: ScheduledBlock, { id }: Schedule): Promise<boolean> {
  return ((await stored.schedules.read())[id]?.pausedBecause ?? null) !== null;
}

/** A person may have removed it. */
function unlessGone(error: unknown): undefined {
  if (toBlockhouseError(error).code !== 'MESSAGE_NOT_FOUND') throw error;
}

/** True while an earlier message of the schedule waits for its answer. One of these runs themselves is there where the server ended before that was noted (message-first). */
async function hasOpenRun({ files }: ScheduledBlock, schedule: string, runs: readonly number[]): Promise<boolean> {
  const own = new Set<string | undefined>(runs.map((at) => clientIdOf(schedule, at)));
  const entries = await files.conversation.entries();
  return entries.some(({ role, status, clientId }) => role === 'user' && OPEN.has(status) && scheduleIn(clientId) === schedule && !own.has(clientId));
}
