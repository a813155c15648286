// The conversation of one block in PostgreSQL. Each change is one statement (sql/conversation.ts).
//
// fenced: what only the owner of a block does carries its claim, and is refused with LEASE_LOST when the block is another's.
// known-entries, own-turn, another-past: see known-entries.ts.
// with-its-bill: the line of the call that has made an answer is written by the statement that settles its message (ledger.ts, with-its-answer).
// growing-ids: servers have clocks of their own. The block keeps its greatest id, and a smaller one is refused and made again.
import { CRASHED, EXPIRED, newEntry, notActive, notCancellable, notRepeatable, queueFull, WAITING_BYTES } from '../../block/conversation/chat-changes.ts';
import { countQueue } from '../../block/conversation/counts.ts';
import { EntryIds } from '../../block/conversation/entry-ids.ts';
import { BlockhouseError, leaseLost } from '../../errors.ts';
import type { MessageFound } from '../../schemas/chat-api.ts';
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import type {
  Added,
  BackInQueue,
  Cancelled,
  Claim,
  Conversation,
  Entries,
  HandedLine,
  MessageToAppend,
  Outcome,
  PagePlace,
  Recovered,
  RecoverRules,
  Settled,
} from '../port.ts';
import type { ContentRoom } from '../parts/content-room.ts';
import { runName } from '../parts/run-lines.ts';
import { noBlock } from './documents.ts';
import { sqlStateOf } from './faults.ts';
import { KnownEntries } from './known-entries.ts';
import type { PostgresLedger } from './ledger.ts';
import {
  entryOf,
  firstOf,
  foundIn,
  knownAs,
  type MessageRow,
  NO_ANSWER,
  notFound,
  type Owned,
  type SettledRow,
  storedAs,
  valuesOf,
  type Versions,
} from './message-row.ts';
import type { Database, Statement } from './pool.ts';
import * as sql from './sql/conversation.ts';
import { PostgresRuns } from './runs.ts';

/** What a conversation works with. */
export interface PostgresConversationOptions {
  readonly database: Database;
  readonly block: number;
  /** The present time by the database's clock, ISO 8601. */
  at(): string;
  /** Monotonic milliseconds. */
  clock?(): number;
  /** How often the database has restarted. another-past. */
  past?(): number;
  /** with-its-bill. */
  readonly bills?: Pick<PostgresLedger, 'send'> | undefined;
  /** Of all blocks. Without one, what is known stays. */
  readonly room?: ContentRoom | undefined;
}

const IS_THERE = '23505';
/** growing-ids: each try knows the greatest id, so only many writers at the same moment need more than two. */
const MOST_TRIES = 100;

/** One block's conversation. */
export class PostgresConversation extends PostgresRuns implements Conversation {
  readonly #database: Database;
  readonly #block: number;
  readonly #at: () => string;
  readonly #ids: EntryIds;
  readonly #bills: PostgresConversationOptions['bills'];
  readonly #known: KnownEntries;
  #reading: Promise<Entries> | undefined;

  constructor({ database, block, at, clock = () => performance.now(), past = () => 0, bills, room }: PostgresConversationOptions) {
    super(database, block);
    this.#database = database;
    this.#block = block;
    this.#at = at;
    this.#ids = new EntryIds(() => Date.parse(at()));
    this.#bills = bills;
    this.#known = new KnownEntries({ clock, past, room });
  }

  newId(): string {
    return this.#ids.next();
  }

  async border(): Promise<string> {
    return this.#growing(async (id) => ((await this.#run(sql.BORDER, [id])).length > 0 ? id : undefined));
  }

  /** known-entries. */
  entries(): Promise<Entries> {
    const { fresh } = this.#known;
    if (fresh !== undefined) return Promise.resolve(fresh);
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  readonly counts = async (): ReturnType<Conversation['counts']> => countQueue(await this.outline());

  /** The entries, or at least what counts of them (`countedOf`): no text is read for it. */
  async outline(): Promise<Entries> {
    const { fresh, active } = this.#known;
    if (fresh !== undefined) return fresh;
    const before = this.#known.moment();
    const rows = await this.#run<MessageRow & { version: string }>(sql.OUTLINE, [active?.version ?? null]);
    if (active === undefined || rows[0]?.version !== active.version) return this.#entriesOf(rows.filter(({ id }) => id !== null));
    this.#known.take(active, active, before);
    return active.entries;
  }

  /** The entries have changed, or may have. */
  hint(): void {
    this.#known.hint();
    this.#reading = undefined; // it may have begun before the change
  }

  async #read(): Promise<Entries> {
    const moment = this.#known.moment();
    const before = this.#known.active;
    const rows = await this.#run<MessageRow & { version: string }>(sql.ENTRIES, [before?.version ?? null]);
    const version = rows[0]?.version ?? '';
    const entries = version === before?.version ? before.entries : this.#entriesOf(rows.filter(({ id }) => id !== null));
    this.#known.take({ version, entries }, before, moment);
    return entries;
  }

  async page({ limit, before, since }: PagePlace): Promise<Entries> {
    const seq = await this.#seqOf(since ?? before);
    if (since !== undefined) return firstOf(this.#entriesOf(await this.#run<MessageRow>(sql.AFTER, [seq, limit])));
    const newestFirst = this.#entriesOf(await this.#run<MessageRow>(sql.BEFORE, [seq ?? Number.MAX_SAFE_INTEGER, limit]));
    return firstOf(newestFirst).toReversed();
  }

  async message(id: string, seen?: Entries): Promise<MessageFound> {
    const known = seen === undefined ? undefined : foundIn(seen, id);
    if (known !== undefined && known.answer !== null) return known;
    const found = foundIn(this.#entriesOf(await this.#run<MessageRow>(sql.MESSAGE, [id])), id);
    if (found === undefined) throw notFound(id);
    return found;
  }

  async append({ cap, ...message }: MessageToAppend): Promise<Added> {
    const { again, clientId } = message;
    return this.#growing(async (id) => {
      const standing = again && (await this.#standing(clientId)); // before the entries, which are then at least as new
      if (standing?.known === true) return knownAs(standing);
      const entry = newEntry(again === undefined ? [] : await this.#read(), { ...message, id, at: this.#at() });
      const before = this.#known.moment();
      const values = [cap, WAITING_BYTES, ...valuesOf(entry), standing?.last_id ?? null];
      const [row] = await this.#run<{ position: number } & Versions>(sql.APPEND, values).catch(unlessThere);
      if (row === undefined) return this.#whyNot(id, clientId, cap, standing?.last_id);
      const stored = storedAs(entry);
      this.#known.keep(row, before, [stored]);
      if (row.position === 0) this.#known.keepTurn(before, stored);
      return { entry, position: row.position, isNew: true };
    });
  }

  async recover(claim: Claim, { staleAfterMs, maxAttempts, runs = new Map() }: RecoverRules): Promise<Recovered> {
    const turn = staleAfterMs === Number.POSITIVE_INFINITY ? this.#known.turnOf(claim.fence) : undefined;
    if (turn !== undefined) return { queued: turn.next === undefined ? 0 : 1, next: turn.next, over: [] };
    const at = this.#at();
    const stale = Number.isFinite(staleAfterMs) ? new Date(Date.parse(at) - staleAfterMs).toISOString() : null;
    const look = async () => {
      type Look = MessageRow & { version: string; ours: boolean; queued: number; processing: number; stale: boolean };
      const before = this.#known.moment();
      const [row] = await this.#run<Look>(sql.LOOK, [...fenceOf(claim), stale]);
      if (row?.ours !== true) throw leaseLost();
      this.#known.confirm(row.version, before);
      return row;
    };
    let now = await look();
    let over: Entries = [];
    if (now.processing > 0 || now.stale) {
      const values = [stale, maxAttempts, at, JSON.stringify(EXPIRED), JSON.stringify(CRASHED), [...runs.keys()], [...runs.values()]];
      over = this.#entriesOf(await this.#run<MessageRow>(sql.RECOVER, [...fenceOf(claim), ...values]));
      now = await look();
    }
    return { queued: now.queued, next: this.#entriesOf(now.id === null ? [] : [now])[0], over };
  }

  async begin(claim: Claim, id: string): Promise<ChatEntry | undefined> {
    const before = this.#known.moment();
    const [row] = await this.#run<MessageRow & Owned & Versions>(sql.BEGIN, [...fenceOf(claim), id, this.#at()]);
    if (row?.ours !== true) throw leaseLost();
    const begun = this.#entriesOf(row.id === null ? [] : [row]);
    if (begun.length > 0) this.#known.keep(row, before, begun);
    return begun[0];
  }

  /** An answer whose id is not the greatest gets a new one. Throws LEASE_LOST. */
  async settle(claim: Claim, id: string, outcome: Outcome, answer: ChatEntry | undefined, bill?: HandedLine): Promise<Settled | undefined> {
    const line = bill && this.#bills?.send(bill.line);
    let isKept = false;
    const run = async (values: readonly unknown[]): Promise<SettledRow[]> => {
      if (line === undefined || isKept) return this.#run<SettledRow>(sql.SETTLE, values);
      const rows = await this.#run<SettledRow>(sql.SETTLE_PAID, [...values, ...line.values]);
      isKept = true;
      line.written(rows[0]?.spends ?? []);
      return rows;
    };
    try {
      return await this.#settle(claim, id, outcome, answer, run);
    } finally {
      if (isKept) await bill?.kept();
      else line?.failed();
    }
  }

  async #settle(
    claim: Claim,
    id: string,
    { status, finishedAt, error, ...others }: Outcome,
    answer: ChatEntry | undefined,
    run: (values: readonly unknown[]) => Promise<SettledRow[]>,
  ): Promise<Settled | undefined> {
    const outcome = Object.keys(others).length === 0 ? null : JSON.stringify(others);
    const fields = [id, status, finishedAt ?? null, JSON.stringify(error ?? null), error !== undefined, outcome, answer !== undefined];
    const try_ = async (newId?: string): Promise<Settled | false | undefined> => {
      const entry = answer === undefined ? NO_ANSWER : { ...answer, id: newId ?? answer.id };
      const before = this.#known.moment();
      const [row] = await run([...fenceOf(claim), ...fields, ...valuesOf(entry)]);
      if (row?.ours !== true) throw leaseLost();
      if (row.done) {
        this.#known.keep(row, before, [entryOf(row), ...(answer === undefined ? [] : [storedAs(entry)])]);
        if (row.waiting === 0) this.#known.keepTurn(before, undefined, claim.fence);
        return { answer: answer === undefined ? undefined : entry };
      }
      return answer === undefined || entry.id > row.last_id ? false : undefined;
    };
    return ((await try_()) ?? (await this.#growing(try_))) || undefined;
  }

  async requeue(claim: Claim, id: string, { nextAttemptAt, error, countsAsAttempt, waitingFor }: BackInQueue): Promise<boolean> {
    const waits = waitingFor === undefined ? null : JSON.stringify(waitingFor);
    const values = [id, nextAttemptAt ?? null, JSON.stringify(error ?? null), error !== undefined, countsAsAttempt, waits, runName(id)];
    const [row] = await this.#run<Owned>(sql.REQUEUE, [...fenceOf(claim), ...values]);
    if (row?.ours !== true) throw leaseLost();
    return row.done;
  }

  async requeueAll(claim: Claim): Promise<void> {
    if ((await this.#run(sql.REQUEUE_ALL, fenceOf(claim))).length === 0) throw leaseLost();
  }

  async cancel(id: string, claim: Claim | undefined): Promise<Cancelled | 'asked'> {
    const values = [id, this.#at(), claim?.owner ?? null, claim?.fence ?? null];
    const [row] = await this.#run<MessageRow & { had_failed: boolean; asks: boolean }>(sql.CANCEL, values);
    if (row === undefined) throw notCancellable(await this.#active(id));
    if (row.asks) return 'asked';
    return { entry: entryOf(row), hadFailed: row.had_failed };
  }

  async retry(id: string, cap: number): Promise<ChatEntry> {
    const [row] = await this.#run<MessageRow>(sql.RETRY, [id, this.#at(), cap, WAITING_BYTES]);
    if (row !== undefined) return entryOf(row);
    const entry = await this.#active(id);
    if (entry.role !== 'user' || !['failed', 'cancelled', 'expired'].includes(entry.status)) throw notRepeatable(entry);
    throw queueFull((await this.#standing()).waiting, cap);
  }

  /** The first value is always the block. known-entries: also a change whose answer is lost may have been made. */
  #run<R extends object = object>(statement: Statement, values: readonly unknown[] = []): Promise<R[]> {
    const rows = this.#database.query<R>(statement, [this.#block, ...values]);
    return CHANGES.has(statement) ? rows.finally(() => this.hint()) : rows;
  }

  /** Calls `make` with greater and greater ids until it has a result. growing-ids. */
  async #growing<R>(make: (id: string) => Promise<R | undefined>): Promise<R> {
    for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
      const result = await make(this.#ids.next());
      if (result !== undefined) return result;
      const [row] = await this.#run<{ last_id: string }>(sql.LAST_ID);
      if (row === undefined) throw noBlock();
      this.#ids.follow([{ id: row.last_id }]);
    }
    throw new BlockhouseError('STORE_UNREACHABLE', 'Too many servers write to this block at the same moment. Try again.');
  }

  /** Why a message was not added: the earlier one of its clientId, QUEUE_FULL, or undefined where its id was too small, or it is no longer the message after `lastId`. */
  async #whyNot(id: string, clientId: string | undefined, cap: number, lastId?: string): Promise<Added | undefined> {
    const standing = await this.#standing(clientId);
    if (standing.known) return knownAs(standing);
    if (standing.last_id >= id || (lastId !== undefined && standing.last_id !== lastId)) return undefined;
    throw queueFull(standing.waiting, cap);
  }

  async #standing(clientId?: string) {
    type Standing = MessageRow & { last_id: string; waiting: number; archive_name: string | null; known: boolean; position: number };
    const [row] = await this.#run<Standing>(sql.STANDING, [clientId ?? null]);
    if (row === undefined || row.archive_name !== null) throw noBlock();
    return row;
  }

  async #active(id: string): Promise<ChatEntry> {
    const entry = (await this.#run<MessageRow>(sql.MESSAGE, [id])).find((row) => row.id === id);
    if (entry === undefined) throw notActive();
    return entryOf(entry);
  }

  async #seqOf(id: string | undefined): Promise<number | undefined> {
    if (id === undefined) return undefined;
    const [row] = await this.#run<{ seq: number }>(sql.SEQ, [id]);
    if (row === undefined) throw notFound(id);
    return row.seq;
  }

  #entriesOf(rows: readonly MessageRow[]): Entries {
    this.#ids.follow(rows);
    return rows.map(entryOf);
  }
}

const CHANGES: ReadonlySet<Statement> = new Set([
  sql.APPEND,
  sql.RECOVER,
  sql.BEGIN,
  sql.SETTLE,
  sql.SETTLE_PAID,
  sql.REQUEUE,
  sql.REQUEUE_ALL,
  sql.CANCEL,
  sql.RETRY,
]);

/** fenced. */
function fenceOf({ owner, fence }: Claim): readonly [owner: string, fence: number] {
  return [owner, fence];
}

function unlessThere(error: unknown): [] {
  if (sqlStateOf(error) === IS_THERE) return [];
  throw error;
}
