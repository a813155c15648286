// The calls of a ledger, read from its file from either end in bounded pieces. Lines that can't be read are skipped.
//
// once: a call whose line is there twice is read once. The second one is near the first, because it is written with the next lines.
import type { LedgerLine, LedgerLines } from '../../port.ts';
import type { SpendBook } from './ledger-buckets.ts';
import { type OpenedLedger, readBackward, readForward } from './ledger-file.ts';
import { type CarriedLine, parseLine } from './ledger-lines.ts';

/** A month and a day, whatever the time zone. */
const REMEMBERED_MS = 32 * 24 * 60 * 60 * 1000;

/** More than are ever written at once. */
const REMEMBERED_IDS = 1024;

/** Opens the file; undefined when there is none. The reader closes it. */
type Open = () => Promise<OpenedLedger | undefined>;

/** once. */
export class RecentCalls {
  readonly #ids = new Set<string>();

  /** Asked once for each line, in the order of reading. */
  isRepeated(line: LedgerLine | CarriedLine): boolean {
    if ('type' in line || line.id === undefined) return false;
    if (this.#ids.has(line.id)) return true;
    this.#ids.add(line.id);
    if (this.#ids.size > REMEMBERED_IDS) {
      const [oldest = ''] = this.#ids;
      this.#ids.delete(oldest);
    }
    return false;
  }
}

/** All calls, the oldest first. */
export class LedgerReading implements LedgerLines {
  readonly #open: Open;
  #damagedLines = 0;
  #firstDamaged: number | undefined;

  constructor(open: Open) {
    this.#open = open;
  }

  get damagedLines(): number {
    return this.#damagedLines;
  }

  get firstDamaged(): number | undefined {
    return this.#firstDamaged;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LedgerLine> {
    this.#damagedLines = 0;
    this.#firstDamaged = undefined;
    let number = 0;
    const recent = new RecentCalls();
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
          } else if (!('type' in line) && !recent.isRepeated(line)) yield line;
        }
      }
    } finally {
      await opened.file.close();
    }
  }
}

/** The calls of a block after an instant, in epoch milliseconds, the newest first; those that it made under an earlier name as well. */
export async function* callsNewestFirst(open: Open, block: string, sinceMs: number): AsyncGenerator<LedgerLine> {
  const opened = await open();
  if (opened === undefined) return;
  try {
    let name = block;
    const recent = new RecentCalls();
    for await (const texts of readBackward(opened)) {
      let isOld = texts.length > 0;
      for (const text of texts) {
        const line = parseLine(text);
        if (line === undefined) continue;
        const isNew = Date.parse(line.at) > sinceMs;
        isOld &&= !isNew;
        if (line.block !== name) continue;
        if ('type' in line) name = line.from;
        else if (isNew && !recent.isRepeated(line)) yield line;
      }
      // Not at the first old line: the clock may have been wrong for a moment.
      if (isOld) return;
    }
  } finally {
    await opened.file.close();
  }
}

/**
 * Takes lines into `book`, the newest first, until a whole piece of them is too old to matter: a single line may be old only because the clock
 * was wrong. Resolves with the number of damaged lines.
 */
export async function fillBook(book: SpendBook, opened: OpenedLedger, now: number): Promise<number> {
  let damaged = 0;
  let newest: number | undefined;
  const recent = new RecentCalls();
  for await (const texts of readBackward(opened)) {
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
      if (!recent.isRepeated(line)) book.addOlder(line);
    }
    if (isOld) break;
  }
  return damaged;
}
