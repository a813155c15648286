// Spans on their way to the collector, in place of the package's BatchSpanProcessor, whose lost spans nobody can count and whose spans are made one by one (spans.ts).
//
// bounded: so many spans wait, and one batch is under way. What comes besides is dropped.
// counted: a span is either taken by the collector or counted as dropped.
// bounded-end: the end of the server waits only so long for the collector.
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { QueueSettings } from './settings.ts';
import type { Noted } from './spans.ts';

/** Why spans did not reach the collector. */
export const DROP_REASONS = ['queue_full', 'export_failed', 'shutdown'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** What a queue reports. */
export interface QueueReports {
  dropped(reason: DropReason, count: number): void;
  failed(error: Error | undefined): void;
}

/** `ExportResultCode.SUCCESS` of @opentelemetry/core, which is no package of our own choice. */
const SUCCESS = 0;

/** Takes what spans are made of. */
export class SpanQueue {
  readonly #exporter: SpanExporter;
  readonly #settings: QueueSettings;
  readonly #reports: QueueReports;
  #waiting: Noted[] = [];
  /** The spans that will be made of them. */
  #count = 0;
  #underWay: Promise<void> | undefined;
  #underWayCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(exporter: SpanExporter, settings: QueueSettings, reports: QueueReports) {
    this.#exporter = exporter;
    this.#settings = settings;
    this.#reports = reports;
  }

  add(noted: Noted): void {
    const { count } = noted;
    if (this.#isClosed || this.#count + count > this.#settings.most) {
      this.#reports.dropped(this.#isClosed ? 'shutdown' : 'queue_full', count); // bounded
      noted.lost?.();
    } else {
      this.#waiting.push(noted);
      this.#count += count;
      this.#plan();
    }
  }

  async forceFlush(): Promise<void> {
    while (this.#underWay !== undefined || this.#waiting.length > 0) await (this.#underWay ?? this.#export());
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
    this.#waiting = [];
    this.#count = 0;
    this.#underWayCount = 0;
    if (lost > 0) this.#reports.dropped('shutdown', lost);
  }

  #plan(): void {
    if (this.#underWay !== undefined) return;
    if (this.#count >= this.#settings.batch) void this.#export();
    else this.#timer ??= setTimeout(() => void this.#export(), this.#settings.delayMs).unref();
  }

  /** One batch. Never rejects. */
  #export(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#underWay !== undefined || this.#waiting.length === 0) return this.#underWay ?? Promise.resolve();
    const taken = this.#taken();
    const { length } = taken;
    this.#underWayCount = length;
    // The exporter has written them by the time that it returns, so none of them is kept until the collector has answered.
    this.#underWay = sent(this.#exporter, taken, this.#settings.timeoutMs).then((failure) => {
      this.#underWay = undefined;
      if (failure !== undefined) {
        if (this.#underWayCount > 0) this.#reports.dropped('export_failed', length); // counted: unless the end of the server has counted them
        this.#reports.failed(failure);
      }
      this.#underWayCount = 0;
      if (!this.#isClosed && this.#waiting.length > 0) this.#plan();
    });
    return this.#underWay;
  }

  /** The oldest ones, as many as a batch may have, and those of one at least. */
  #taken(): ReadableSpan[] {
    const spans: ReadableSpan[] = [];
    let taken = 0;
    for (const noted of this.#waiting) {
      if (taken > 0 && spans.length + noted.count > this.#settings.batch) break;
      spans.push(...noted.spans());
      this.#count -= noted.count;
      taken += 1;
    }
    this.#waiting.splice(0, taken);
    return spans;
  }
}

/** What has failed; undefined if the collector has the batch. */
function sent(exporter: SpanExporter, spans: ReadableSpan[], timeoutMs: number): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(new Error(`The collector has not answered within ${timeoutMs} ms.`)), timeoutMs).unref();
    const end = (failure: Error | undefined): void => {
      clearTimeout(timer);
      resolve(failure);
    };
    try {
      exporter.export(spans, ({ code, error }) => end(code === SUCCESS ? undefined : (error ?? new Error('The collector has refused it.'))));
    } catch (error) {
      end(error instanceof Error ? error : new Error(String(error)));
    }
  });
}
