// The lines of a run's journal: one record each, checked when they are read, and the names of what a run leaves. Pure: no I/O.
//
// torn-is-unwritten: what follows the last newline was never confirmed to anybody, so it is not there.
// skipped-kinds: a record of a kind that this version does not know keeps its number and says nothing.
// in-turns: others are served while a long journal, or many short ones, are read. One in an archive may come from anybody, and a small archive may hold millions of lines, so their number is bounded there.
import { createHash } from 'node:crypto';
import { isObject } from '../../base/json.ts';
import { hasRoom, nextTurn, sharedTurn } from '../../base/next-turn.ts';
import { parseBytes } from '../../base/strict-json.ts';
import { RunRecord } from '../../schemas/chat-entry.ts';
import { compile, faultOf, type Validator } from '../../schemas/validate.ts';

const NEWLINE = 0x0a;
const PLAIN_ID = /^[A-Za-z0-9_-]{1,128}$/;
/** The place of a call in its run. */
export const REF = /^\d{1,9}\.\d{1,9}p?$/;
/** As many have a place (REF). */
const MAX_STEP = 999_999_999;
/** More than the longest run writes. */
export const MAX_JOURNAL_BYTES = 256 * 1024 * 1024;
/** Of a journal in an archive; the longest run writes a third of that. */
export const MAX_ARCHIVED_LINES = 250_000;
/** in-turns. */
const SLICE_MS = 10;
/** Of all whole results of a block. */
export const MAX_RESULT_BYTES = 64 * 1024 * 1024;

const CHECKS = new Map<string, Validator<RunRecord>>(RunRecord.anyOf.map((schema) => [schema.properties.t.const, compile<RunRecord>(schema)]));

/** The name of the journal of a message, without its ending. A person may write any id into chat.json, also one that leads elsewhere as a path. */
export function runName(id: string): string {
  return PLAIN_ID.test(id) ? id : `x-${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}

/** What a file in runs/ is: the journal of a run, or, with a `ref`, a whole result. Undefined for a name that no store makes. */
export function runFileOf(file: string): { readonly run: string; readonly ref: string | undefined } | undefined {
  const [, run = '', ref] = /^([A-Za-z0-9_-]{1,128})(?:\.jsonl|\.(\d{1,9}\.\d{1,9}p?)\.json)$/.exec(file) ?? [];
  return run === '' ? undefined : { run, ref };
}

/** The name of a file in runs/. */
export function runFile(run: string, ref?: string): string {
  return ref === undefined ? `${run}.jsonl` : `${run}.${ref}.json`;
}

/** A record as its line, with the newline. */
export function runLine(record: RunRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/**
 * The records of a journal, and how many bytes they take: more than that was torn. Rejects with an Error that names the line and what is wrong with it, or where there are
 * more than `most`. in-turns.
 */
export async function parseRunLines(bytes: Buffer, most = Number.POSITIVE_INFINITY): Promise<{ readonly records: RunRecord[]; readonly size: number }> {
  const records: RunRecord[] = [];
  let size = 0;
  if (!hasRoom()) await sharedTurn('journals'); // many journals may be read in one go
  let until = performance.now() + SLICE_MS;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, size)) {
    if (records.length >= most) throw new Error(`it has more than ${most} lines`);
    records.push(recordIn(bytes.subarray(size, end), records.length + 1));
    size = end + 1;
    if (performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + SLICE_MS;
  }
  return { records, size }; // torn-is-unwritten
}

function recordIn(line: Buffer, number: number): RunRecord {
  try {
    const value = parseBytes(line);
    if (!isObject(value) || typeof value['t'] !== 'string') throw new Error('it is not a record');
    if (Number(value['step'] ?? 0) > MAX_STEP) throw new Error(`its step is above ${MAX_STEP}`);
    CHECKS.get(value['t'])?.(value); // skipped-kinds
    return value as unknown as RunRecord;
  } catch (error) {
    throw new Error(`line ${number}: ${faultOf(error)}`, { cause: error });
  }
}
