// The calls of clients in PostgreSQL, and what this server may spend for a key with caps.
//
// granted: what a key may still spend is given to servers in parts. While a part lasts, a call is let through at once; then the server asks for another one, once for
//   all calls that wait. So what servers may spend together is never more than the cap leaves.
// never-without-limit: while the database is away, a key with caps may spend what was granted before, and then gets STORE_UNREACHABLE.
// once: a line has the server's id and a number, so that lines whose answer was lost are sent again as they are.
// one-turn: writing and asking come one after the other, since a grant is counted down by the lines that were written before.
// given-back: what was not used for a second goes back, for other servers to spend.
import { randomUUID } from 'node:crypto';
import { leaseLost } from '../../errors.ts';
import { SpendDays } from '../parts/spend-days.ts';
import type { CappedKey, GatewayBook, GatewayCall, KeySpend, NoRoom, OpenCall } from '../port.ts';
import { sqlStateOf } from './faults.ts';
import { billionthsOf, columnsOf, type GatewayLine, GatewayLines } from './gateway-lines.ts';
import type { Database } from './pool.ts';
import * as sql from './sql/gateway.ts';

/** What a book works with. */
export interface PostgresGatewayBookOptions {
  readonly database: Database;
  /** The id of this server's membership now. */
  node(): string;
  /** Epoch milliseconds by the database's clock. */
  now(): number;
}

/** What this server may still spend for a key; infinite without a cap. */
interface Grant {
  readonly node: string;
  readonly day: string;
  readonly caps: string;
  billionths: number;
  tokens: number;
  /** given-back. */
  isUsed: boolean;
}

const NOTHING = { usd: 0, tokens: 0 };
const WRITE_EVERY_MS = 100;
const GIVE_BACK_EVERY_MS = 1000;
/** So many lines keep their details while the database is away. */
const MOST_LINES = 10_000;
const AT_ONCE = 2000;
const ELSEWHERE_RETRY_MS = 1000;
const DAY_MS = 86_400_000;
const NO_ROW = '23503';

/** The calls of clients of one server. */
export class PostgresGatewayBook implements GatewayBook {
  readonly #options: PostgresGatewayBookOptions;
  /** once: of this process, whatever membership it has. */
  readonly #book = randomUUID();
  /** Calls that were noted and have not ended. */
  readonly #open = new Map<string, OpenCall>();
  readonly #answers = new SpendDays();
  readonly #waiting = new GatewayLines(MOST_LINES);
  readonly #grants = new Map<string, Grant>();
  readonly #asking = new Map<string, Promise<true | NoRoom>>();
  readonly #givingBack: NodeJS.Timeout;
  /** Lines of which it is not known whether they were written. once. */
  #sent: readonly GatewayLine[] = [];
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: PostgresGatewayBookOptions) {
    this.#options = options;
    this.#givingBack = setInterval(() => this.giveBack().catch(() => undefined), GIVE_BACK_EVERY_MS); // tried again at the next beat
    this.#givingBack.unref();
  }

  room(key: CappedKey, underWay: Pick<KeySpend, 'usd' | 'tokens'> = NOTHING): true | Promise<true | NoRoom> {
    if (key.usdPerDay === null && key.tokensPerDay === null) return true;
    const grant = this.#grants.get(key.name);
    if (grant !== undefined && this.#holds(grant, key) && hasRoom(grant, underWay)) {
      grant.isUsed = true;
      return true;
    }
    const asked = this.#asking.get(key.name) ?? this.#inTurn(() => this.#ask(key, underWay)).finally(() => this.#asking.delete(key.name));
    this.#asking.set(key.name, asked);
    return asked;
  }

  /** A killed server takes what its calls under way cost with it; one that ends counts them. */
  async note(call: OpenCall): Promise<void> {
    this.#open.set(call.id, call);
    await Promise.resolve();
  }

  noteEnd(call: OpenCall): void {
    this.#open.set(call.id, call);
  }

  meanOutput(key: string): number | undefined {
    return this.#answers.meanOutput(key);
  }

  /** Counts a call at once, and writes its line soon. */
  record(call: GatewayCall): void {
    if (call.id !== undefined) this.#open.delete(call.id);
    this.#answers.count(call);
    this.#count(this.#waiting.add(call));
    this.#writeSoon();
  }

  async spentToday(key: string): Promise<KeySpend> {
    await this.flush();
    type Row = { usd: number; tokens: number; calls: number; unpriced: number };
    const [row] = await this.#options.database.query<Row>(sql.SPENT, [[key], this.#day()]);
    return { usd: row?.usd ?? 0, tokens: row?.tokens ?? 0, calls: row?.calls ?? 0, unpricedCalls: row?.unpriced ?? 0 };
  }

  /** All lines that are kept, the oldest first. */
  async *lines(): AsyncGenerator<GatewayCall> {
    await this.flush();
    let after: readonly unknown[] = ['-infinity', '', 0];
    for (;;) {
      const rows = await this.#options.database.query<CallRow>(sql.CALLS, [...after, AT_ONCE]);
      yield* rows.map(callOf);
      const last = rows.at(-1);
      if (last === undefined || rows.length < AT_ONCE) return;
      after = [last.at, last.node, last.n];
    }
  }

  /** Writes the lines that wait. Rejects with STORE_UNREACHABLE; they are written later. */
  flush(): Promise<void> {
    return this.#inTurn(() => this.#write());
  }

  /** given-back. */
  giveBack(): Promise<void> {
    return this.#inTurn(async () => {
      const unused = [...this.#grants].filter(([, { isUsed }]) => !isUsed).map(([name]) => name);
      for (const grant of this.#grants.values()) grant.isUsed = false;
      if (unused.length === 0) return;
      for (const name of unused) this.#grants.delete(name);
      await this.#options.database.query(sql.GIVE_BACK, [this.#options.node(), unused]);
    });
  }

  /** Writes what waits, and gives back what is left. */
  async close(): Promise<void> {
    clearInterval(this.#givingBack);
    for (const { key, ...call } of [...this.#open.values()])
      this.record({ ...call, key, firstTextMs: null, durationMs: 0, at: new Date(this.#options.now()).toISOString() });
    await this.flush();
    clearTimeout(this.#timer);
    for (const grant of this.#grants.values()) grant.isUsed = false;
    await this.giveBack();
  }

  async #ask(key: CappedKey, underWay: Pick<KeySpend, 'usd' | 'tokens'>): Promise<true | NoRoom> {
    await this.#write();
    const [day, node] = [this.#day(), this.#options.node()];
    type Row = { usd: number | null; tokens: number | null; usd_elsewhere: number; tokens_elsewhere: number };
    const [row] = await this.#options.database
      .transaction(async (run) => {
        await run(sql.LOCK_DAY, [key.name, day]);
        return run<Row>(sql.GRANT, [key.name, day, node, key.usdPerDay, key.tokensPerDay, underWay.usd, Math.ceil(underWay.tokens)]);
      })
      .catch((error: unknown) => {
        throw sqlStateOf(error) === NO_ROW ? leaseLost() : error;
      });
    const left = (value: number | null | undefined, factor: number): number => (value == null ? Number.POSITIVE_INFINITY : Math.round(value * factor));
    const grant: Grant = { node, day, caps: capsOf(key), billionths: left(row?.usd, 1e9), tokens: left(row?.tokens, 1), isUsed: true };
    this.#grants.set(key.name, grant);
    for (const line of this.#waiting.peek()) this.#count(line, key.name); // they ended while the database answered
    if (hasRoom(grant, underWay)) return true;
    const isElsewhere = (grant.billionths <= 0 && (row?.usd_elsewhere ?? 0) > 0) || (grant.tokens <= 0 && (row?.tokens_elsewhere ?? 0) > 0);
    const isUnderWay = hasRoom(grant, NOTHING) || isElsewhere;
    const isUsd = key.usdPerDay !== null && grant.billionths <= billionths(underWay.usd);
    const now = this.#options.now();
    return {
      cap: isUsd ? `${key.usdPerDay} USD` : `${key.tokensPerDay} tokens`,
      isUnderWay,
      retryAfterMs: isUnderWay ? ELSEWHERE_RETRY_MS : DAY_MS - (now % DAY_MS),
    };
  }

  #holds({ node, day, caps }: Grant, key: CappedKey): boolean {
    return node === this.#options.node() && day === this.#day() && caps === capsOf(key);
  }

  #count(line: GatewayLine, only = line.call.key): void {
    const { key, at } = line.call;
    const grant = key === null || key !== only ? undefined : this.#grants.get(key);
    if (grant === undefined || !at.startsWith(grant.day)) return;
    grant.billionths -= billionthsOf(line);
    grant.tokens -= line.tokens;
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.flush().catch(() => this.#writeSoon()); // they wait on; who needs them in the database asks, and gets the error
    }, WRITE_EVERY_MS).unref();
  }

  async #write(): Promise<void> {
    while (this.#sent.length > 0 || this.#waiting.size > 0) {
      if (this.#sent.length === 0) this.#sent = this.#waiting.take();
      for (let part = this.#sent.slice(0, AT_ONCE); part.length > 0; part = this.#sent.slice(0, AT_ONCE)) {
        await this.#options.database.query(sql.FLUSH, [this.#book, ...columnsOf(part), this.#options.node()]);
        this.#sent = this.#sent.slice(part.length);
      }
    }
  }

  /** one-turn. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined); // whoever called has it
    return done;
  }

  #day(): string {
    return new Date(this.#options.now()).toISOString().slice(0, '2026-11-22'.length);
  }
}

interface CallRow {
  readonly at: Date;
  readonly node: string;
  readonly n: number;
  readonly request_id: string;
  readonly key: string | null;
  readonly provider: string;
  readonly model: string;
  readonly usage: GatewayCall['usage'];
  readonly cost_usd: number | null;
  readonly least_usd: number | null;
  readonly first_text_ms: number | null;
  readonly duration_ms: number;
  readonly error: GatewayCall['error'];
}

function callOf(row: CallRow): GatewayCall {
  const { at, request_id: requestId, key, provider, model, usage, cost_usd: costUsd, least_usd: leastUsd, error } = row;
  const times = { firstTextMs: row.first_text_ms, durationMs: row.duration_ms };
  return { at: at.toISOString(), requestId, key, provider, model, usage, costUsd, ...(leastUsd !== null && { leastUsd }), ...times, error };
}

function capsOf({ usdPerDay, tokensPerDay }: CappedKey): string {
  return `${usdPerDay}/${tokensPerDay}`;
}

function hasRoom(grant: Grant, underWay: Pick<KeySpend, 'usd' | 'tokens'>): boolean {
  return grant.billionths > billionths(underWay.usd) && grant.tokens > underWay.tokens;
}

function billionths(usd: number): number {
  return Math.round(usd * 1e9);
}
