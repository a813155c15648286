// The lines of a run's journal: one record each, checked when they are read. Pure: no I/O.
//
// torn-is-unwritten: what follows the last newline was never confirmed to anybody, so it is not there.
// skipped-kinds: a record of a kind that this version does not know keeps its number and says nothing.
import { isObject } from '../../base/json.ts';
import { parseBytes } from '../../base/strict-json.ts';
import { RunRecord } from '../../schemas/chat-entry.ts';
import { compile, faultOf, type Validator } from '../../schemas/validate.ts';

const NEWLINE = 0x0a;

const CHECKS = new Map<string, Validator<RunRecord>>(RunRecord.anyOf.map((schema) => [schema.properties.t.const, compile<RunRecord>(schema)]));

/** A record as its line, with the newline. */
export function runLine(record: RunRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** The records of a journal, and how many bytes they take: more than that was torn. Throws an Error that names the line and what is wrong with it. */
export function parseRunLines(bytes: Buffer): { readonly records: RunRecord[]; readonly size: number } {
  const records: RunRecord[] = [];
  let size = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, size)) {
    records.push(recordIn(bytes.subarray(size, end), records.length + 1));
    size = end + 1;
  }
  return { records, size }; // torn-is-unwritten
}

function recordIn(line: Buffer, number: number): RunRecord {
  try {
    const value = parseBytes(line);
    if (!isObject(value) || typeof value['t'] !== 'string') throw new Error('it is not a record');
    CHECKS.get(value['t'])?.(value); // skipped-kinds
    return value as unknown as RunRecord;
  } catch (error) {
    throw new Error(`line ${number}: ${faultOf(error)}`, { cause: error });
  }
}
