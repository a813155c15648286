// What blocks have spent, in PostgreSQL.
//
// one-step: of two reservations of a block, on whichever servers, the second one sees the first: both hold the lock of the block's budget while they look.
// counted-once: a line has a key of its caller, its time and its id, so that one whose answer was lost is sent again as it is.
// paid-counts: a call that could not be written was paid all the same. It waits in memory and is written with the next lines, or by itself when the database is back;
//   `ready` refuses until then.
// with-its-line: what a block has spent is mostly asked right after its line is written. So the statement of a line also answers what was asked last of its block.
//   That answer is given once, and for a tenth of a second. Reservations never use it.
// with-its-answer: a line that is handed over waits for the statement that settles its message. It is written alone when that has not come within a second, when what a block
//   has spent is asked meanwhile, or when that statement's outcome is not known.
// written-once: of calls that end at the same time, each writes another line, and waits for those that others write.
// ends-with-its-server: reservations of a server that is given up go with it.
import { randomUUID } from 'node:crypto';
import { dayStart, monthStart } from '../../base/calendar.ts';
import { Repeat } from '../../base/repeat.ts';
import { hasCaps, judgeBudget } from '../../block/costs/budget.ts';
import type { CostsReport } from '../../types.ts';
import type { BudgetVerdict, CallToReserve, CostsQuery, LedgerLine, LedgerLines, LedgerStore, Reserved, Spend } from '../port.ts';
import { countable } from '../parts/spend-days.ts';
import { reportOf } from './cost-sums.ts';
import { KnownSpends } from './known-spends.ts';
import type { Database, Run } from './pool.ts';
import * as sql from './sql/ledger.ts';

/** What a ledger works with. */
export interface PostgresLedgerOptions {
  readonly database: Database;
  /** The id of this server's membership now; null where it has none. */
  node(): string | null;
  /** Epoch milliseconds by the database's clock. */
  now(): number;
  /** Monotonic milliseconds. */
  clock?(): number;
}

/** What a statement returns of a line. */
export interface LineRow {
  readonly at: Date;
  readonly call_id: string;
  readonly block: string;
  readonly provider: string;
  readonly model: string;
  readonly purpose: LedgerLine['purpose'];
  readonly message_id: string | null;
  readonly usage: LedgerLine['usage'];
  readonly cost_usd: number | null;
  readonly failed: boolean;
  readonly credential: string | null;
  readonly step: number | null;
}

/** What the statement of a line answers, for each instant that was asked. */
export type SpendRow = Spend & { readonly is_new: boolean };

/** A line on its way with the answer that it has paid for. */
export interface LineWithAnswer {
  /** For `lineParts` in sql/ledger.ts. */
  readonly values: readonly unknown[];
  written(spends: readonly SpendRow[]): void;
  /** Nothing is known of the outcome. */
  failed(): void;
}

/** with-its-answer. */
const HANDED_MS = 1000;
/** A reservation of another server may have ended meanwhile. */
const LOOK_AGAIN_MS = 1000;
const LINES_AT_ONCE = 1000;
/** More than any sum of money that is meant; the column has nine digits before the point. */
export const MOST_USD = 99_999_999;
/** PostgreSQL has no such texts. */
const NO_TEXT = /[\p{Surrogate}\0]/gu;

/** What all blocks of a workspace have spent. */
export class PostgresLedger implements LedgerStore {
  readonly #database: Database;
  readonly #node: () => string | null;
  readonly #now: () => number;
  /** paid-counts. */
  #unwritten: LedgerLine[] = [];
  /** written-once: those of them that are on their way. */
  readonly #writing = new Map<LedgerLine, Promise<void>>();
  /** paid-counts. */
  readonly #again = new Repeat(() => this.ready());
  /** with-its-answer: by the id of the call. */
  readonly #handed = new Map<string, LedgerLine>();
  /** Calls that may have a reservation. */
  readonly #held = new Set<string>();
  /** Reservations that ended without a line. */
  #released: string[] = [];
  /** By block: who waits for room beside its calls under way. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** with-its-line. */
  readonly #spends: KnownSpends;
  #isClosed = false;

  constructor({ database, node, now, clock = () => performance.now() }: PostgresLedgerOptions) {
    this.#database = database;
    this.#node = node;
    this.#now = now;
    this.#spends = new KnownSpends(clock);
  }

  async reserve(call: CallToReserve, signal: AbortSignal): Promise<Reserved> {
    if (!hasCaps(call.budget)) return (await this.#stand(this.#database.query, call)).alone;
    const wasHeld = this.#held.has(call.id); // for an attempt before this one
    this.#held.add(call.id); // also where the answer to the commit is lost
    const reserved = await this.#database.transaction(async (run): Promise<BudgetVerdict | 'beside'> => {
      await run(sql.LOCK, [call.block]); // one-step
      const { usd, tokens } = call.worstCase;
      const { alone, beside, isTaken } = await this.#stand(run, call, [this.#node(), moneyOf(usd), Math.ceil(tokens)]);
      const isRoom = alone.kind !== 'exceeded' && beside.kind !== 'exceeded';
      if (!isRoom && isTaken) await run(sql.RELEASE, [[call.id]]);
      return isRoom || alone.kind === 'exceeded' ? alone : 'beside';
    });
    if (!wasHeld && (reserved === 'beside' || reserved.kind !== 'ok')) this.#held.delete(call.id);
    return reserved === 'beside' ? { kind: 'beside', changed: this.#changed(call.block, signal) } : reserved;
  }

  /** What can't be taken back now is taken back a second later. */
  release({ block, id }: Pick<CallToReserve, 'block' | 'id'>): void {
    if (!this.#held.delete(id)) return;
    this.#released.push(id);
    void this.#takeBack(block);
  }

  async append(line: LedgerLine): Promise<void> {
    if (this.#isClosed) throw new Error('the ledger is closed');
    this.#unwritten.push(line.id === undefined ? { ...line, id: randomUUID() } : line);
    await this.ready();
  }

  /** with-its-answer. */
  hand(line: LedgerLine): void {
    const { id = randomUUID() } = line;
    this.#handed.set(id, { ...line, id });
    this.#held.delete(id); // its reservation ends with it
    setTimeout(() => void this.#writeHanded(({ id: other }) => other === id).catch(() => undefined), HANDED_MS).unref(); // paid-counts
  }

  /** with-its-answer. Undefined for a line that is written alone, or was. */
  send({ id = '', block }: LedgerLine): LineWithAnswer | undefined {
    const line = this.#handed.get(id);
    if (line === undefined) return undefined;
    this.#handed.delete(id);
    const sinceMs = this.#spends.begin(block);
    return {
      values: [...valuesOf(line), sinceMs.map(isoOf)],
      written: (spends) => this.#written(line, sinceMs, spends),
      failed: () => {
        this.#spends.end(block, sinceMs);
        this.#unwritten.push(line);
        this.#again.begin();
      },
    };
  }

  async ready(): Promise<void> {
    try {
      await this.#writeUnwritten();
    } catch (error) {
      this.#again.begin();
      throw error;
    }
  }

  /** written-once. */
  async #writeUnwritten(): Promise<void> {
    const next = (): LedgerLine | undefined => this.#unwritten.find((line) => !this.#writing.has(line));
    for (let line = next(); line !== undefined; line = next()) await this.#write(line);
    await Promise.all(this.#writing.values());
  }

  #write(line: LedgerLine): Promise<void> {
    const written = this.#add(line).finally(() => this.#writing.delete(line));
    this.#writing.set(line, written);
    return written;
  }

  async #add(line: LedgerLine): Promise<void> {
    const sinceMs = this.#spends.begin(line.block);
    let rows: readonly SpendRow[];
    try {
      rows = await this.#database.query<SpendRow>(sql.ADD, [...valuesOf(line), sinceMs.map(isoOf)]); // counted-once
    } catch (error) {
      this.#spends.end(line.block, sinceMs);
      throw error;
    }
    this.#unwritten = this.#unwritten.filter((one) => one !== line);
    this.#written(line, sinceMs, rows);
  }

  #written({ id, block }: LedgerLine, sinceMs: readonly number[], rows: readonly SpendRow[]): void {
    const spends = rows.filter(({ is_new }) => is_new).map(({ usd, tokens }) => ({ usd, tokens }));
    this.#spends.end(block, sinceMs, spends);
    if (id !== undefined) this.#held.delete(id);
    this.#tell(block);
  }

  /** Writes those alone that have not gone with their answers. Rejects as `append` does. */
  async #writeHanded(isMeant: (line: LedgerLine) => boolean): Promise<void> {
    const lines = [...this.#handed.values()].filter(isMeant);
    if (lines.length === 0) return;
    for (const line of lines) {
      this.#handed.delete(line.id ?? '');
      this.#unwritten.push(line);
    }
    await this.ready();
  }

  async carry(from: string, to: string): Promise<void> {
    if (from === to) return;
    await this.#database.transaction(async (run) => {
      for (const block of [from, to].sort()) await run(sql.LOCK, [block]);
      await run(sql.CARRY, [from, to]);
    });
    for (const block of [from, to]) this.#spends.forget(block);
  }

  /** A database keeps its own order: there is nothing to open. */
  async tellDamage(): Promise<void> {
    await Promise.resolve();
  }

  /** Writes the calls that wait. Rejects as `append` does: what a database that is away does not have is lost with the process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#again.end();
    await this.#writeHanded(() => true);
    await this.ready();
  }

  async spend<const T extends readonly number[]>(block: string, sinceMs: T): Promise<{ readonly [I in keyof T]: Spend }> {
    await this.#writeHanded((line) => line.block === block);
    const known = this.#spends.take(block, sinceMs);
    return (known ?? (await this.#database.query<Spend>(sql.SPEND, [block, sinceMs.map(isoOf)]))) as { [I in keyof T]: Spend };
  }

  async newest(block: string): Promise<number | undefined> {
    await this.#writeHanded((line) => line.block === block);
    const [row] = await this.#database.query<{ at: Date | null }>(sql.NEWEST, [block]);
    return row?.at?.getTime();
  }

  async *newestFirst(block: string, sinceMs: number): AsyncGenerator<LedgerLine> {
    let before: readonly [at: unknown, id: string] = ['infinity', ''];
    for (;;) {
      const rows = await this.#database.query<LineRow>(sql.LINES_BACK, [block, isoOf(sinceMs), ...before, LINES_AT_ONCE]);
      yield* rows.map(lineOf);
      const last = rows.at(-1);
      if (last === undefined || rows.length < LINES_AT_ONCE) return;
      before = [last.at, last.call_id];
    }
  }

  report(query: CostsQuery): Promise<CostsReport> {
    return reportOf(this.#database, query);
  }

  lines(): LedgerLines {
    const database = this.#database;
    return {
      damagedLines: 0,
      firstDamaged: undefined,
      async *[Symbol.asyncIterator]() {
        let after: readonly [at: unknown, id: string] = ['-infinity', ''];
        for (;;) {
          const rows = await database.query<LineRow>(sql.LINES, [...after, LINES_AT_ONCE]);
          yield* rows.map(lineOf);
          const last = rows.at(-1);
          if (last === undefined || rows.length < LINES_AT_ONCE) return;
          after = [last.at, last.call_id];
        }
      },
    };
  }

  /** The verdict on a call alone, and beside the block's calls under way. */
  /** With `hold`, the call has its reservation then: the server, USD and tokens. */
  async #stand(
    run: Run,
    { id, block, budget, worstCase }: CallToReserve,
    hold: readonly unknown[] = [],
  ): Promise<{ alone: BudgetVerdict; beside: BudgetVerdict; isTaken: boolean }> {
    type Stand = Readonly<Record<'day_usd' | 'day_tokens' | 'month_usd' | 'month_tokens' | 'held_usd' | 'held_tokens', number>> & {
      readonly is_taken: boolean;
    };
    const now = this.#now();
    const starts = [dayStart(now, budget.timezone), monthStart(now, budget.timezone)].map(isoOf);
    const [row] = await run<Stand>(hold.length > 0 ? sql.STAND_AND_HOLD : sql.STAND, [block, ...starts, id, ...hold]);
    const { day_usd = 0, day_tokens = 0, month_usd = 0, month_tokens = 0, held_usd = 0, held_tokens = 0, is_taken = false } = row ?? {};
    const [day, month] = [
      { usd: day_usd, tokens: day_tokens },
      { usd: month_usd, tokens: month_tokens },
    ];
    const judge = (all: CallToReserve['worstCase']): BudgetVerdict => judgeBudget({ budget, day, month, worstCase: all, now });
    const isBeside = held_usd > 0 || held_tokens > 0;
    const beside = judge(isBeside ? { usd: (worstCase.usd ?? 0) + held_usd, tokens: worstCase.tokens + held_tokens } : worstCase);
    return { alone: judge(worstCase), beside, isTaken: is_taken };
  }

  async #takeBack(block: string): Promise<void> {
    const ids = this.#released;
    if (ids.length === 0) return;
    try {
      await this.#database.query(sql.RELEASE, [ids]);
      this.#released = this.#released.filter((id) => !ids.includes(id));
      this.#tell(block);
    } catch {
      setTimeout(() => void this.#takeBack(block), LOOK_AGAIN_MS).unref(); // ends-with-its-server, at the latest
    }
  }

  #tell(block: string): void {
    for (const end of [...(this.#waiting.get(block) ?? [])]) end();
  }

  /** Resolves when a call of the block has ended here, when one may have ended elsewhere, or when `signal` fires. */
  #changed(block: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(block) ?? new Set();
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        waiting.delete(end);
        if (waiting.size === 0 && this.#waiting.get(block) === waiting) this.#waiting.delete(block);
        resolve();
      };
      const timer = setTimeout(end, signal.aborted ? 0 : LOOK_AGAIN_MS);
      this.#waiting.set(block, waiting.add(end));
      signal.addEventListener('abort', end, { once: true });
    });
  }
}

/** The values of a line, in the order of ADD. */
export function valuesOf({
  at,
  id,
  block,
  provider,
  model,
  purpose,
  messageId,
  usage,
  costUsd,
  leastUsd = null,
  failed,
  credential,
  step,
}: LedgerLine): unknown[] {
  const texts = [block, provider, model, purpose].map((text) => text.replace(NO_TEXT, '\ufffd'));
  return [
    at,
    id,
    ...texts,
    messageId,
    usage === null ? null : JSON.stringify(usage),
    costUsd,
    failed === true,
    Math.min(Math.ceil(countable(usage?.totalTokens)), Number.MAX_SAFE_INTEGER),
    moneyOf(costUsd ?? leastUsd),
    credential ?? null,
    step ?? null,
  ];
}

/** The line of a row. */
export function lineOf({
  at,
  call_id,
  block,
  provider,
  model,
  purpose,
  message_id,
  usage,
  cost_usd,
  failed,
  credential,
  step,
}: LineRow): LedgerLine & { readonly id: string } {
  const key = { ...(credential !== null && { credential }), ...(step !== null && { step }) };
  const shared = { at: at.toISOString(), block, provider, ...key, model, purpose, usage, costUsd: cost_usd, messageId: message_id, id: call_id };
  return failed ? { ...shared, failed: true } : shared;
}

function moneyOf(usd: number | null): number {
  return Math.min(Math.max(usd ?? 0, 0), MOST_USD) || 0; // also of what is no number
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
