// The journals of a block's runs in PostgreSQL, one row for each record. Each append is one statement (sql/runs.ts).
//
// fenced: what the owner of a block appends carries its claim, and is refused with LEASE_LOST when the block is another's: then nothing was appended.
// by-anybody: what is appended without a claim, such as a decision, waits a moment while a server works on a message of the block, and is refused then. What it says is due
//   at once.
// same-number-same-record: the primary key takes one record of each number. So of two writers one holds, and one whose answer was lost may be repeated.
import { setTimeout as delay } from 'node:timers/promises';
import { parseJson } from '../../base/json.ts';
import { BlockhouseError, leaseLost } from '../../errors.ts';
import type { Approval, RunRecord } from '../../types.ts';
import type { ApprovalStore, ListedApprovals, StoredApproval } from '../approvals.ts';
import { parseRunLines, REF, runFile, runLine, runName } from '../parts/run-lines.ts';
import type { Claim } from '../port.ts';
import { sqlStateOf } from './faults.ts';
import type { Database, Run } from './pool.ts';
import * as sql from './sql/runs.ts';

const IS_THERE = '23505';
/** by-anybody. */
const MOST_TRIES = 20;
const PAUSE_MS = 50;
const PIECE_BYTES = 2 * 1024 * 1024;

/** The members of a conversation for runs. */
export class PostgresRuns {
  readonly #database: Database;
  readonly #block: number;

  constructor(database: Database, block: number) {
    this.#database = database;
    this.#block = block;
  }

  async appendSteps(claim: Claim | undefined, messageId: string, from: number, records: readonly RunRecord[]): Promise<void> {
    if (records.length === 0) return;
    if (await this.#append(claim, messageId, from, records)) return;
    const missing = await this.#missing(messageId, from, records);
    if (missing.length === 0) return;
    if (!(await this.#append(claim, messageId, from + records.length - missing.length, missing))) throw overtaken();
  }

  async steps(messageId: string): Promise<readonly RunRecord[]> {
    return (await this.#lines(messageId)).records;
  }

  async result(messageId: string, ref: string): Promise<Uint8Array | undefined> {
    return REF.test(ref) ? readResult(this.#database.query, this.#block, runName(messageId), ref) : undefined;
  }

  async keepResult(claim: Claim, messageId: string, ref: string, bytes: Uint8Array): Promise<void> {
    const values = [this.#block, claim.owner, claim.fence, runName(messageId), ref, Buffer.from(bytes)];
    const [row] = await this.#database.query<{ ours: boolean }>(sql.KEEP_RESULT, values);
    if (row?.ours !== true) throw leaseLost();
  }

  async clearSteps(): Promise<number> {
    const [row] = await this.#database.query<{ cleared: number }>(sql.CLEAR_STEPS, [this.#block]);
    return row?.cleared ?? 0;
  }

  /** False if a number is taken, or there is no record before the first one. */
  async #append(claim: Claim | undefined, messageId: string, from: number, records: readonly RunRecord[], tries = 1): Promise<boolean> {
    const asked = records.flatMap((record) => (record.t === 'ask' ? [record.approval] : []));
    const decided = records.flatMap((record) => (record.t === 'decision' ? [record] : []));
    const values = [
      ...[this.#block, claim?.owner ?? null, claim?.fence ?? null, runName(messageId), from, records.map(lineOf)],
      ...[asked.map(({ id }) => id), asked.map(({ expiresAt }) => expiresAt), asked.map((approval) => JSON.stringify(approval))],
      ...[decided.map(({ approval }) => approval), decided.map(({ at }) => at), decided.map(({ decision }) => decision), decided.map(lineOf)],
    ];
    const [row] = await this.#database.query<{ ours: boolean; added: number }>(sql.APPEND_STEPS, values).catch((error: unknown) => {
      if (sqlStateOf(error) === IS_THERE) return [{ ours: true, added: 0 }];
      throw error;
    });
    if (row === undefined) throw leaseLost();
    if (row.ours) return row.added > 0;
    if (claim !== undefined) throw leaseLost();
    if (tries >= MOST_TRIES)
      throw new BlockhouseError('WRONG_STATE', 'A server works on the message now, so nothing can be decided about it. Look at it again.');
    await delay(PAUSE_MS);
    return this.#append(claim, messageId, from, records, tries + 1);
  }

  /** same-number-same-record. */
  async #missing(messageId: string, from: number, records: readonly RunRecord[]): Promise<readonly RunRecord[]> {
    const { records: there } = await this.#lines(messageId);
    if (from > there.length) throw overtaken(); // what a database had not kept when it crashed
    for (const [index, record] of records.entries()) {
      const other = there[from + index];
      if (other === undefined) return records.slice(index);
      if (runLine(other) !== runLine(record)) throw overtaken();
    }
    return [];
  }

  async #lines(messageId: string): Promise<{ readonly records: RunRecord[] }> {
    const run = runName(messageId);
    const rows = await this.#database.query<{ record: string }>(sql.STEPS, [this.#block, run]);
    try {
      return await parseRunLines(journalOf(rows));
    } catch (error) {
      const text = `${runFile(run)} can't be used: ${(error as Error).message}. Repair it in the database.`;
      throw new BlockhouseError('BLOCK_DAMAGED', text, { cause: error });
    }
  }
}

/** A whole result, in pieces, because the driver reads a large value slowly. Undefined if there is none. */
export async function readResult(query: Run, block: number, run: string, ref: string): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  for (let from = 1; ; from += PIECE_BYTES) {
    const [row] = await query<{ bytes: Buffer }>(sql.RESULT, [block, run, ref, from, PIECE_BYTES]);
    if (row === undefined) return undefined;
    pieces.push(row.bytes);
    if (row.bytes.length < PIECE_BYTES) return Buffer.concat(pieces);
  }
}

/** The bytes of a journal. */
export function journalOf(rows: readonly { readonly record: string }[]): Buffer {
  return Buffer.from(rows.map(({ record }) => `${record}\n`).join(''));
}

/** What waits for people in the blocks that all servers share. */
export class PostgresApprovals implements ApprovalStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async list({ decisions, block, after, limit }: ListedApprovals): Promise<readonly StoredApproval[]> {
    const { at, id } = after ?? (decisions === undefined ? FIRST : NEWEST);
    const values = [block ?? null, at, id, limit];
    const rows = await (decisions === undefined
      ? this.#database.query<ApprovalRow>(sql.PENDING, values)
      : this.#database.query<ApprovalRow>(sql.DECIDED, [...values, decisions]));
    return rows.map(approvalOf);
  }

  async find(id: string): Promise<StoredApproval | undefined> {
    const [row] = await this.#database.query<ApprovalRow>(sql.APPROVAL_OF, [id.replaceAll('\0', '')]);
    return row && approvalOf(row);
  }
}

interface ApprovalRow {
  readonly block: string;
  readonly asked: string;
  readonly decided: string | null;
}

const FIRST = { at: '-infinity', id: '' } as const;
const NEWEST = { at: 'infinity', id: '' } as const;

function approvalOf({ block, asked, decided }: ApprovalRow): StoredApproval {
  const decision = decided === null ? undefined : (parseJson(decided) as StoredApproval['decision']);
  return { approval: parseJson(asked) as unknown as Approval, block, decision };
}

function lineOf(record: RunRecord): string {
  return runLine(record).slice(0, -1);
}

function overtaken(): BlockhouseError {
  return new BlockhouseError('REVISION_MISMATCH', 'Somebody else has written into the journal of the run meanwhile. Read it again.');
}
