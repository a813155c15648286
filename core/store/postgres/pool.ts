// The connections to the database, and how a statement runs on one.
//
// one-connection: nothing holds a connection while it waits for another one, so a pool of one is enough.
// unknown-outcome: when the answer to a statement is lost, it is not repeated here, for it may have been executed. The caller gets STORE_UNREACHABLE, and repeats
//   with the same ids. What the database says that it has undone is repeated here.
// bounded-wait: every statement has a limit at this end, because a database behind a cut network never answers; every transaction has one at the other end, because
//   the locks of a frozen server would never go. A statement ends there with its time, too: given up here alone, it would go on, beside the one with which its caller tries again, and
//   while somebody holds a lock for long, such statements would take all connections of the database. Behind a pooler only what may take longer than others ends there.
// plan-once: the database plans a statement on a table in parts again for each execution, because by its estimate a plan for all values costs more; the planning takes longer than
//   the rest. So statements that find rows by their keys say that one plan is enough, and their connection is set so until another one comes. A pooler may give a connection
//   to others meanwhile, so behind one nothing is set: the process that answers is not the one that the connection was opened with.
// no-nul: a database has no text with a NUL, and refuses a statement with one. It gets U+FFFD instead, as the driver has it for half of a character, so that an id or a
//   filter of which nobody has one finds nothing.
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import type { Timing } from '../../bus.ts';
import { openPool } from './driver.ts';
import { isConnectionBad, isRepeatable, isUnprepared, toStoreError } from './faults.ts';
import type { StorePlace } from './place.ts';

/** A statement. `bh.` in it is the schema. */
export interface Statement {
  /** Its own, under which each connection plans it once. Empty for a text of several statements, which has no values. */
  readonly name: string;
  readonly text: string;
  /** One plan is right for all values. plan-once. */
  readonly plan?: 'once';
  /** Milliseconds until the database ends it, where it only reads, and may take longer than others. bounded-wait. */
  readonly withinMs?: number;
}

/** Runs a statement and returns its rows. */
export type Run = <R extends QueryResultRow>(statement: Statement, values?: readonly unknown[]) => Promise<R[]>;

/** A transaction that stays open. */
export interface Held {
  readonly run: Run;
  end(): Promise<void>;
}

/** What a database is opened with. */
export interface DatabaseOptions {
  /** The most connections. */
  readonly connections?: number;
  /** Milliseconds until a statement is given up. */
  readonly queryTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** How often a statement or transaction that the database undoes is tried. */
  readonly tries?: number;
}

const TRIES = 5;
const LONGEST_PAUSE_MS = 500;
const PAUSE_MS = 10;
/** bounded-wait, at the other end. */
const BEGIN = "begin; set local idle_in_transaction_session_timeout = '4s'; set local lock_timeout = '2s'";

/** bounded-wait, for all statements of a connection. $1 the process with which it was opened, $2 milliseconds. No row: there is a pooler between. */
const SET_LIMIT = "select set_config('statement_timeout', $2, false) where pg_backend_pid() = $1";

/** Of a statement with a time of its own. */
const BEGIN_LONG = (ms: number): string => `begin read only; set local statement_timeout = ${ms}`;
/** So long is the news on its way that a statement was ended. */
const ON_ITS_WAY_MS = 1000;

/** plan-once. $1 the process with which the connection was opened, $2 the mode. No row: there is a pooler between. */
const SET_PLAN = "select set_config('plan_cache_mode', $2, false) where pg_backend_pid() = $1";

/** A database and the schema in it that is the workspace. */
export class Database {
  readonly place: StorePlace;
  /** Measures each statement. */
  timing: Timing | undefined;
  readonly #pool: Pool;
  readonly #tries: number;
  readonly #limitMs: number;
  readonly #texts = new Map<string, string>();
  #hasNames = true;
  /** How each connection plans that has been used. plan-once. */
  readonly #plans = new WeakMap<PoolClient, 'once' | 'each' | 'behind a pooler'>();

  private constructor(place: StorePlace, pool: Pool, { tries, limitMs }: { readonly tries: number; readonly limitMs: number }) {
    this.place = place;
    this.#tries = tries;
    this.#limitMs = limitMs;
    this.#pool = pool;
    // A broken connection is an error of the statement that uses it. Without one it leaves the pool, and the next statement makes another.
    const ignored = (): void => undefined;
    pool.on('error', ignored).on('connect', (client) => client.on('error', ignored));
  }

  /** Connects with the first statement. Rejects with INVALID_REQUEST without the package `pg`. */
  static async open(place: StorePlace, options: DatabaseOptions = {}): Promise<Database> {
    const { connections = 6, queryTimeoutMs = 5000, connectTimeoutMs = 3000, tries = TRIES } = options;
    const pool = await openPool({
      connectionString: place.url,
      max: connections,
      query_timeout: queryTimeoutMs, // bounded-wait
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      application_name: 'blockhouse',
    });
    return new Database(place, pool, { tries, limitMs: queryTimeoutMs });
  }

  /** Runs one statement, which is its own transaction. Rejects with STORE_UNREACHABLE, STORAGE_FULL, or the error of the database. */
  readonly query: Run = (statement, values = []) =>
    this.#repeated(async (client) => {
      await this.#setUp(client, statement.plan ?? 'each');
      const { withinMs } = statement;
      if (withinMs === undefined) return this.#run(client, statement, values);
      return inTransaction(client, BEGIN_LONG(withinMs), () => this.#run(client, statement, values));
    });

  /** Runs `work` as one transaction; again from its beginning when the database undoes it. Rejects as `query` does, or with what `work` throws. */
  transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    return this.#repeated(async (client) => {
      await this.#setUp(client);
      return inTransaction(client, BEGIN, () => work((statement, values = []) => this.#run(client, statement, values)));
    });
  }

  /**
   * A transaction on a connection of its own, which ends with `end` and changes nothing. With `sees-one-moment`, all its statements see the database as it is now; otherwise it
   * only holds locks. Rejects with STORE_UNREACHABLE.
   */
  async hold(kind: 'sees-one-moment' | 'locks'): Promise<Held> {
    const client = await this.#connect();
    let error: unknown;
    const run: Run = (statement, values = []) =>
      this.#run<QueryResultRow>(client, statement, values).catch((caught: DriverError) => {
        error = caught.cause;
        throw toStoreError(caught.cause);
      }) as Promise<never>;
    const end = async (): Promise<void> => {
      await send(client, { text: 'rollback' }).catch((caught: DriverError) => {
        error = caught.cause; // it ends with its connection
      });
      client.release(error !== undefined && isConnectionBad(error));
    };
    try {
      await this.#setUp(client, 'each').catch((caught: DriverError) => {
        error = caught.cause;
        throw toStoreError(caught.cause);
      });
      await run({ name: '', text: kind === 'locks' ? 'begin' : 'begin isolation level repeatable read, read only' });
      await run({ name: '', text: 'set local idle_in_transaction_session_timeout = 0' });
      if (kind === 'sees-one-moment') await run({ name: '', text: 'select 1' }); // it sees the moment of its first query
    } catch (failure) {
      await end();
      throw failure;
    }
    return { run, end };
  }

  /** The text with the schema of this workspace. */
  text(text: string): string {
    const known = this.#texts.get(text) ?? text.replaceAll(/\bbh\./g, `${this.place.schema}.`);
    this.#texts.set(text, known);
    return known;
  }

  /** Waits for the statements that run. */
  close(): Promise<void> {
    return this.#pool.end();
  }

  /** bounded-wait, and plan-once. Without `plan`, the connection plans as it did. */
  async #setUp(client: PoolClient, plan?: 'once' | 'each'): Promise<void> {
    if (!this.#plans.has(client)) this.#plans.set(client, (await isSet(client, SET_LIMIT, String(this.#limitMs))) ? 'each' : 'behind a pooler');
    const now = this.#plans.get(client);
    if (plan === undefined || now === plan || now === 'behind a pooler') return;
    this.#plans.set(client, (await isSet(client, SET_PLAN, plan === 'once' ? 'force_generic_plan' : 'auto')) ? plan : 'behind a pooler');
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async #repeated<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const client = await this.#connect();
      let error: unknown;
      try {
        return await work(client);
      } catch (caught) {
        if (!(caught instanceof DriverError)) throw caught;
        error = caught.cause;
      } finally {
        client.release(error !== undefined && isConnectionBad(error));
      }
      if (isUnprepared(error)) this.#hasNames = false;
      else if (!isRepeatable(error) || tries === this.#tries) throw toStoreError(error); // unknown-outcome
      await delay(Math.min(PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2));
    }
  }

  async #run<R extends QueryResultRow>(client: PoolClient, { name, text, withinMs }: Statement, values: readonly unknown[]): Promise<R[]> {
    const query = {
      ...(this.#hasNames && { name }),
      ...(withinMs !== undefined && { query_timeout: withinMs + ON_ITS_WAY_MS }),
      text: this.text(text),
      values: values.map(sendable),
    };
    const sent = () => send<R>(client, query);
    return (await (this.timing?.(sent) ?? sent())).rows;
  }
}

/** no-nul. */
function sendable(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
  return Array.isArray(value) ? value.map(sendable) : value;
}

/** What the driver has thrown, apart from what the code between two statements throws. */
class DriverError extends Error {
  override readonly cause: unknown;

  constructor(cause: unknown) {
    super('a statement failed');
    this.cause = cause;
  }
}

/** False behind a pooler, where nothing is set. */
async function isSet(client: PoolClient, text: string, value: string): Promise<boolean> {
  const { processID } = client as unknown as { readonly processID: number | null };
  return (await send(client, { text, values: [processID, value] })).rows.length > 0;
}

async function inTransaction<T>(client: PoolClient, begin: string, work: () => Promise<T>): Promise<T> {
  await send(client, { text: begin });
  try {
    const result = await work();
    await send(client, { text: 'commit' });
    return result;
  } catch (error) {
    if (!(error instanceof DriverError && isConnectionBad(error.cause))) await send(client, { text: 'rollback' });
    throw error;
  }
}

async function send<R extends QueryResultRow>(client: PoolClient, query: QueryConfig): Promise<QueryResult<R>> {
  try {
    return await client.query<R>(query);
  } catch (error) {
    throw new DriverError(error);
  }
}
