// The calls of clients in PostgreSQL, and what this server may spend for a key with caps.
//
// granted: what a key or a group may still spend is given to servers in parts. While a part lasts, a call is let through at once; then the server asks for another one, once for
//   all calls that wait. So what servers may spend together is never more than the cap leaves.
// covered: before a call is sent, its server has as much as the call may use by itself, or all that is left. Else each of several servers could let one more call through
//   before it knows what the others have spent.
// never-without-limit: while the database is away, a key with caps may spend what was granted before, and then gets STORE_UNREACHABLE.
// while-it-lasts: a grant is used only while the lease of this server surely stands. After that, others may have given the server up and have been granted the same.
// once: a line has the server's id and a number, or the id of its call, so that lines whose answer was lost are sent again as they are.
// noted: a call of a key with caps is noted in the folder of the server before it is sent. What a killed server has left there counts when the next one starts in that folder (noted-calls.ts).
// one-turn: writing and asking come one after the other, since a grant is counted down by the lines that were written before.
// together: all accounts that wait are asked for in one transaction, since the first calls of many keys would wait for each other's round trips otherwise.
// given-back: what was not used for a second goes back, for other servers to spend, except for what the calls under way may use. Else each server alone could use up a cap.
import { randomUUID } from 'node:crypto';
import { reachedCap } from '../../block/costs/caps.ts';
import { BlockhouseError, leaseLost } from '../../errors.ts';
import { accountOf, SpendDays } from '../parts/spend-days.ts';
import type { CallNote, CallNotes, CappedKey, Caps, GatewayBook, GatewayCall, NoRoom, NotedCall, OpenCall, PeriodSpend, UnderWay, Used } from '../port.ts';
import { type AskedGrant, askGrants, dayOf, type Granted, sumsOf } from './asked-grants.ts';
import { sqlStateOf } from './faults.ts';
import { billionthsOf, type CallRow, callOf, columnsOf, type GatewayLine, GatewayLines, saidOf } from './gateway-lines.ts';
import { accountsOf, billionths, capsOf, covers, finite, type Grant, hasCap, hasRoom, later, type Rest, restOf } from './grants.ts';
import { NotedCalls } from './noted-calls.ts';
import { Patience } from './patience.ts';
import type { Database } from './pool.ts';
import * as sql from './sql/gateway.ts';
import { Together } from './together.ts';

/** What a book works with. */
export interface PostgresGatewayBookOptions {
  readonly database: Database;
  /** The id of this server's membership now. */
  node(): string;
  /** Epoch milliseconds by the database's clock. */
  now(): number;
  /** True while the lease of this server surely stands. while-it-lasts. */
  isSure(): boolean;
  /** Renews the lease. A server that was given up joins again, if it can. Rejects with STORE_UNREACHABLE. */
  renew(): Promise<void>;
  /** noted. Undefined: nothing is noted, and a killed server takes what its calls under way cost with it. */
  readonly notes?: CallNotes | undefined;
  /** So long a call waits at most for a database that does not answer. */
  readonly patienceMs?: number;
}

type Named = readonly [account: string, grant: Grant];

const NOTHING: Used = { usd: 0, tokens: 0 };
const ANYTHING: Used = { usd: Number.POSITIVE_INFINITY, tokens: Number.POSITIVE_INFINITY };
const WRITE_EVERY_MS = 100;
const GIVE_BACK_EVERY_MS = 1000;
/** So many lines keep their details while the database is away. */
const MOST_LINES = 10_000;
const AT_ONCE = 2000;
const ELSEWHERE_RETRY_MS = 1000;
const NO_ROW = '23503';

/** The calls of clients of one server. */
export class PostgresGatewayBook implements GatewayBook {
  readonly isShared = true;
  readonly #options: PostgresGatewayBookOptions;
  /** once: of this process, whatever membership it has. */
  readonly #book = randomUUID();
  /** Calls that were noted and have not ended. */
  readonly #open = new Map<string, OpenCall>();
  readonly #noted: NotedCalls;
  readonly #answers = new SpendDays();
  readonly #waiting = new GatewayLines(MOST_LINES);
  /** By account: the name of a key, or that of a group with its prefix. */
  readonly #grants = new Map<string, Grant>();
  readonly #asking = new Map<string, Promise<true | NoRoom>>();
  /** together. */
  readonly #questions = new Together<AskedGrant, true | NoRoom>(
    (work) => this.#inTurn(work),
    (asked) => this.#ask(asked),
  );
  readonly #spends = new Together<string, PeriodSpend>(
    (work) => this.#inTurn(work),
    (accounts) => this.#spent(accounts),
  );
  readonly #patience: Patience;
  readonly #givingBack: NodeJS.Timeout;
  /** The beat that has not ended: while the database is slow, others would wait for very many of them. */
  #beat: Promise<void> | undefined;
  /** Lines of which it is not known whether they were written. once. */
  #sent: readonly GatewayLine[] = [];
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: PostgresGatewayBookOptions) {
    this.#options = options;
    const { patienceMs } = options;
    this.#patience = new Patience(patienceMs === undefined ? {} : { mostMs: patienceMs });
    this.#noted = new NotedCalls(options.database, options.notes);
    if (options.notes !== undefined) this.#writeSoon(); // what is left counts also where no call comes
    this.#givingBack = setInterval(() => this.#giveBackSoon(), GIVE_BACK_EVERY_MS);
    this.#givingBack.unref();
  }

  room({ bounds }: CappedKey, underWay: UnderWay): true | Promise<true | NoRoom> {
    const asked: Promise<true | NoRoom>[] = [];
    for (const bound of bounds) {
      const room = hasCap(bound) ? this.#roomOf(bound, underWay.exactly(bound), underWay.own?.()) : true;
      if (room !== true) asked.push(room);
    }
    const [only, second] = asked;
    if (only === undefined) return true;
    return second === undefined ? only : Promise.all(asked).then((rooms) => rooms.reduce(later));
  }

  #roomOf(bound: Caps, underWay: Used, own: Used = NOTHING): true | Promise<true | NoRoom> {
    const account = accountOf(bound);
    const grant = this.#grants.get(account);
    const wanted = { usd: underWay.usd + own.usd, tokens: underWay.tokens + own.tokens };
    if (grant !== undefined && this.#holds(grant, bound) && hasRoom(grant, underWay) && (grant.isAll || covers(grant, wanted))) {
      grant.isUsed = true;
      return true;
    }
    const asked = this.#asking.get(account) ?? this.#questions.ask({ bound, underWay, wanted }).finally(() => this.#asking.delete(account));
    this.#asking.set(account, asked);
    return this.#patience.waitFor(asked);
  }

  /** noted. */
  note(call: OpenCall, before?: CallNote): Promise<void> | undefined {
    this.#open.set(call.id, call);
    return this.#noted.note(call, before, this.#waiting.size >= MOST_LINES);
  }

  noteAlone(call: OpenCall): void {
    this.#noted.noteAlone(call);
  }

  meanOutput(key: string): number | undefined {
    return this.#answers.meanOutput(key);
  }

  /** Counts a call at once, and writes its line soon. */
  record(call: GatewayCall, noted?: NotedCall): void {
    if (noted !== undefined) this.#open.delete(noted.id);
    const id = noted && this.#noted.end(noted, call);
    this.#writeSoon();
    if (call.calls === 0) return;
    this.#add({ ...call, id }, noted?.place !== undefined);
    const all = accountsOf(call).flatMap((name): Named[] => (this.#grants.get(name)?.isAll === true ? [[name, this.#grants.get(name) as Grant]] : []));
    if (all.length > 0) this.#inTurn(() => this.#giveBack(all)).catch(() => undefined); // others have nothing meanwhile. What fails is tried again at the next beat
  }

  #add(call: GatewayCall, isNoted?: boolean): void {
    this.#answers.count(call);
    this.#count(this.#waiting.add(call, isNoted));
  }

  spent(kind: 'key' | 'group', name: string): Promise<PeriodSpend> {
    return this.#spends.ask(accountOf({ kind, name }));
  }

  async #spent(accounts: readonly string[]): Promise<PeriodSpend[]> {
    await this.#write();
    const { query } = this.#options.database;
    const last = await query<{ key: string; day: string }>(sql.LAST_DAYS, [accounts]);
    const days = new Map(last.map(({ key, day }) => [key, day]));
    const sums = await sumsOf(query, accounts, this.#options.now());
    return sums.map((of, n) => ({ ...of, lastDay: days.get(accounts[n] as string) ?? null }));
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

  /** What fails is tried again at the next beat. */
  #giveBackSoon(): void {
    this.#beat ??= this.giveBack()
      .catch(() => undefined)
      .finally(() => {
        this.#beat = undefined;
      });
  }

  /** given-back. */
  giveBack(): Promise<void> {
    return this.#inTurn(async () => {
      const unused = [...this.#grants].filter(([, { isUsed }]) => !isUsed);
      for (const grant of this.#grants.values()) grant.isUsed = false;
      if (unused.length > 0) await this.#giveBack(unused);
    });
  }

  async #giveBack(unused: readonly Named[]): Promise<void> {
    for (const [, grant] of unused) grant.isUsed = false;
    await this.#write(); // what has ended is taken off both here and there
    const needs = this.#underWay();
    await this.#giveBackRest(unused.flatMap(([name, grant]) => restOf(name, grant, needs.get(name))));
    await this.#giveBackAll(unused.filter(([name, { isUsed }]) => !isUsed && !needs.has(name)).map(([name]) => name));
  }

  async #giveBackAll(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    for (const name of names) this.#grants.delete(name);
    await this.#options.database.query(sql.GIVE_BACK, [this.#options.node(), names]);
  }

  async #giveBackRest(rests: readonly Rest[]): Promise<void> {
    if (rests.length === 0) return;
    for (const { grant, billionths: most, tokens } of rests) {
      grant.billionths = most;
      grant.tokens = tokens;
      grant.isAll = false;
    }
    const column = (value: (rest: Rest) => unknown): unknown[] => rests.map(value);
    const usd = column((rest) => finite(rest.billionths / 1e9));
    const values = [column(({ name }) => name), column(({ grant }) => grant.day), usd, column(({ tokens }) => finite(tokens))];
    await this.#options.database.query(sql.GIVE_BACK_REST, [this.#options.node(), ...values]);
  }

  /** What the calls under way may use, by account. */
  #underWay(): ReadonlyMap<string, { readonly billionths: number; readonly tokens: number }> {
    const needs = new Map<string, { billionths: number; tokens: number }>();
    for (const { key, group, usage, costUsd, leastUsd } of this.#open.values()) {
      for (const account of accountsOf({ key, group })) {
        const need = needs.get(account) ?? { billionths: 0, tokens: 0 };
        need.billionths += billionths(costUsd ?? leastUsd ?? 0);
        need.tokens += usage.totalTokens;
        needs.set(account, need);
      }
    }
    return needs;
  }

  /** Writes what waits, and gives back what is left. If the database does not take the calls, rejects with those that are not counted, and those that the next start counts. */
  async close(): Promise<void> {
    clearInterval(this.#givingBack);
    const at = new Date(this.#options.now()).toISOString();
    for (const call of [...this.#open.values()]) {
      const { requestId, key, group, provider, model, usage, costUsd, leastUsd, error } = call;
      this.record({ at, requestId, key, group, provider, model, usage, costUsd, leastUsd, error, firstTextMs: null, durationMs: 0 }, call);
    }
    clearTimeout(this.#timer);
    try {
      await this.flush();
      for (const grant of this.#grants.values()) grant.isUsed = false;
      await this.giveBack();
    } catch (cause) {
      throw this.#notWritten(cause);
    } finally {
      await this.#noted.close();
    }
  }

  #notWritten(cause: unknown): unknown {
    const lines = [...this.#sent, ...this.#waiting.peek()];
    if (lines.length === 0) return cause;
    const [code, why] = cause instanceof BlockhouseError ? [cause.code, cause.message] : (['STORE_UNREACHABLE', 'The database did not take them.'] as const);
    const [noted, lost] = [lines.filter(({ isNoted }) => isNoted), lines.filter(({ isNoted }) => !isNoted)];
    const ends = [
      ...(lost.length > 0 ? [`these calls are not counted: ${saidOf(lost)}`] : []),
      ...(noted.length > 0 ? [`these calls count when a server starts in its folder again: ${saidOf(noted)}`] : []),
    ];
    return new BlockhouseError(code, `${why} The server has ended, and ${ends.join('; and ')}.`, { cause });
  }

  async #ask(asked: readonly AskedGrant[]): Promise<(true | NoRoom)[]> {
    const { isSure, renew } = this.#options;
    if (!isSure()) await renew();
    await this.#noted.read();
    await this.#write();
    const unlessGivenUp = (error: unknown): undefined => {
      if (sqlStateOf(error) !== NO_ROW) throw error;
    };
    const rooms = await this.#grant(asked).catch(unlessGivenUp);
    if (rooms !== undefined) return rooms;
    await renew();
    const again = await this.#grant(asked).catch(unlessGivenUp);
    if (again === undefined) throw leaseLost();
    return again;
  }

  async #grant(asked: readonly AskedGrant[]): Promise<(true | NoRoom)[]> {
    const [at, node] = [this.#options.now(), this.#options.node()];
    const granted = await askGrants(this.#options.database, node, at, asked);
    this.#patience.heard();
    return asked.map((one, n) => this.#take(one, granted[n] as Granted, { node, day: dayOf(at) }));
  }

  #take({ bound, underWay, wanted }: AskedGrant, { sums, usd, tokens, elsewhere }: Granted, of: Pick<Grant, 'node' | 'day'>): true | NoRoom {
    const left = (value: number | null, factor: number): number => (value === null ? Number.POSITIVE_INFINITY : Math.round(value * factor));
    const most = { billionths: left(usd, 1e9), tokens: left(tokens, 1) };
    const grant: Grant = { ...of, caps: capsOf(bound), ...most, isUsed: true, isAll: !covers(most, wanted) };
    const account = accountOf(bound);
    this.#grants.set(account, grant);
    for (const line of this.#waiting.peek()) this.#countFor(account, line); // they ended while the database answered
    if (hasRoom(grant, underWay)) return true;
    const now = this.#options.now();
    const spent = reachedCap(bound, sums, NOTHING, now);
    if (spent !== undefined) return { ...spent, isUnderWay: false, retryAfterMs: spent.resetsAt - now };
    const others = { usd: underWay.usd + elsewhere.usd, tokens: underWay.tokens + elsewhere.tokens };
    const close = reachedCap(bound, sums, others, now) ?? reachedCap(bound, sums, ANYTHING, now);
    return close === undefined || { ...close, isUnderWay: true, retryAfterMs: ELSEWHERE_RETRY_MS };
  }

  #holds({ node, day, caps }: Grant, bound: Caps): boolean {
    return node === this.#options.node() && day === this.#day() && caps === capsOf(bound) && this.#options.isSure();
  }

  #count(line: GatewayLine): void {
    for (const account of accountsOf(line.call)) this.#countFor(account, line);
  }

  #countFor(account: string, line: GatewayLine): void {
    const grant = accountsOf(line.call).includes(account) ? this.#grants.get(account) : undefined;
    if (grant === undefined || !line.call.at.startsWith(grant.day)) return;
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
    await this.#noted.countLeft((call) => this.#add(call, true));
    while (this.#sent.length > 0 || this.#waiting.size > 0 || this.#noted.hasEnded) {
      if (this.#sent.length === 0) this.#beginWrite();
      for (let part = this.#sent.slice(0, AT_ONCE); part.length > 0; part = this.#sent.slice(0, AT_ONCE)) {
        await this.#options.database.query(sql.FLUSH, [this.#book, ...columnsOf(part), this.#options.node()]);
        this.#patience.heard();
        this.#sent = this.#sent.slice(part.length);
      }
      this.#noted.forget();
    }
  }

  #beginWrite(): void {
    this.#noted.beginForget();
    this.#sent = this.#waiting.take();
  }

  /** one-turn. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined); // whoever called has it
    return done;
  }

  #day(): string {
    return dayOf(this.#options.now());
  }
}
