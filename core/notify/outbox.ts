// The notices of one target that were not delivered yet: when each is sent, and again, and when it is given up.
//
// kept-first: a notice is a file before it is sent for the first time, and its file goes when it was delivered or given up. So a restart loses none, and a crash between
//   the delivery and the removal sends it again under the same id, by which its receiver knows it.
// one-at-a-time: a target gets one delivery after the other. Those with the fewest tries go first, so that what never arrives holds up nothing.
// own-clock: waits are monotonic. Of the wall clock only what a file says is used, and it makes no wait longer than the longest.
// bounded-outbox: a target has MAX_PENDING notices, of which the oldest goes. Above PER_HOUR an hour they are summed up in one.
// room-for-others: those of one block are summed up above BLOCK_PER_HOUR, so that a block whose messages fail every minute hides no call of another one that waits.
import { randomBytes } from 'node:crypto';
import { isObject } from '../base/json.ts';
import { faultText } from '../errors.ts';
import type { NoticeFiles } from '../store/port.ts';
import type { NotifyTarget } from '../types.ts';
import { type Counts, counted, type Notice, type NoticeBody, type NoticeEvent } from './notices.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** After the first tries. */
const FIRST_WAITS_MS: readonly number[] = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS];
/** Then hourly for a day. */
const HOURLY_TRIES = 24;
const MAX_TRIES = 1 + FIRST_WAITS_MS.length + HOURLY_TRIES;
/** When the block of a notice can't be read. */
const AFTER_FAULT_MS = MINUTE_MS;
const MAX_PENDING = 500;
const PER_HOUR = 60;
const BLOCK_PER_HOUR = 40;
const GONE = 410;

/** The approval that a notice is about. */
export interface AboutApproval {
  readonly block: string;
  readonly messageId: string;
  readonly id: string;
}

/** A notice that waits. */
interface Pending {
  /** Its `webhook-id`, and the name of its file. */
  readonly id: string;
  /** Absent for a summary, whose body is made when it is sent for the first time. */
  body: NoticeBody | undefined;
  readonly about: AboutApproval | undefined;
  counts: Counts | undefined;
  tries: number;
  /** Monotonic. */
  dueAt: number;
}

/** What is to be sent. */
export interface Taken {
  readonly body: NoticeBody;
  readonly about: AboutApproval | undefined;
}

/** How a target does. */
export interface OutboxState {
  readonly off: boolean;
  readonly dropped: number;
  readonly last: NotifyTarget['last'];
}

/** What an outbox works with. */
export interface OutboxOptions {
  readonly target: string;
  readonly files: NoticeFiles;
  /** Epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds. */
  monotonic(): number;
  /** One try. Resolves with the status; null without an answer. Never rejects. */
  deliver(id: string, body: NoticeBody): Promise<number | null>;
  /** The body of a summary. */
  summary(counts: Counts): NoticeBody;
  /** Whether a call still waits. */
  isWaiting(about: AboutApproval): Promise<boolean>;
  onFailed(status: number | null, isFinal: boolean): void;
  /** Gets an error, or a sentence. */
  onFault(error: unknown): void;
  /** Called when something is due at another time. */
  onPlanned(): void;
}

/** The outbox of one target. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #folder: string;
  /** The oldest first. */
  readonly #pending = new Map<string, Pending>();
  /** When notices were taken in the last hour, by this process, and of which block; a summary is of none. */
  #taken: { readonly at: number; readonly block: string | undefined }[] = [];
  #state: OutboxState = { off: false, dropped: 0, last: null };
  #sending: Promise<void> | undefined;
  /** That which counts what comes now; it is in `pending` as soon as it is on the disk. */
  #summary: Pending | undefined;
  readonly #unwritten = new Set<Pending>();
  #isClosed = false;
  /** Writes of files, one after the other. */
  #writes: Promise<void> = Promise.resolve();

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#folder = `pending-${options.target}`;
  }

  /** Reads what an earlier process has left. */
  async open(): Promise<void> {
    const { files, target, monotonic, now } = this.#options;
    const states = await files.all('targets', this.#onBad);
    this.#state = stateIn(states.find(([name]) => name === target)?.[1]);
    for (const [id, value] of await files.all(this.#folder, this.#onBad)) {
      const found = pendingIn(id, value);
      if (found === undefined) {
        this.#onBad(`notify/${this.#folder}/${id}.json`, 'it is not a notice');
        continue;
      }
      const waitMs = Math.min(Math.max(0, found.nextAt - now()), HOUR_MS); // own-clock
      const notice = { ...found, dueAt: monotonic() + waitMs };
      this.#pending.set(id, notice);
      if (notice.body === undefined) this.#summary = notice;
    }
  }

  readonly #onBad = (name: string, error: unknown): void => {
    this.#options.onFault(`${name} can't be read (${faultText(error)}); it is left as it is`);
  };

  get state(): OutboxState & { readonly pending: number } {
    return { ...this.#state, pending: this.#pending.size };
  }

  /** Whether it takes notices. */
  get isOn(): boolean {
    return !this.#state.off && !this.#isClosed;
  }

  /** When the next notice is to be sent, monotonic; undefined while there is none, and while one is being sent. */
  get dueAt(): number | undefined {
    if (this.#sending !== undefined || !this.isOn || this.#pending.size === 0) return undefined;
    let earliest = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#pending.values()) earliest = Math.min(earliest, dueAt);
    return earliest;
  }

  /** Takes what `make` resolves with; nothing for undefined. What is too much for the hour is only counted (bounded-outbox, room-for-others). Its files are written in the background. */
  take({ type, block }: Pick<Notice, 'type' | 'block'>, make: () => Promise<Taken | undefined>): void {
    if (!this.isOn) return;
    const now = this.#options.monotonic();
    this.#taken = this.#taken.filter(({ at }) => now - at < HOUR_MS);
    const ofBlock = this.#taken.filter((taken) => taken.block === block).length;
    if (this.#taken.length >= PER_HOUR || ofBlock >= BLOCK_PER_HOUR) this.#sumUp(type);
    else {
      this.#taken.push({ at: now, block });
      void this.#inTurn(async () => {
        const made = await make();
        if (made !== undefined) await this.#keep({ id: this.#newId(), ...made, counts: undefined, tries: 0, dueAt: now });
      });
    }
  }

  #sumUp(type: NoticeEvent): void {
    const isFirst = this.#summary === undefined;
    this.#summary ??= {
      id: this.#newId(),
      body: undefined,
      about: undefined,
      counts: {},
      tries: 0,
      dueAt: (this.#taken[0]?.at ?? this.#options.monotonic()) + HOUR_MS,
    };
    const open = this.#summary;
    open.counts = counted(open.counts ?? {}, type);
    if (isFirst) void this.#inTurn(() => this.#keep(open));
    else this.#writeSoon(open);
  }

  /** kept-first. One that the disk does not take is sent all the same. Runs in turn. */
  async #keep(notice: Pending): Promise<void> {
    await this.#write(notice).catch(this.#options.onFault);
    this.#pending.set(notice.id, notice);
    const [oldest] = this.#pending.keys();
    if (this.#pending.size > MAX_PENDING && oldest !== undefined) {
      this.#pending.delete(oldest);
      this.#note({ dropped: this.#state.dropped + 1 });
      await this.#options.files.remove(this.#folder, oldest);
    }
    this.#options.onPlanned();
  }

  /** Nobody has to decide about it any more. */
  async forget(approval: string): Promise<void> {
    for (const { id, about } of [...this.#pending.values()]) if (about?.id === approval) await this.#remove(id);
  }

  /** Sends what is due, and resolves when nothing is. Never rejects. */
  send(): Promise<void> {
    this.#sending ??= this.#sendDue().finally(() => {
      this.#sending = undefined;
      this.#options.onPlanned();
    });
    return this.#sending;
  }

  /** one-at-a-time. */
  async #sendDue(): Promise<void> {
    for (;;) {
      const now = this.#options.monotonic();
      const due = [...this.#pending.values()].filter(({ dueAt }) => dueAt <= now).sort((a, b) => a.tries - b.tries)[0];
      if (due === undefined || !this.isOn) return;
      await this.#try(due).catch((error: unknown) => {
        due.dueAt = this.#options.monotonic() + AFTER_FAULT_MS;
        this.#options.onFault(error);
      });
    }
  }

  async #try(notice: Pending): Promise<void> {
    const { isWaiting, deliver, monotonic, now } = this.#options;
    if (notice.about !== undefined && !(await isWaiting(notice.about))) return this.#remove(notice.id);
    const body = notice.body ?? (await this.#closeSummary(notice));
    const status = await deliver(notice.id, body);
    if (this.#isClosed && status === null) return; // it was cut off, and is tried again after the start
    this.#note({ last: { at: new Date(now()).toISOString(), status } });
    if (status !== null && status >= 200 && status < 300) return this.#remove(notice.id);
    if (status === GONE) this.#note({ off: true });
    notice.tries += 1;
    const isGivenUp = status !== GONE && notice.tries >= MAX_TRIES;
    notice.dueAt = monotonic() + waitAfter(notice.tries);
    this.#options.onFailed(status, isGivenUp || status === GONE);
    if (!isGivenUp) return this.#writeSoon(notice);
    this.#note({ dropped: this.#state.dropped + 1 });
    return this.#remove(notice.id);
  }

  /** From now on a summary says the same at each try, and what comes meanwhile is in another one. */
  async #closeSummary(notice: Pending): Promise<NoticeBody> {
    if (this.#summary === notice) this.#summary = undefined;
    const body = this.#options.summary(notice.counts ?? {});
    notice.body = body;
    this.#taken.push({ at: this.#options.monotonic(), block: undefined });
    await this.#inTurn(() => this.#write(notice));
    return body;
  }

  /** It may have notices again, and those that wait are sent now. */
  async turnOn(): Promise<void> {
    if (!this.#state.off) return;
    this.#note({ off: false });
    for (const notice of this.#pending.values()) notice.dueAt = this.#options.monotonic();
    this.#options.onPlanned();
    await this.#writes;
  }

  /** The target is gone: so is all that waits for it. */
  async erase(): Promise<void> {
    this.#isClosed = true;
    await this.#sending;
    for (const id of [...this.#pending.keys()]) await this.#remove(id);
    await this.#inTurn(() => this.#options.files.remove('targets', this.#options.target));
  }

  /** Sends nothing more. Resolves when all files are written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#sending;
    await this.#writes;
  }

  #note(change: Partial<OutboxState>): void {
    this.#state = { ...this.#state, ...change };
    void this.#inTurn(() => this.#options.files.write('targets', this.#options.target, this.#state));
  }

  async #remove(id: string): Promise<void> {
    if (!this.#pending.delete(id)) return;
    await this.#inTurn(() => this.#options.files.remove(this.#folder, id));
  }

  /** One write stands for all changes until it begins. */
  #writeSoon(notice: Pending): void {
    if (this.#unwritten.has(notice)) return;
    this.#unwritten.add(notice);
    void this.#inTurn(async () => {
      this.#unwritten.delete(notice);
      if (this.#pending.has(notice.id)) await this.#write(notice);
    });
  }

  /** Runs in turn. */
  async #write({ id, body, about, counts, tries, dueAt }: Pending): Promise<void> {
    const nextAt = this.#options.now() + Math.max(0, dueAt - this.#options.monotonic());
    await this.#options.files.write(this.#folder, id, { body, about, counts, tries, nextAt });
  }

  /** Never rejects. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#writes.then(work).catch(this.#options.onFault);
    this.#writes = done;
    return done;
  }

  /** Ids in the order of their making, as far as the clock says it. */
  #newId(): string {
    return `msg_${this.#options.now().toString(36).padStart(9, '0')}${randomBytes(9).toString('hex')}`;
  }
}

function waitAfter(tries: number): number {
  return FIRST_WAITS_MS[tries - 1] ?? HOUR_MS;
}

function stateIn(value: unknown): OutboxState {
  const { off, dropped, last } = isObject(value) ? value : {};
  const seen = isObject(last) && typeof last['at'] === 'string' ? { at: last['at'], status: typeof last['status'] === 'number' ? last['status'] : null } : null;
  return { off: off === true, dropped: typeof dropped === 'number' ? dropped : 0, last: seen };
}

/** What a file of ours says; undefined for one that is none. */
function pendingIn(id: string, value: unknown): (Pending & { readonly nextAt: number }) | undefined {
  if (!/^msg_[0-9a-z]{1,60}$/.test(id) || !isObject(value)) return undefined;
  const { body, about, counts, tries, nextAt } = value;
  if (!isObject(body) && !isObject(counts)) return undefined;
  return {
    id,
    body: isObject(body) ? (body as unknown as NoticeBody) : undefined,
    about: isObject(about) ? (about as unknown as AboutApproval) : undefined,
    counts: isObject(counts) ? (counts as Counts) : undefined,
    tries: typeof tries === 'number' ? tries : 0,
    nextAt: typeof nextAt === 'number' ? nextAt : 0,
    dueAt: 0,
  };
}
