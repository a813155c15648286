// The ledgers of a database, as they are copied out of it and into it: what blocks have spent, and the calls of clients.
//
// whole-ledger: a ledger is written in one transaction.
// renames-in-order: a rename has no time in a database, but each part of a name's history began with one. So a rename stands after the last call of the parts that it
//   ended, and before the first call of those that it began; what is read from the lines in this order is what the database has.
import type { CopiedCarry, CopiedLine, CopiedSpend } from '../../parts/copied.ts';
import type { GatewayCall } from '../../port.ts';
import { columnsOf, GatewayLines } from '../gateway-lines.ts';
import { lineOf, type LineRow, MOST_USD, valuesOf } from '../ledger.ts';
import { makeParts } from '../partitions.ts';
import type { Database, Run } from '../pool.ts';
import { ADD_CALLS } from '../sql/gateway.ts';
import * as sql from '../sql/copy.ts';
import { LINES_IN_ORDER } from '../sql/ledger.ts';

const AT_ONCE = 1000;
const ORIGIN = 'copied';
/** In JSON, what PostgreSQL has no text for. */
const NO_TEXT = /\\u(?:0000|d[89a-f][0-9a-f]{2})/gi;

/** A rename that begins two parts. */
interface Rename extends CopiedCarry {
  readonly number: number;
  readonly began: readonly number[];
}

/** `run` is that of a transaction, which sees one moment. */
export async function* readLedger(run: Run): AsyncGenerator<CopiedLine> {
  const renames = await renamesIn(run);
  const parts = renames.flatMap(({ began, at, number }) => began.map((part) => ({ part, at, number })));
  await run({ name: '', text: `declare copy_ledger no scroll cursor for ${LINES_IN_ORDER.text}` }, [
    parts.map(({ part }) => part),
    parts.map(({ at }) => at),
    parts.map(({ number }) => number),
  ]);
  const waiting = [...renames];
  try {
    for (;;) {
      const rows = await run<LineRow & { place: Date; number: number }>(sql.FETCH_LEDGER);
      for (const row of rows) {
        for (let [next] = waiting; next !== undefined && isBefore(next, row); [next] = waiting) yield carryOf(waiting.shift() as Rename);
        yield lineOf(row);
      }
      if (rows.length === 0) break;
    }
    yield* waiting.map(carryOf);
  } finally {
    await run(sql.CLOSE_LEDGER);
  }
}

function isBefore({ at, number }: Rename, line: { readonly place: Date; readonly number: number }): boolean {
  const [mine, its] = [Date.parse(at), line.place.getTime()];
  return mine < its || (mine === its && number <= line.number);
}

function carryOf({ type, at, from, block }: Rename): CopiedCarry {
  return { type, at, from, block };
}

/** renames-in-order. */
async function renamesIn(run: Run): Promise<Rename[]> {
  type Row = { readonly part: number; readonly before: number; readonly is_rename: boolean };
  const lineage = await run<Row>(sql.LINEAGE);
  if (lineage.length === 0) return [];
  const names = new Map((await run<{ block: string; part: number }>(sql.BUDGETS)).map(({ block, part }) => [part, block]));
  const next = new Map(lineage.filter(({ is_rename }) => !is_rename).map(({ part, before }) => [before, part]));
  const before = new Map([...next].map(([old, part]) => [part, old]));
  const nameOf = (part: number): string => {
    let last = part;
    for (let after = next.get(last); after !== undefined; after = next.get(last)) last = after;
    return names.get(last) ?? '';
  };
  const parts = [...new Set(lineage.flatMap((row) => [row.part, row.before]))];
  const newest = new Map((await run<{ part: number; at: Date }>(sql.NEWEST, [parts])).map(({ part, at }) => [part, at.getTime()]));
  const moves = lineage
    .filter(({ is_rename }) => is_rename)
    .map(({ part: to, before: from }) => ({ from, to, began: [to, next.get(from) ?? to] }))
    .sort((a, b) => Math.min(...a.began) - Math.min(...b.began));
  let at = 0;
  return moves.map(({ from, to, began }, index) => {
    at = Math.max(at, newest.get(from) ?? 0, newest.get(before.get(to) ?? -1) ?? 0);
    return { type: 'carried', at: new Date(at).toISOString(), from: nameOf(from), block: nameOf(to), number: index + 1, began };
  });
}

/** whole-ledger. */
export async function putLedger(database: Database, lines: () => AsyncIterable<CopiedLine>): Promise<void> {
  await database.transaction(async (run) => {
    await run(sql.PATIENT);
    await run(sql.CLEAR_LEDGER);
    const book = new Parts();
    const known = new Set<string>();
    let rows: unknown[][] = [];
    const write = async (): Promise<void> => {
      await makeParts(
        run,
        'ledger',
        rows.map(([at]) => new Date(at as string)),
        known,
      );
      await run(sql.ADD_LINES, columns(rows, LINE_COLUMNS));
      rows = [];
    };
    for await (const line of lines()) {
      if ('type' in line) book.carry(line);
      else rows.push(rowOf(line, book.partOf(line.block)));
      if (rows.length === AT_ONCE) await write();
    }
    await write();
    await run(sql.ADD_BUDGETS, columns([...book.parts], 2));
    await run(sql.ADD_LINEAGE, columns(book.lineage, 3));
    await run(sql.LAST_PART, [book.last]);
    await run(sql.SUM_LEDGER, [MOST_USD]);
    await run(sql.SUM_COSTS);
  });
}

const LINE_COLUMNS = 13;

function rowOf(line: CopiedLine & { type?: never }, part: number): unknown[] {
  const [at, id, block, provider, model, purpose, message, usage, cost, failed, , , credential, step] = valuesOf(line);
  return [at, id, block, provider, model, purpose, message, cleaned(usage as string | null), cost, failed, credential, step, part];
}

function cleaned(json: string | null): string | null {
  return json === null ? null : json.replace(NO_TEXT, '\ufffd');
}

/** The parts of the histories of all names, as `ledger-carry` makes them. */
class Parts {
  readonly parts = new Map<string, number>();
  readonly lineage: [part: number, before: number, isRename: boolean][] = [];
  last = 0;

  partOf(block: string): number {
    const known = this.parts.get(block);
    return known ?? this.#begin(block);
  }

  carry({ from, block }: CopiedCarry): void {
    const [old, before] = [this.partOf(from), this.partOf(block)];
    this.lineage.push([this.#begin(from), old, false]);
    const part = this.#begin(block);
    this.lineage.push([part, before, false], [part, old, true]);
  }

  #begin(block: string): number {
    this.last += 1;
    this.parts.set(block, this.last);
    return this.last;
  }
}

/** whole-ledger. */
export async function putCalls(database: Database, calls: () => AsyncIterable<GatewayCall>, spent: readonly CopiedSpend[]): Promise<void> {
  await database.transaction(async (run) => {
    await run(sql.PATIENT);
    await run(sql.CLEAR_CALLS);
    const lines = new GatewayLines(Number.POSITIVE_INFINITY);
    const known = new Set<string>();
    const write = async (): Promise<void> => {
      const some = lines.take();
      await makeParts(
        run,
        'gateway_call',
        some.map(({ call }) => new Date(call.at)),
        known,
      );
      const [at = [], n = [], request = [], key = [], group = [], provider = [], model = [], usage = [], ...others] = columnsOf(some);
      const cleanUsage = (usage as (string | null)[]).map(cleaned);
      await run(ADD_CALLS, [ORIGIN, at, n, request, key, group, provider, model, cleanUsage, ...others]);
    };
    for await (const call of calls()) {
      lines.add({ ...call, id: undefined }); // of the folder
      if (lines.size === AT_ONCE) await write();
    }
    await write();
    const sums = spent.map(([day, account, { usd, tokens, calls: count, unpricedCalls }]) => [day, account, usd, Math.ceil(tokens), count, unpricedCalls]);
    await run(sql.ADD_SPENT, columns(sums, SPENT_COLUMNS));
    await run(sql.SUM_CALLS);
  });
}

const SPENT_COLUMNS = 6;

function columns(rows: readonly (readonly unknown[])[], count: number): unknown[][] {
  return Array.from({ length: count }, (_, column) => rows.map((row) => row[column]));
}
