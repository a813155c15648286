// Whole lines and whole characters in pieces of a log. Pure: no I/O.
import { invalidRequest } from '../../errors.ts';

/** The most that one part has, in bytes, and what it has by default. */
export const MAX_LOG_PART_BYTES = 1024 * 1024;
export const USUAL_PART_BYTES = 65_536;
const LF = 10;

/** Throws INVALID_REQUEST naming the field. */
export function assertPartSize(maxBytes: number): void {
  if (maxBytes < 1 || maxBytes > MAX_LOG_PART_BYTES) throw invalidRequest('max', `must be a number of bytes from 1 to ${MAX_LOG_PART_BYTES}`);
}

/** What a request gets that names no file. */
export function noLogFile(): Error {
  return invalidRequest('file', 'names no log file of this block; GET …/logs lists them');
}

/** The index after the first line end, or else of the next whole UTF-8 character. */
export function startOfLine(bytes: Buffer): number {
  const end = bytes.indexOf(LF) + 1;
  if (end > 0 && end < bytes.length) return end;
  let start = 1;
  while (start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return start;
}

/** Leaves out the rest of a character whose beginning was cut off. */
export function textOfEnd(bytes: Buffer, isCut: boolean): string {
  let start = 0;
  while (isCut && start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString('utf8', start);
}
