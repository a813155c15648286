// Spans (and events) on their way to the collector, in place of the package's BatchSpanProcessor, whose lost spans nobody can count and whose spans are made one by one.
//
// written-soon: see span-batch.ts. What may still change waits beside the open batch, and is written when that is sealed.
// bounded: so many wait, of so many bytes where a batch says how many it has, and one batch is under way. What comes besides is dropped.
// counted: each is either taken by the collector or counted as dropped.
// bounded-end: the end of the server waits only so long for the collector.
import type { QueueSettings } from './settings.ts';
import type { SpanBatch } from './span-batch.ts';
import type { Noted } from './spans.ts';

/** Why something did not reach the collector. */
export const DROP_REASONS = ['queue_full', 'export_failed', 'shutdown'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** What a queue reports. */
export interface QueueReports {
  dropped(reason: DropReason, count: number): void;
  failed(error: Error | undefined): void;
}

/** What became of a batch. */
export interface Sent {
  /** Undefined if the collector has it. */
  readonly failure?: Error | undefined;
  /** So many of its spans the collector has not taken all the same. */
  readonly refused?: number;
}

/** What goes to the collector together. */
export interface QueuedBatch {
  readonly count: number;
  /** It is too large for more. */
  readonly isFull?: boolean;
  /** So much it takes (bounded). Left out where that is bounded already. */
  readonly length?: number;
}

/** What waits is longer as it is written than the texts that were asked and answered: each value of their JSON has a name. */
const MAX_BYTES = 16 * 1024 * 1024;

/** So many are written one right after the other: the second one finds the code and the places in the caches of the processor, which the rest of a request needs otherwise. */
const TOGETHER = 64;

/** Brings batches to the collector. */
export interface Outlet<Batch extends QueuedBatch = SpanBatch> {
  open(): Batch;
  /** Has read the batch when it returns. */
  export(batch: Batch, done: (sent: Sent) => void): void;
}

/** A batch to which nothing is added any more. */
interface Sealed<Batch> {
  readonly batch: Batch;
  /** Whose `release` is due. */
  readonly held: readonly Noted<Batch>[];
}

/** Takes what spans are made of, or events. */
export class ExportQueue<Batch extends QueuedBatch = SpanBatch> {
  readonly #outlet: Outlet<Batch>;
  readonly #settings: QueueSettings;
  readonly #reports: QueueReports;
  /** The oldest first. */
  readonly #sealed: Sealed<Batch>[] = [];
  #open: Batch | undefined;
  /** What is written with others (TOGETHER), and how many of these there are. */
  readonly #soon = Array.from({ length: TOGETHER }, (): Noted<Batch> | undefined => undefined);
  #soonCount = 0;
  /** What is written when the open batch is sealed. */
  #late: Noted<Batch>[] = [];
  /** What was written into the open batch, and whose `release` is due when that has gone. */
  #held: Noted<Batch>[] = [];
  /** The spans of both. */
  #openCount = 0;
  /** All that wait. */
  #count = 0;
  /** Of the sealed batches. */
  #bytes = 0;
  #underWay: Promise<void> | undefined;
  #underWayCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(outlet: Outlet<Batch>, settings: QueueSettings, reports: QueueReports) {
    this.#outlet = outlet;
    this.#settings = settings;
    this.#reports = reports;
  }

  add(noted: Noted<Batch>): void {
    const { count } = noted;
    const { most, batch } = this.#settings;
    if (count === 0 || this.#isClosed || this.#count + count > most || this.#bytes + (this.#open?.length ?? 0) >= MAX_BYTES) {
      if (count > 0) this.#reports.dropped(this.#isClosed ? 'shutdown' : 'queue_full', count); // bounded
      noted.release?.();
      return;
    }
    if (this.#openCount > 0 && this.#openCount + count > batch) this.#seal();
    this.#count += count;
    this.#openCount += count;
    if (!noted.isReady) this.#late.push(noted);
    else if (noted.release === undefined && this.#openBatch().isFull === undefined) this.#writeSoon(noted);
    else {
      noted.write(this.#openBatch()); // it may be large
      if (noted.release !== undefined) this.#held.push(noted);
    }
    if (this.#openCount >= batch || this.#open?.isFull === true) this.#seal();
    this.#plan();
  }

  async forceFlush(): Promise<void> {
    while (this.#underWay !== undefined || this.#count > 0) await (this.#underWay ?? this.#export());
  }

  /** Exports what waits, for `ms` at most. */
  async shutdown(ms = this.#settings.timeoutMs): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([this.forceFlush(), over]); // bounded-end
    clearTimeout(timer);
    clearTimeout(this.#timer);
    const lost = this.#count + this.#underWayCount;
    for (const noted of [...this.#late, ...this.#held, ...this.#sealed.flatMap(({ held }) => held)]) noted.release?.();
    this.#late = [];
    this.#held = [];
    this.#soonCount = 0;
    this.#open = undefined;
    this.#sealed.length = 0;
    this.#bytes = 0;
    this.#count = 0;
    this.#openCount = 0;
    this.#underWayCount = 0;
    if (lost > 0) this.#reports.dropped('shutdown', lost);
  }

  #openBatch(): Batch {
    this.#open ??= this.#outlet.open();
    return this.#open;
  }

  #writeSoon(noted: Noted<Batch>): void {
    this.#soon[this.#soonCount] = noted;
    this.#soonCount += 1;
    if (this.#soonCount === TOGETHER) this.#writeTogether();
  }

  #writeTogether(): void {
    const batch = this.#openBatch();
    for (let index = 0; index < this.#soonCount; index += 1) {
      this.#soon[index]?.write(batch);
      this.#soon[index] = undefined;
    }
    this.#soonCount = 0;
  }

  #seal(): void {
    this.#writeTogether();
    const batch = this.#openBatch();
    const late = this.#late;
    for (const noted of late) noted.write(batch);
    this.#bytes += batch.length ?? 0;
    this.#sealed.push({ batch, held: [...this.#held, ...late.filter(({ release }) => release !== undefined)] });
    this.#late = [];
    this.#held = [];
    this.#open = undefined;
    this.#openCount = 0;
  }

  #plan(): void {
    if (this.#underWay !== undefined || this.#count === 0) return;
    if (this.#sealed.length > 0) void this.#export();
    else this.#timer ??= setTimeout(() => void this.#export(), this.#settings.delayMs).unref();
  }

  /** One batch. Never rejects. */
  #export(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#underWay !== undefined || this.#count === 0) return this.#underWay ?? Promise.resolve();
    if (this.#sealed.length === 0) this.#seal();
    const { batch, held } = this.#sealed.shift() as Sealed<Batch>;
    const { count } = batch;
    this.#count -= count;
    this.#bytes -= batch.length ?? 0;
    this.#underWayCount = count;
    const sent = sentBy(this.#outlet, batch, this.#settings.timeoutMs);
    for (const noted of held) noted.release?.();
    this.#underWay = sent.then(({ failure, refused = 0 }) => {
      this.#underWay = undefined;
      const lost = failure === undefined ? Math.min(refused, count) : count;
      if (lost > 0 && this.#underWayCount > 0) this.#reports.dropped('export_failed', lost); // counted: unless the end of the server has counted them
      if (failure !== undefined) this.#reports.failed(failure);
      this.#underWayCount = 0;
      if (!this.#isClosed) this.#plan();
    });
    return this.#underWay;
  }
}

function sentBy<Batch extends QueuedBatch>(outlet: Outlet<Batch>, batch: Batch, timeoutMs: number): Promise<Sent> {
  return new Promise((resolve) => {
    const late = { failure: new Error(`The collector has not answered within ${timeoutMs} ms.`) };
    const timer = setTimeout(() => resolve(late), timeoutMs).unref();
    const end = (sent: Sent): void => {
      clearTimeout(timer);
      resolve(sent);
    };
    try {
      outlet.export(batch, end);
    } catch (error) {
      end({ failure: error instanceof Error ? error : new Error(String(error)) });
    }
  });
}
