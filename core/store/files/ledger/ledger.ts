// The ledger of the workspace: `ledger.jsonl`, one line for each model call, appended and never changed. Spending caps are computed from it,
// so that a reset, an archive or a restore under another name never lifts one.
//
// durable-line: a line is on disk when its promise resolves. Lines that wait together cost one write and one fsync.
// one-turn: writing and loading take turns, so that the sums in memory are those of the file and of what `paid-counts` keeps.
// paid-counts: a call that could not be written was paid all the same. It counts, and is written with the next lines, or by itself when
//   there is room again. `ready` refuses until then, so that no more such lines come together than calls are made at a time.
// one-step: there is no `await` between the sum of a block and a reservation, so of two calls the second one sees the first.
import { join } from 'node:path';
import PQueue from 'p-queue';
import { dayStart, monthStart } from '../../../base/calendar.ts';
import { Repeat } from '../../../base/repeat.ts';
import { judgeBudget } from '../../../block/costs/budget.ts';
import { reportCosts } from '../../../block/costs/report.ts';
import type { CoreBus } from '../../../bus.ts';
import type { CostsReport } from '../../../types.ts';
import type { CallToReserve, CostsQuery, LedgerLine, LedgerStore, Reserved, Spend, WorstCase } from '../../port.ts';
import { SpendBook } from './ledger-buckets.ts';
import { appendText, openLedger } from './ledger-file.ts';
import type { CarriedLine } from './ledger-lines.ts';
import { callsNewestFirst, fillBook, LedgerReading, RecentCalls } from './ledger-reading.ts';
import { Reservations } from './reservations.ts';

/** The name of the file. */
export const LEDGER_FILE = 'ledger.jsonl';

interface PendingLine {
  readonly line: LedgerLine | CarriedLine;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** What all blocks of a workspace have spent. */
export class Ledger implements LedgerStore {
  /** Of the calls that are under way. */
  readonly #reservations = new Reservations();
  /** Those that were appended last. */
  readonly #recent = new RecentCalls();
  readonly #path: string;
  readonly #bus: CoreBus;
  readonly #now: () => number;
  #book: SpendBook | undefined;
  #pending: PendingLine[] = [];
  /** paid-counts. */
  #unwritten: LedgerLine[] = [];
  /** paid-counts. */
  readonly #again = new Repeat(() => this.#flushed());
  /** one-turn. */
  readonly #queue = new PQueue({ concurrency: 1 });
  #isClosed = false;

  /** `now` in epoch milliseconds. Nothing is read before it is needed. */
  constructor(workspace: string, bus: CoreBus, now: () => number = Date.now) {
    this.#path = join(workspace, LEDGER_FILE);
    this.#bus = bus;
    this.#now = now;
  }

  async reserve(call: CallToReserve, signal: AbortSignal): Promise<Reserved> {
    const { block, id, worstCase } = call;
    const book = await this.#loaded();
    const held = this.#reservations.sum(block, id); // one-step
    const alone = this.#judge(book, call, worstCase);
    if (alone.kind === 'exceeded') return alone;
    const all = held === undefined ? worstCase : { usd: (worstCase.usd ?? 0) + held.usd, tokens: worstCase.tokens + held.tokens };
    if (this.#judge(book, call, all).kind === 'exceeded') return { kind: 'beside', changed: this.#reservations.changed(block, signal) };
    this.#reservations.hold(call);
    return alone;
  }

  release(call: Pick<CallToReserve, 'block' | 'id'>): void {
    this.#reservations.release(call);
  }

  /** After a failure the file is as it was. */
  append(line: LedgerLine): Promise<void> {
    return this.#recent.isRepeated(line) ? this.#flushed() : this.#put(line);
  }

  carry(from: string, to: string): Promise<void> {
    return this.#put({ at: new Date(this.#now()).toISOString(), type: 'carried', from, block: to });
  }

  async ready(): Promise<void> {
    if (this.#unwritten.length > 0) await this.#flushed();
  }

  /** Opens the file and closes it again. */
  async tellDamage(): Promise<void> {
    try {
      const opened = await this.#queue.add(() => openLedger(this.#path));
      await opened?.file.close();
    } catch (error) {
      this.#bus.emit('workspace.fault', { what: LEDGER_FILE, error: (error as Error).message });
    }
  }

  async spend<const T extends readonly number[]>(block: string, sinceMs: T): Promise<{ readonly [I in keyof T]: Spend }> {
    const book = await this.#loaded();
    return sinceMs.map((since) => book.spend(block, since)) as { [I in keyof T]: Spend };
  }

  async newest(block: string): Promise<number | undefined> {
    return (await this.#loaded()).newest(block);
  }

  /** Read in bounded pieces. */
  lines(): LedgerReading {
    return new LedgerReading(() => this.#queue.add(() => openLedger(this.#path)));
  }

  report({ by, ...filter }: CostsQuery): Promise<CostsReport> {
    return reportCosts(this.lines(), by, filter);
  }

  /** Read in bounded pieces. */
  newestFirst(block: string, sinceMs: number): AsyncIterable<LedgerLine> {
    return callsNewestFirst(() => this.#queue.add(() => openLedger(this.#path)), block, sinceMs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#again.end();
    await this.#queue.onIdle();
    await this.ready().catch((error: Error) => {
      this.#bus.emit('workspace.fault', { what: LEDGER_FILE, error: `${this.#unwritten.length} calls could not be written: ${error.message}` });
    });
  }

  #judge(book: SpendBook, { block, budget }: CallToReserve, worstCase: WorstCase) {
    const now = this.#now();
    const [day, month] = [book.spend(block, dayStart(now, budget.timezone)), book.spend(block, monthStart(now, budget.timezone))];
    return judgeBudget({ budget, day, month, worstCase, now });
  }

  #put(line: LedgerLine | CarriedLine): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the ledger is closed'));
    return new Promise((resolve, reject) => {
      this.#pending.push({ line, resolve, reject });
      if (this.#pending.length === 1) void this.#queue.add(() => this.#writePending()); // durable-line
    });
  }

  async #writePending(): Promise<void> {
    await Promise.resolve(); // lines of the same turn are written together
    const batch = this.#pending;
    this.#pending = [];
    let failure: { readonly error: unknown } | undefined;
    await this.#write(batch.map(({ line }) => line)).catch((error: unknown) => {
      failure = { error };
    });
    for (const { line, resolve, reject } of batch) {
      const isCall = !('type' in line);
      if (failure === undefined || isCall) this.#book?.add(line); // one-turn
      if (failure !== undefined && isCall) this.#keep(line);
      if (isCall && line.id !== undefined) this.#reservations.release({ block: line.block, id: line.id });
      if (failure === undefined) resolve();
      else reject(failure.error);
    }
  }

  /** paid-counts. */
  #keep(line: LedgerLine): void {
    this.#unwritten.push(line);
    this.#again.begin();
  }

  async #flushed(): Promise<void> {
    await this.#queue.add(() => this.#write([]));
  }

  /** What could not be written before comes first. */
  async #write(lines: readonly (LedgerLine | CarriedLine)[]): Promise<void> {
    const all = [...this.#unwritten, ...lines];
    if (all.length === 0) return;
    await this.#bus.time('ledger', () => appendText(this.#path, all.map((line) => `${JSON.stringify(line)}\n`).join('')));
    this.#unwritten = [];
  }

  /** The sums, which include what is appended later. */
  async #loaded(): Promise<SpendBook> {
    return this.#book ?? (await this.#queue.add(() => this.#load()));
  }

  async #load(): Promise<SpendBook> {
    if (this.#book !== undefined) return this.#book;
    const book = new SpendBook();
    const opened = await openLedger(this.#path);
    try {
      const damaged = opened === undefined ? 0 : await fillBook(book, opened, this.#now());
      if (damaged > 0) this.#bus.emit('workspace.fault', { what: LEDGER_FILE, error: `${damaged} damaged lines are not counted` });
    } finally {
      await opened?.file.close();
    }
    for (const line of this.#unwritten) book.add(line); // paid-counts
    this.#book = book; // still within the turn: the next write adds to it
    return book;
  }
}
