// The list of blocks in PostgreSQL, with an entry for each that this server has read.
//
// looks-for-changes: a list reads what has changed since the last look, and no more often than each half second; what this server has changed itself it reads at once.
// known-names: a name that was looked up is known for a second, so that requests to one block don't ask for it each time.
// told-once: commits come out of order, so the last seconds are read again; what was read already is left out.
import type { BlockEntry } from '../../schemas/block-api.ts';
import { isBlockName } from '../../schemas/names.ts';
import { wrongCursor } from '../parts/list-query.ts';
import type { BlockRef } from '../port.ts';
import type { BlockList, EntrySource, ListPage, ListQuery } from '../store.ts';
import { sqlStateOf } from './faults.ts';
import { type FactRow, factsOfRow, standingOf } from './list-facts.ts';
import { cursorOf } from './list-page.ts';
import { pageRows } from './list-text.ts';
import * as blocks from './sql/blocks.ts';
import * as sql from './sql/list.ts';
import type { BlockWorld } from './stored-block.ts';

interface Known {
  readonly row: FactRow;
  readonly entry: BlockEntry;
}

interface Changed {
  readonly block: number;
  readonly name: string;
  readonly changed_at: Date;
  /** The same, exactly. */
  readonly place: string;
  readonly gone: boolean;
  readonly at: Date;
}

const BEFORE_ALL = { place: '-infinity', block: 0 };
/** The class of the codes for a value that doesn't fit its type. */
const BAD_VALUE = '22';
const KNOWN_MS = 1000;
const MOST_NAMES = 10_000;
const LOOK_MS = 500;
const COUNTS_MS = 1000;
const AT_ONCE = 1000;
const HOUR_CHARACTERS = '2026-11-20T14'.length;

/** The blocks of a workspace, as one server knows them. */
export class PostgresBlockList implements BlockList {
  readonly #world: BlockWorld;
  readonly #source: EntrySource;
  /** known-names. */
  readonly #names = new Map<string, { readonly ref: BlockRef; readonly until: number }>();
  /** By number. */
  readonly #known = new Map<number, Known>();
  readonly #stale = new Set<string>();
  #sorted: readonly BlockEntry[] | undefined;
  #since: Date | undefined;
  /** Of what is known: a database that has restarted may have lost some of it. */
  #past: number;
  /** told-once: when a block that was read had changed. */
  readonly #told = new Map<number, number>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #hour = '';
  #renewing: Promise<void> | undefined;
  #counts: { readonly at: number; readonly value: Awaited<ReturnType<BlockList['counts']>> } | undefined;

  constructor(world: BlockWorld, source: EntrySource) {
    this.#world = world;
    this.#source = source;
    this.#past = world.past();
  }

  async counts(): ReturnType<BlockList['counts']> {
    const at = this.#world.clock();
    if (this.#counts !== undefined && at - this.#counts.at < COUNTS_MS) return this.#counts.value;
    const [row] = await this.#world.database.query<{ blocks: number; running: number }>(blocks.COUNTS);
    this.#counts = { at, value: { blocks: row?.blocks ?? 0, monitorsRunning: row?.running ?? 0 } };
    return this.#counts.value;
  }

  names(): readonly string[] {
    return [...new Set([...this.#names.keys(), ...[...this.#known.values()].map(({ entry }) => entry.name)])];
  }

  find(name: string): BlockRef | undefined | Promise<BlockRef | undefined> {
    if (!isBlockName(name)) return undefined;
    const known = this.#names.get(name);
    if (known !== undefined && known.until > this.#world.clock()) return known.ref;
    return this.#find(name);
  }

  get isStale(): boolean {
    return (
      this.#stale.size > 0 ||
      this.#since === undefined ||
      this.#past !== this.#world.past() ||
      this.#world.clock() - this.#lookedAt > LOOK_MS ||
      this.#hourNow() !== this.#hour
    );
  }

  get listed(): readonly BlockEntry[] | undefined {
    return this.#sorted;
  }

  async list(): Promise<readonly BlockEntry[]> {
    await this.#renewing; // that look may have missed what was changed when we asked
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
    this.#sorted ??= [...this.#known.values()].map(({ entry }) => entry).sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sorted;
  }

  markStale(name: string): void {
    this.#stale.add(name);
  }

  markAllStale(): void {
    for (const { entry } of this.#known.values()) this.#stale.add(entry.name);
  }

  async page(query: ListQuery): Promise<ListPage> {
    const { rows, limit } = await pageRows(this.#world.database, query).catch((error: unknown) => {
      throw query.cursor !== undefined && sqlStateOf(error)?.startsWith(BAD_VALUE) === true ? wrongCursor() : error; // all other values fit their types
    });
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const entries = await Promise.all(page.map((row) => this.#entryOf(row)));
    return { entries, next: last === undefined || rows.length === page.length ? null : cursorOf(query, last) };
  }

  /** A block has come or gone, or has another name. */
  moved(name: string): void {
    this.#names.delete(name);
    this.#counts = undefined;
    this.#stale.add(name);
  }

  async #find(name: string): Promise<BlockRef | undefined> {
    const at = this.#world.clock();
    const [ref] = await this.#world.database.query<{ block: number; name: string }>(blocks.FIND, [name]);
    if (this.#names.size >= MOST_NAMES) this.#names.clear();
    if (ref === undefined) this.#names.delete(name);
    else this.#names.set(name, { ref, until: at + KNOWN_MS });
    return ref;
  }

  /** looks-for-changes. */
  async #renew(): Promise<void> {
    if (!this.isStale) return;
    if (this.#past !== this.#world.past()) this.#forgetAll();
    const stale = new Set(this.#stale);
    this.#stale.clear();
    const isNewHour = this.#hourNow() !== this.#hour;
    this.#hour = this.#hourNow();
    this.#lookedAt = this.#world.clock();
    if (this.#since === undefined) await this.#readAll();
    else await this.#readChanges(stale);
    if (isNewHour) for (const [block, { row }] of this.#known) await this.#keep(block, row);
  }

  async #readAll(): Promise<void> {
    const [clock] = await this.#world.database.query<{ at: Date }>(sql.CLOCK);
    for (let after = 0; ; ) {
      const rows = await this.#world.database.query<FactRow>(sql.FACTS_AFTER, [after, AT_ONCE]);
      for (const row of rows) await this.#keep(row.block, row);
      after = rows.at(-1)?.block ?? after;
      if (rows.length < AT_ONCE) break;
    }
    this.#since = clock?.at;
  }

  async #readChanges(stale: ReadonlySet<string>): Promise<void> {
    const ids = new Set<number>();
    for (const [block, { entry }] of this.#known) if (stale.has(entry.name)) ids.add(block);
    let until: Date | undefined;
    for (let after: Pick<Changed, 'place' | 'block'> | undefined = BEFORE_ALL; after !== undefined; ) {
      const changed: Changed[] = await this.#world.database.query<Changed>(sql.CHANGES, [this.#since?.toISOString(), AT_ONCE, after.place, after.block]);
      until ??= changed[0]?.at;
      for (const change of changed) this.#take(change, ids);
      after = changed.length === AT_ONCE ? changed.at(-1) : undefined;
    }
    await this.#read([...ids]);
    if (until !== undefined) this.#since = until;
    if (this.#told.size > MOST_NAMES) this.#told.clear();
  }

  /** told-once. */
  #take({ block, changed_at, gone }: Changed, ids: Set<number>): void {
    if (this.#told.get(block) === changed_at.getTime()) return;
    this.#told.set(block, changed_at.getTime());
    if (gone) this.#forget(block);
    else ids.add(block);
  }

  async #read(ids: readonly number[]): Promise<void> {
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const part = ids.slice(from, from + AT_ONCE);
      const rows = await this.#world.database.query<FactRow>(sql.FACTS_OF, [part]);
      for (const row of rows) await this.#keep(row.block, row);
      const found = new Set(rows.map(({ block }) => block));
      for (const block of part) if (!found.has(block)) this.#forget(block);
    }
  }

  #forgetAll(): void {
    this.#past = this.#world.past();
    this.#since = undefined;
    for (const all of [this.#known, this.#told, this.#names]) all.clear();
    this.#sorted = undefined;
  }

  #forget(block: number): void {
    if (this.#known.delete(block)) this.#sorted = undefined;
  }

  async #keep(block: number, row: FactRow): Promise<void> {
    this.#known.set(block, { row, entry: await this.#entryOf(row) });
    this.#sorted = undefined;
  }

  async #entryOf(row: FactRow): Promise<BlockEntry> {
    const { entryOf, asItStands, damagedEntry } = this.#source;
    const now = this.#world.now();
    try {
      return entryOf(asItStands(factsOfRow(row, now), standingOf(row)), now);
    } catch (error) {
      return damagedEntry(row.name, (error as Error).message);
    }
  }

  #hourNow(): string {
    return new Date(this.#world.now()).toISOString().slice(0, HOUR_CHARACTERS);
  }
}
