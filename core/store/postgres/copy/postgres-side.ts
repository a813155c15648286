// A workspace in a database, as a source or a target of a copy.
//
// one-moment: a source is read as it was when it was opened, whatever happens to it meanwhile.
// one-copy: a target is written by one copy at a time, which holds a lock of the schema.
// told-first: a copy that begins notes that first and looks for servers then, and a server joins first and looks for the note then. So one of both sees the other.
import { BlockhouseError, invalidRequest } from '../../../errors.ts';
import type { CopiedBlock, CopiedLine, CopiedSetting, CopiedSpend, CopyNote, CopySource, CopyTarget } from '../../parts/copied.ts';
import { parseNote } from '../../parts/copy-note.ts';
import type { GatewayCall, Spend } from '../../port.ts';
import { callOf, type CallRow } from '../gateway-lines.ts';
import { assertMigrated, hasSchema } from '../migrate.ts';
import { Partitions } from '../partitions.ts';
import { parseStorePlace } from '../place.ts';
import { Database, type Held, type Run } from '../pool.ts';
import * as sql from '../sql/copy.ts';
import { CALLS } from '../sql/gateway.ts';
import { SPEND } from '../sql/ledger.ts';
import { putBlock, readBlock, removeBlock } from './block-copy.ts';
import { putCalls, putLedger, readLedger } from './ledger-copy.ts';

/** The rows of the settings. Servers read the last two from their own folders: here they are kept for the way back. */
const SETTINGS: Readonly<Record<CopiedSetting, string>> = {
  halt: 'halt',
  keys: 'keys',
  models: 'models',
  token: 'token',
  mcp: 'mcp',
  'mcp-pins': 'mcp-pins',
  prices: 'files.prices',
  presets: 'files.presets',
};
const NAMES = Object.entries(SETTINGS) as [CopiedSetting, string][];
const AT_ONCE = 2000;
/** A statement may take as long as it needs. */
const PATIENCE = { connections: 3, queryTimeoutMs: 3_600_000 };

/** one-moment. Rejects with STORE_UNREACHABLE, STORE_NOT_MIGRATED, STORE_TOO_NEW, or INVALID_REQUEST where no workspace is. */
export async function openPostgresSource(from: string): Promise<CopySource> {
  const place = parseStorePlace(from, 'from');
  const database = await Database.open(place, PATIENCE);
  try {
    if (!(await hasSchema(database.query))) throw invalidRequest('from', `has no workspace: ${place.shown}`);
    await assertMigrated(database);
    const held = await database.hold('sees-one-moment');
    return new PostgresSide(database, await schemaId(database), held, held.run);
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** one-copy. Makes the schema with the first write. Rejects with STORE_UNREACHABLE, STORE_NOT_MIGRATED, STORE_TOO_NEW, WORKSPACE_BUSY. */
export async function openPostgresTarget(to: string): Promise<CopyTarget> {
  const place = parseStorePlace(to, 'to');
  const database = await Database.open(place, PATIENCE);
  try {
    const isThere = await hasSchema(database.query);
    if (isThere) await assertMigrated(database);
    const held = await database.hold('locks');
    const [lock] = await held.run<{ ours: boolean }>(sql.LOCK_TARGET);
    if (lock?.ours === true) return new PostgresSide(database, isThere ? await schemaId(database) : '', held, undefined);
    await held.end();
    throw new BlockhouseError('WORKSPACE_BUSY', `Another copy into ${place.shown} is under way. Wait for its end.`);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function schemaId(database: Database): Promise<string> {
  const [row] = await database.query<{ id: string }>(sql.SCHEMA_ID);
  return `${database.place.shown}#${row?.id}`;
}

class PostgresSide implements CopyTarget {
  readonly kind = 'postgres';
  readonly shown: string;
  readonly id: string;
  readonly #database: Database;
  readonly #held: Held;
  /** one-moment; undefined for a target, which is read as it is. */
  readonly #moment: Run | undefined;
  readonly #logParts = new Set<string>();
  #isThere: boolean;

  constructor(database: Database, id: string, held: Held, moment: Run | undefined) {
    this.#database = database;
    this.shown = database.place.shown;
    this.id = id;
    this.#held = held;
    this.#moment = moment;
    this.#isThere = id !== '';
  }

  get isThere(): boolean {
    return this.#isThere;
  }

  async assertUnused(): Promise<void> {
    const [node, ...others] = await this.#database.query<{ id: string; url: string | null }>(sql.LIVING);
    if (node === undefined) return;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    throw new BlockhouseError(
      'WORKSPACE_BUSY',
      `${this.shown} is in use by the server ${node.url ?? node.id}${more}. Stop all of them (\`blockhouse nodes\` lists them); one that was killed is gone after its lease, 8 s.`,
    );
  }

  async places(): Promise<readonly string[]> {
    return (await this.#run<{ place: string }>(sql.PLACES)).map(({ place }) => place).sort();
  }

  block(place: string): Promise<CopiedBlock> {
    return readBlock(this.#run, place);
  }

  async *ledger(): AsyncGenerator<CopiedLine> {
    if (this.#moment !== undefined) return yield* readLedger(this.#moment);
    const held = await this.#database.hold('sees-one-moment');
    try {
      yield* readLedger(held.run);
    } finally {
      await held.end();
    }
  }

  async spends(blocks: readonly string[], sinceMs: number): Promise<readonly Spend[]> {
    const spends: Spend[] = [];
    for (const block of blocks) {
      const [spend] = await this.#run<Spend & Record<string, unknown>>(SPEND, [block, [new Date(sinceMs).toISOString()]]);
      spends.push(spend ?? { usd: 0, tokens: 0 });
    }
    return spends;
  }

  async *calls(): AsyncGenerator<GatewayCall> {
    let after: readonly unknown[] = ['-infinity', '', 0];
    for (;;) {
      const rows = await this.#run<CallRow & Record<string, unknown>>(CALLS, [...after, AT_ONCE]);
      yield* rows.map(callOf);
      const last = rows.at(-1);
      if (last === undefined || rows.length < AT_ONCE) return;
      after = [last.at, last.node, last.n];
    }
  }

  async spent(): Promise<readonly CopiedSpend[]> {
    type Row = { day: string; key: string; usd: number; tokens: number; calls: number; unpriced: number };
    const rows = await this.#run<Row>(sql.SPENT);
    return rows.map(({ day, key, unpriced, ...sums }) => [day, key, { ...sums, unpricedCalls: unpriced, output: 0, answers: 0 }]);
  }

  async settings(): Promise<ReadonlyMap<CopiedSetting, string>> {
    const rows = await this.#run<{ key: string; value: string }>(sql.SETTINGS, [NAMES.map(([, key]) => key)]);
    const texts = new Map(rows.map(({ key, value }) => [key, value]));
    return new Map(NAMES.flatMap(([name, key]) => (texts.has(key) ? [[name, texts.get(key) as string]] : [])));
  }

  async isEmpty(): Promise<boolean> {
    if (!this.isThere) return true;
    const [row] = await this.#run<{ empty: boolean }>(sql.IS_EMPTY);
    return row?.empty === true;
  }

  async note(): Promise<CopyNote | undefined> {
    const [row] = this.isThere ? await this.#run<{ value: string }>(sql.NOTE) : [];
    return row && parseNote(row.value);
  }

  async setNote(note: CopyNote): Promise<void> {
    if (!this.#isThere) await assertMigrated(this.#database);
    this.#isThere = true;
    await this.#database.query(sql.SET_NOTE, [JSON.stringify(note)]);
    if (!note.isWhole) await new Partitions(this.#database, () => undefined).keep();
  }

  put(block: CopiedBlock): Promise<void> {
    return putBlock(this.#database, block, this.#logParts);
  }

  remove(place: string): Promise<void> {
    return this.#database.transaction((run) => removeBlock(run, place));
  }

  putLedger(lines: () => AsyncIterable<CopiedLine>): Promise<void> {
    return putLedger(this.#database, lines);
  }

  putCalls(calls: () => AsyncIterable<GatewayCall>, spent: readonly CopiedSpend[]): Promise<void> {
    return putCalls(this.#database, calls, spent);
  }

  async putSettings(settings: ReadonlyMap<CopiedSetting, string>): Promise<void> {
    await this.#database.query(sql.SET_SETTINGS, [NAMES.map(([, key]) => key), NAMES.map(([name]) => settings.get(name) ?? null)]);
  }

  async close(): Promise<void> {
    await this.#held.end();
    await this.#database.close();
  }

  get #run(): Run {
    return this.#moment ?? this.#database.query;
  }
}
