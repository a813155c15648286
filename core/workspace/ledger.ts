// The ledger of the workspace: `ledger.jsonl`, one line for each model call, appended and never changed. Spending caps are computed from it,
// so that a reset, an archive or a restore under another name never lifts one.
//
// G1 A line is on disk when its promise resolves; lines that wait for each other cost one write and one fsync.
// G2 A write that failed leaves nothing behind (ledger-file.ts).
// G3 Writing and loading take turns: what is in memory is what is on disk, and what G4 keeps.
// G4 A call that could not be written was paid all the same: it counts, and is written with the next lines. `ready` refuses until then, so
//    that no more of them come together than calls are made at a time.
import { join } from 'node:path';
import PQueue from 'p-queue';
import type { CoreBus } from '../bus.ts';
import { type Spend, SpendBook } from './ledger-buckets.ts';
import { appendText, type OpenedLedger, openLedger, readBackward, readForward } from './ledger-file.ts';
import { type CarriedLine, type LedgerLine, parseLine } from './ledger-lines.ts';
import { type Reservation, Reservations } from './reservations.ts';

export type { Spend } from './ledger-buckets.ts';
export type { LedgerLine } from './ledger-lines.ts';

const NAME = 'ledger.jsonl';
/** A month and a day, whatever the time zone. */
const REMEMBERED_MS = 32 * 24 * 60 * 60 * 1000;

interface Waiting {
  readonly line: LedgerLine | CarriedLine;
  readonly reservation: Reservation | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Ledger {
  /** Of the calls that are under way. */
  readonly reservations = new Reservations();
  readonly #path: string;
  readonly #bus: CoreBus;
  readonly #now: () => number;
  #book: SpendBook | undefined;
  #waiting: Waiting[] = [];
  /** G4. */
  #unwritten: LedgerLine[] = [];
  /** G3. */
  readonly #queue = new PQueue({ concurrency: 1 });
  #isClosed = false;

  /** `now` in epoch milliseconds. Nothing is read before it is needed. */
  constructor(workspace: string, bus: CoreBus, now: () => number = Date.now) {
    this.#path = join(workspace, NAME);
    this.#bus = bus;
    this.#now = now;
  }

  /**
   * `reservation` is released in the moment in which the line counts. Rejects with STORAGE_FULL, or the system's own error; the file is then
   * as it was (G1, G2), and the line counts (G4).
   */
  append(line: LedgerLine, reservation?: Reservation): Promise<void> {
    return this.#put(line, reservation);
  }

  /** From now on `to` answers for what `from` has spent until now. */
  carry(from: string, to: string): Promise<void> {
    return this.#put({ at: new Date(this.#now()).toISOString(), type: 'carried', from, block: to });
  }

  /** Resolves when everything that was paid is in the file. Rejects as `append` does (G4). */
  async ready(): Promise<void> {
    if (this.#unwritten.length > 0) await this.#queue.add(() => this.#write([]));
  }

  /**
   * What a block has spent since an instant, in epoch milliseconds: the quarter of an hour that it falls into counts whole, and calls of
   * more than 32 days ago may be missing. Reads the file at the first call; rejects while that can't be read.
   */
  async spend(block: string, sinceMs: number): Promise<Spend> {
    return (await this.book()).spend(block, sinceMs);
  }

  /** The sums themselves, which follow what is appended. Rejects while the file can't be read. */
  async book(): Promise<Pick<SpendBook, 'spend'>> {
    return this.#book ?? (await this.#queue.add(() => this.#load()));
  }

  /** All calls that are in the file now, the oldest first, read in bounded pieces. */
  lines(): LedgerReading {
    return new LedgerReading(() => this.#queue.add(() => openLedger(this.#path)));
  }

  /** Waits for what was appended; later calls are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#queue.onIdle();
    await this.ready().catch((error: Error) => {
      this.#bus.emit('workspace.fault', { what: NAME, error: `${this.#unwritten.length} calls could not be written: ${error.message}` });
    });
  }

  #put(line: LedgerLine | CarriedLine, reservation?: Reservation): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the ledger is closed'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, reservation, resolve, reject });
      if (this.#waiting.length === 1) void this.#queue.add(() => this.#writeWaiting());
    });
  }

  async #writeWaiting(): Promise<void> {
    await Promise.resolve(); // lines of the same turn are written together
    const batch = this.#waiting;
    this.#waiting = [];
    let failure: { readonly error: unknown } | undefined;
    await this.#write(batch.map(({ line }) => line)).catch((error: unknown) => {
      failure = { error };
    });
    for (const { line, reservation, resolve, reject } of batch) {
      const isCall = !('type' in line);
      if (failure === undefined || isCall) this.#book?.add(line); // G3
      if (failure !== undefined && isCall) this.#unwritten.push(line); // G4
      reservation?.release();
      if (failure === undefined) resolve();
      else reject(failure.error);
    }
  }

  /** What could not be written before comes first. */
  async #write(lines: readonly (LedgerLine | CarriedLine)[]): Promise<void> {
    const all = [...this.#unwritten, ...lines];
    if (all.length === 0) return;
    await appendText(this.#path, all.map((line) => `${JSON.stringify(line)}\n`).join(''));
    this.#unwritten = [];
  }

  async #load(): Promise<SpendBook> {
    if (this.#book !== undefined) return this.#book;
    const book = new SpendBook();
    const opened = await openLedger(this.#path);
    try {
      const damaged = opened === undefined ? 0 : await fill(book, readBackward(opened), this.#now());
      if (damaged > 0) this.#bus.emit('workspace.fault', { what: NAME, error: `${damaged} damaged lines are not counted` });
    } finally {
      await opened?.file.close();
    }
    for (const line of this.#unwritten) book.add(line); // G4
    this.#book = book; // within the turn (G3): the next write adds to it
    return book;
  }
}

/** The calls of a ledger. Lines that can't be read are skipped. */
export class LedgerReading implements AsyncIterable<LedgerLine> {
  readonly #open: () => Promise<OpenedLedger | undefined>;
  #damagedLines = 0;
  #firstDamaged: number | undefined;

  constructor(open: () => Promise<OpenedLedger | undefined>) {
    this.#open = open;
  }

  /** How many lines were skipped; known when the reading has ended. */
  get damagedLines(): number {
    return this.#damagedLines;
  }

  /** Which of the lines that are not empty was the first one to be skipped, from 1. */
  get firstDamaged(): number | undefined {
    return this.#firstDamaged;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LedgerLine> {
    this.#damagedLines = 0;
    this.#firstDamaged = undefined;
    let number = 0;
    const opened = await this.#open();
    if (opened === undefined) return;
    try {
      for await (const texts of readForward(opened)) {
        for (const text of texts) {
          const line = parseLine(text);
          number += 1;
          if (line === undefined) {
            this.#damagedLines += 1;
            this.#firstDamaged ??= number;
          } else if (!('type' in line)) yield line;
        }
      }
    } finally {
      await opened.file.close();
    }
  }
}

/**
 * Takes lines, the newest first, until a whole piece of them is too old to matter: a single line may be old only because the clock was
 * wrong. Resolves with the number of damaged lines.
 */
async function fill(book: SpendBook, pieces: AsyncIterable<string[]>, now: number): Promise<number> {
  let damaged = 0;
  let newest: number | undefined;
  for await (const texts of pieces) {
    const lines = texts.map(parseLine);
    let isOld = lines.length > 0;
    for (const line of lines) {
      if (line === undefined) {
        damaged += 1;
        isOld = false;
        continue;
      }
      const at = Date.parse(line.at);
      newest ??= Math.min(now, at);
      isOld &&= at < newest - REMEMBERED_MS;
      book.addOlder(line);
    }
    if (isOld) break;
  }
  return damaged;
}
