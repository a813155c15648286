// The parts of the tables that grow with time: months of the ledger, days of the calls of clients and of the lines of logs.
//
// ahead: they are made a week before they are needed, by one server at a time. The part for all other times stays empty; rows that lie there keep a part from being made.
// kept-for-a-week: days go as a whole, and with them rows for whose day there was no part any more, such as a call that a killed server had left long ago.
import type { Database, Run } from './pool.ts';
import { ALL_PARTS, clearRest, LOCK_PARTS, makePart, removePart } from './sql/partitions.ts';
import { Upkeep } from './upkeep.ts';

const EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const AHEAD_DAYS = 7;
const KEPT_DAYS = 7;

/** A table, and how its parts are cut. */
const TABLES = [
  { table: 'ledger', by: 'month', isKept: true },
  { table: 'gateway_call', by: 'day', isKept: false },
  { table: 'log_line', by: 'day', isKept: false },
] as const;

/** Part of a table: its name, and the time that it has, up to the end. */
export interface Part {
  readonly table: string;
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** Keeps the parts of a schema, once an hour. */
export class Partitions extends Upkeep {
  readonly #database: Database;

  constructor(database: Database, onFault: (error: unknown) => void) {
    super(EVERY_MS, onFault);
    this.#database = database;
  }

  /** Makes what is missing and removes what is too old, by the database's clock. Rejects with STORE_UNREACHABLE. */
  async keep(): Promise<void> {
    await this.#database.transaction(async (run) => {
      await run(LOCK_PARTS);
      const rows = await run<{ name: string; now: Date }>(ALL_PARTS);
      const names = new Set(rows.map(({ name }) => name));
      const now = rows[0]?.now.getTime() ?? Date.now();
      for (const part of partsAt(now)) if (!names.has(part.name)) await run(makePart(part));
      for (const name of names) if (isOld(name, now)) await run(removePart(name));
      const before = new Date(now - (now % DAY_MS) - KEPT_DAYS * DAY_MS).toISOString();
      for (const { table, isKept } of TABLES) if (!isKept) await run(clearRest(table), [before]); // kept-for-a-week
    });
  }
}

/** Makes the parts of a table for these times, of which `known` remembers those that are there. Within a transaction. */
export async function makeParts(run: Run, table: (typeof TABLES)[number]['table'], times: Iterable<Date>, known: Set<string>): Promise<void> {
  const { by } = TABLES.find((one) => one.table === table) as (typeof TABLES)[number];
  const parts = new Map([...times].map((at) => partOf(table, by, at)).map((part) => [part.name, part]));
  const isKnown = ({ name }: Part): boolean => known.has(name);
  if ([...parts.values()].every(isKnown)) return;
  await run(LOCK_PARTS);
  for (const { name } of await run<{ name: string }>(ALL_PARTS)) known.add(name);
  for (const part of parts.values()) if (!isKnown(part)) await run(makePart(part));
  for (const name of parts.keys()) known.add(name);
}

/** The parts that should be there at a time. */
export function partsAt(now: number): Part[] {
  const days = Array.from({ length: AHEAD_DAYS + 1 }, (_, day) => new Date(now + day * DAY_MS));
  const parts = TABLES.flatMap(({ table, by }) => days.map((day) => partOf(table, by, day)));
  return [...new Map(parts.map((part) => [part.name, part])).values()];
}

function partOf(table: string, by: 'month' | 'day', at: Date): Part {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  const from = new Date(Date.UTC(year, month, by === 'month' ? 1 : day)).toISOString();
  const to = new Date(by === 'month' ? Date.UTC(year, month + 1, 1) : Date.UTC(year, month, day + 1)).toISOString();
  const length = by === 'month' ? '2026-11'.length : '2026-11-20'.length;
  return { table, name: `${table}_${from.slice(0, length).replaceAll('-', '_')}`, from, to };
}

/** True for a day that is kept no longer. */
function isOld(name: string, now: number): boolean {
  const { table, isKept = true } = TABLES.find((one) => name.startsWith(`${one.table}_`)) ?? {};
  const day = name.slice((table ?? '').length + 1).replaceAll('_', '-');
  return !isKept && /^\d{4}-\d\d-\d\d$/.test(day) && Date.parse(day) + DAY_MS < now - KEPT_DAYS * DAY_MS;
}
