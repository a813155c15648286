// The documents of one block in PostgreSQL.
//
// by-revision: a change is applied to the content of one revision, and is stored only while that is the newest; otherwise it is applied again.
// soon-seen: what was read is good for a second, unless somebody tells that it has changed. A change is always applied to what is stored now.
// late: what can be made again, as the fill of the window in the memory, is stored half a second later, too, and only while nobody else has changed the document.
// another-past: what was read from a database that has restarted is nothing to compare with: its last commits may be lost, and their revisions used again.
// derived: costs and pulse change at once in the memory of the server that changes them, and are stored half a second later, together with those of other blocks.
import type { BlockConfig } from '../../schemas/block-config.ts';
import { BlockhouseError, leaseLost } from '../../errors.ts';
import type { Change, Claim, Document, UpdateOptions } from '../port.ts';
import type { Database, Run } from './pool.ts';
import type { Revised } from './projection.ts';
import * as sql from './sql/blocks.ts';

/** What a document works with. */
export interface DocumentOptions<T> {
  readonly database: Database;
  readonly block: number;
  /** The name of the block. */
  readonly name: string;
  readonly kind: string;
  /** Checks and completes what was read. Throws an Error that says what is wrong. */
  parse(value: unknown): T;
  /** The content where nothing is stored. Left out: every block has the document. */
  missing?(): T;
  /** Monotonic milliseconds. */
  clock(): number;
  /** How often the database has restarted. another-past. */
  past?(): number;
  /** After a change of ours is stored, or is as good as stored. `isStored`: other servers see it, too. */
  onChanged(value: T, quiet: boolean, isStored: boolean): void;
  onDamaged(reason: string): void;
  /** More of the same transaction. */
  also?(run: Run, value: T, claim: Claim | undefined): Promise<void>;
  /** late. Left out: everything is stored at once. */
  storeLater?(part: () => Revised | undefined): void;
  /** After a late change is stored. */
  onStored?(): void;
}

interface Seen<T> {
  readonly rev: number;
  readonly value: T | undefined;
  readonly damage: BlockhouseError | undefined;
}

/** What was read is good for so long. */
const GOOD_MS = 1000;
const MOST_TRIES = 100;
/** Before the first revision: nothing is stored. */
const UNSTORED = 0;

/** A document whose changes are durable. */
export class PostgresDocument<T> implements Document<T> {
  readonly #options: DocumentOptions<T>;
  #known: Seen<T> | undefined;
  #past: number | undefined;
  #seenAt = Number.NEGATIVE_INFINITY;
  /** Not stored yet. late. */
  #late: T | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #busy = 0;
  #isClosed = false;

  constructor(options: DocumentOptions<T>) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#busy > 0;
  }

  /** another-past. */
  get #seen(): Seen<T> | undefined {
    const past = this.#options.past?.();
    if (past !== this.#past) {
      this.#known = undefined;
      this.#late = undefined;
    }
    this.#past = past;
    return this.#known;
  }

  set #seen(seen: Seen<T>) {
    this.#known = seen;
  }

  /** Somebody has changed it. */
  hint(): void {
    this.#seenAt = Number.NEGATIVE_INFINITY;
  }

  /** What was read together with other documents. */
  take(rev: number, value: unknown): T {
    return this.#valueOf(this.#keep(rev, value));
  }

  async read(): Promise<T> {
    const isGood = this.#seen !== undefined && this.#options.clock() - this.#seenAt < GOOD_MS; // soon-seen
    return this.#valueOf(isGood ? (this.#seen as Seen<T>) : await this.#look());
  }

  update<R>(change: (value: T) => Change<T, R>, { quiet = false, claim, isDerived = false }: UpdateOptions = {}): Promise<R> {
    return this.#inTurn(async () => {
      const applied = (now: Seen<T>): Change<T, R> => change(this.#valueOf(now));
      if (isDerived && this.#options.storeLater !== undefined) return this.#changeLate(this.#maybeStored(applied) ?? (await this.#look()), applied, quiet);
      return this.#write(this.#maybeStored(applied) ?? (await this.#look()), applied, quiet, claim);
    });
  }

  async replace(make: (old: T | undefined) => T): Promise<void> {
    await this.#inTurn(async () => this.#write(await this.#look(), ({ value }) => ({ value: make(value), result: undefined }), false, undefined));
  }

  /** Refuses further changes. Resolves when those that wait are stored. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turn;
  }

  reopen(): void {
    this.#isClosed = false;
  }

  /** What was read a moment ago, if the change changes it: whether that is the newest is seen when it is stored. */
  #maybeStored(change: (now: Seen<T>) => Change<T, unknown>): Seen<T> | undefined {
    const seen = this.#seen;
    if (seen?.value === undefined || this.#options.clock() - this.#seenAt >= GOOD_MS) return undefined;
    try {
      return change(seen).value === seen.value ? undefined : seen;
    } catch {
      return undefined; // it may fail only for what is not the newest
    }
  }

  /** by-revision. */
  async #write<R>(first: Seen<T>, change: (now: Seen<T>) => Change<T, R>, quiet: boolean, claim: Claim | undefined): Promise<R> {
    let now = first;
    for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
      const { value, result } = change(now);
      if (value === now.value) return result;
      const rev = await this.#store(now.rev, value, claim);
      if (rev !== undefined) {
        this.#seen = { rev, value, damage: undefined };
        this.#seenAt = this.#options.clock();
        this.#late = undefined;
        this.#options.onChanged(value, quiet, true);
        return result;
      }
      now = await this.#look();
    }
    throw new BlockhouseError('STORE_UNREACHABLE', 'Too many servers write to this block at the same moment. Try again.');
  }

  /** late. */
  #changeLate<R>(now: Seen<T>, change: (now: Seen<T>) => Change<T, R>, quiet: boolean): R {
    const { value, result } = change(now);
    if (value === now.value) return result;
    this.#seen = { rev: now.rev, value, damage: undefined };
    this.#late = value;
    this.#options.storeLater?.(() => this.#lateNow());
    this.#options.onChanged(value, quiet, false);
    return result;
  }

  /** Undefined where it was stored together with a later change, or somebody else has changed the document. */
  #lateNow(): Revised | undefined {
    const seen = this.#seen;
    if (seen?.value === undefined || seen.value !== this.#late) return undefined;
    const onStored = (rev: number | undefined): void => {
      if (this.#late === seen.value) this.#late = undefined;
      if (rev === undefined) {
        this.hint();
        return;
      }
      if (this.#seen?.rev !== seen.rev) return;
      this.#seen = { ...this.#seen, rev };
      this.#seenAt = this.#options.clock();
      this.#options.onStored?.();
    };
    return { text: JSON.stringify(seen.value), rev: seen.rev, onStored };
  }

  /** Undefined if somebody else was faster. */
  async #store(seen: number, value: T, claim: Claim | undefined): Promise<number | undefined> {
    const { database, block, kind, also } = this.#options;
    const rev = seen === UNSTORED ? await this.#ensure() : seen;
    const [text, by] = [JSON.stringify(value), [claim?.owner ?? null, claim?.fence ?? null]];
    if (also === undefined) {
      const [row] = await database.query<{ ours: boolean | null; rev: number | null }>(sql.WRITE_ALONE, [block, kind, rev, text, ...by]);
      if (row?.ours == null) throw noBlock();
      if (!row.ours) throw leaseLost();
      return row.rev ?? undefined;
    }
    return database.transaction(async (run) => {
      const [row] = await run<{ ours: boolean }>(sql.LOCK, [block, ...by]);
      if (row === undefined) throw noBlock();
      if (!row.ours) throw leaseLost();
      const [written] = await run<{ rev: number }>(sql.WRITE, [block, kind, rev, text]);
      if (written !== undefined) await also(run, value, claim);
      return written?.rev;
    });
  }

  async #look(): Promise<Seen<T>> {
    const { database, block, name, kind, clock } = this.#options;
    const at = clock();
    const [row] = await database.query<{ rev: number; value: unknown }>(sql.DOCUMENT, [block, name, kind]);
    if (row === undefined && this.#options.missing === undefined) throw noBlock();
    const seen = row === undefined ? this.#unstored() : this.#keep(row.rev, row.value);
    this.#seenAt = Math.max(at, this.#seenAt);
    return seen;
  }

  #unstored(): Seen<T> {
    if (this.#seen?.rev !== UNSTORED) this.#seen = { rev: UNSTORED, value: this.#options.missing?.(), damage: undefined };
    return this.#known as Seen<T>;
  }

  /** Stores what stands for nothing, so that there is a revision to change. */
  async #ensure(): Promise<number> {
    const { database, block, name, kind, missing } = this.#options;
    const [row] = await database.query(sql.ENSURE, [block, name, kind, JSON.stringify(missing?.())]);
    if (row === undefined) throw noBlock();
    return UNSTORED + 1;
  }

  /** The same content stays the same object. */
  #keep(rev: number, value: unknown): Seen<T> {
    if (this.#seen !== undefined && this.#seen.rev >= rev) return this.#seen;
    this.#seenAt = this.#options.clock();
    try {
      this.#seen = { rev, value: this.#options.parse(value), damage: undefined };
    } catch (error) {
      const { kind } = this.#options;
      const reason = (error as Error).message;
      this.#seen = {
        rev,
        value: undefined,
        damage: new BlockhouseError('BLOCK_DAMAGED', `${kind}.json can't be used: ${reason.replace(/\.$/, '')}. Repair it in the database.`),
      };
      this.#options.onDamaged(reason);
    }
    return this.#known as Seen<T>;
  }

  #valueOf({ value, damage }: Seen<T>): T {
    if (damage !== undefined) throw damage;
    return value as T;
  }

  #inTurn<R>(work: () => Promise<R>): Promise<R> {
    if (this.#isClosed)
      return Promise.reject(new BlockhouseError('WRONG_STATE', `${this.#options.kind}.json belongs to a block that is being moved; try again.`));
    this.#busy += 1;
    const done = this.#turn.then(work).finally(() => {
      this.#busy -= 1;
    });
    this.#turn = done.catch(() => undefined); // the caller has it
    return done;
  }
}

/** A document that can be made again. derived. */
export class DerivedDocument<T> implements Document<T> {
  readonly #options: Omit<DocumentOptions<T>, 'also'>;
  readonly #store: (value: T) => void;
  /** Not stored yet. */
  readonly #isWaiting: () => boolean;
  #value: T | undefined;
  #rev = 0;
  #past: number | undefined;
  #seenAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<T> | undefined;

  constructor(options: Omit<DocumentOptions<T>, 'also'>, projection: { store(value: T): void; isWaiting(): boolean }) {
    this.#options = options;
    this.#store = (value) => projection.store(value);
    this.#isWaiting = () => projection.isWaiting();
  }

  readonly isBusy = false;

  hint(): void {
    this.#seenAt = Number.NEGATIVE_INFINITY;
  }

  /** What was read together with other documents; ours is newer while it waits. */
  take(rev: number, value: unknown): T {
    const past = this.#options.past?.();
    const isNoNewer = rev <= this.#rev && past === this.#past; // another-past
    if (this.#value !== undefined && (this.#isWaiting() || isNoNewer)) return this.#value;
    this.#past = past;
    this.#rev = rev;
    this.#seenAt = this.#options.clock();
    this.#value = this.#options.parse(value);
    return this.#value;
  }

  async read(): Promise<T> {
    const isGood = this.#isWaiting() || this.#options.clock() - this.#seenAt < GOOD_MS;
    if (this.#value !== undefined && isGood) return this.#value;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async update<R>(change: (value: T) => Change<T, R>, { quiet = false }: { readonly quiet?: boolean } = {}): Promise<R> {
    const before = await this.read();
    const { value, result } = change(this.#value ?? before);
    if (value !== this.#value) this.#set(value, quiet);
    return result;
  }

  async replace(make: (old: T | undefined) => T): Promise<void> {
    this.#set(make(await this.read()), false);
  }

  #set(value: T, quiet: boolean): void {
    this.#value = value;
    this.#store(value);
    this.#options.onChanged(value, quiet, false);
  }

  async #load(): Promise<T> {
    const { database, block, name, kind } = this.#options;
    const [row] = await database.query<{ rev: number; value: unknown }>(sql.DOCUMENT, [block, name, kind]);
    if (row === undefined) throw noBlock();
    return this.take(row.rev, row.value);
  }
}

/** What the list knows of a configuration, for the statements. */
export function listColumns({
  description,
  adapter,
  tags,
}: BlockConfig): [description: string, provider: string | null, model: string | null, tags: readonly string[]] {
  const clean = (text: string): string => text.replaceAll(NO_TEXT, '\ufffd');
  return [
    clean(description),
    adapter?.provider == null ? null : clean(adapter.provider),
    adapter?.model == null ? null : clean(adapter.model),
    tags.map(clean),
  ];
}

/** PostgreSQL has no such texts. */
const NO_TEXT = /[\p{Surrogate}\0]/gu;

/** What a change of a block gets that is gone. */
export function noBlock(): BlockhouseError {
  return new BlockhouseError('BLOCK_NOT_FOUND', 'There is no such block.');
}

/** What a new name gets that a block has. */
export function nameTaken(name: string): BlockhouseError {
  return new BlockhouseError('NAME_TAKEN', `A block named ${name} already exists; choose another name.`);
}
