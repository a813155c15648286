// The journals and results of a block's runs in PostgreSQL as the files that they are in a folder, for bundles and copies.
//
// same-lines: a journal has the lines that it had in its file, so that a copy there and back changes nothing.
import type { Approval, RunRecord } from '../../types.ts';
import type { CopiedRun } from '../parts/copied.ts';
import { parseRunLines, runFile, runFileOf } from '../parts/run-lines.ts';
import type { Run } from './pool.ts';
import { journalOf, readResult } from './runs.ts';
import * as sql from './sql/runs.ts';

const MOST_BYTES = 4 * 1024 * 1024;

/** The files of a block, sorted by their names. */
export async function runFilesOf(run: Run, block: number): Promise<CopiedRun[]> {
  const rows = await run<{ run: string; ref: string | null; at: Date | null }>(sql.RUN_FILES, [block]);
  const files = rows.map(({ run: name, ref, at }) => ({
    file: runFile(name, ref ?? undefined),
    at: at ?? undefined,
    bytes: async () => {
      if (ref !== null) return (await readResult(run, block, name, ref)) ?? Buffer.alloc(0);
      return journalOf(await run<{ record: string }>(sql.STEPS, [block, name]));
    },
  }));
  return files.sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** Adds a file to a block that has none of its name. Rejects with an Error that names the line of a journal and what is wrong with it. */
export async function addRunFile(run: Run, block: number, { file, at = new Date(), bytes }: CopiedRun): Promise<void> {
  const place = runFileOf(file);
  if (place === undefined) return;
  const whole = await bytes();
  if (place.ref !== undefined) {
    await run(sql.ADD_RESULT, [block, place.run, place.ref, at.toISOString(), whole]);
    return;
  }
  const { records, size } = await parseRunLines(whole);
  let number = 0;
  for (const lines of inPieces(whole.subarray(0, size).toString('utf8').split('\n').slice(0, -1))) {
    await run(sql.ADD_RECORDS, [block, place.run, number, lines]); // same-lines
    number += lines.length;
  }
  const asked = approvalsIn(records);
  if (asked.length > 0) await run(sql.ADD_APPROVALS, [block, place.run, ...columnsOf(asked)]);
}

interface Asked {
  readonly approval: Approval;
  readonly decision: Extract<RunRecord, { readonly t: 'decision' }> | undefined;
}

/** What was asked. What has an outcome without a decision does not wait, and is none of the list. */
function approvalsIn(records: readonly RunRecord[]): Asked[] {
  const decisions = new Map<string, Asked['decision']>();
  const over = new Set<string>();
  for (const record of records) {
    if (record.t === 'decision' && !decisions.has(record.approval)) decisions.set(record.approval, record);
    if (record.t === 'result' || record.t === 'refused' || record.t === 'unknown') over.add(record.call);
  }
  return records.flatMap((record) => {
    if (record.t !== 'ask') return [];
    const decision = decisions.get(record.approval.id);
    return decision === undefined && over.has(record.call) ? [] : [{ approval: record.approval, decision }];
  });
}

function columnsOf(asked: readonly Asked[]): unknown[][] {
  return [
    asked.map(({ approval }) => approval.id),
    asked.map(({ approval }) => approval.expiresAt),
    asked.map(({ approval }) => JSON.stringify(approval)),
    asked.map(({ decision }) => decision?.at ?? null),
    asked.map(({ decision }) => decision?.decision ?? null),
    asked.map(({ decision }) => (decision === undefined ? null : JSON.stringify(decision))),
  ];
}

function* inPieces(lines: readonly string[]): Generator<string[]> {
  let piece: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    if (piece.length > 0 && bytes + line.length > MOST_BYTES) {
      yield piece;
      piece = [];
      bytes = 0;
    }
    piece.push(line);
    bytes += line.length;
  }
  if (piece.length > 0) yield piece;
}
