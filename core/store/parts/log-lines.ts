// The lines and the names of a block's log files. Pure: no I/O.
import { escapeInvisible } from '../../base/invisible.ts';
import type { LogFields, LogLevel } from '../store.ts';

/** A longer value is cut: a log records what happened, not what people said. */
const MAX_VALUE_CHARACTERS = 2000;
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-[a-z0-9-]+\.log$/;
const TIME_CHARACTERS = '2026-11-20T14-03-22Z'.length;
const NEEDS_QUOTES = /^$|[\s"'\\=]|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** One event as one line, newline included. Fields that are undefined are left out. `now` in epoch milliseconds. */
export function logLine(now: number, level: LogLevel, event: string, fields: LogFields): string {
  const words = [new Date(now).toISOString(), level, quoted(event)];
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) words.push(`${key.replaceAll(/[^\w.-]/g, '_')}=${typeof value === 'string' ? quoted(value) : String(rounded(value))}`);
  }
  return `${words.join(' ')}\n`;
}

/** A number with as many digits as a person reads: one after the point, and two below 1, such as a price. Other values stay. */
export function rounded<T>(value: T): T | number {
  if (typeof value !== 'number' || Number.isInteger(value) || !Number.isFinite(value)) return value;
  return Math.abs(value) < 1 ? Number(value.toPrecision(2)) : Math.round(value * 10) / 10;
}

function quoted(value: string): string {
  const text = value.length > MAX_VALUE_CHARACTERS ? `${value.slice(0, MAX_VALUE_CHARACTERS)}…` : value;
  if (!NEEDS_QUOTES.test(text)) return text;
  return escapeInvisible(JSON.stringify(text));
}

/** The name of a log file that begins now. `count` distinguishes files of the same second. */
export function logName(now: number, channel: string, count: number): string {
  const time = new Date(now).toISOString().slice(0, 19).replaceAll(':', '-');
  const safe = channel
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 32);
  return `${time}Z-${safe === '' ? 'log' : safe}${count === 0 ? '' : `-${count + 1}`}.log`;
}

/** True for a name that `logName` gives. */
export function isLogName(name: string): boolean {
  return NAME.test(name);
}

/** Newest first, as far as names tell: ours by their time, then all others. */
export function compareLogNames(a: string, b: string): number {
  const [ours, theirs] = [isLogName(a), isLogName(b)];
  return ours === theirs ? newestFirst(a, b) : ours ? -1 : 1;
}

/** The same for names that are all ours, or all foreign. */
export function newestFirst(a: string, b: string): number {
  // By length first where only the count differs: 10 comes after 9.
  if (a.length !== b.length && a.startsWith(b.slice(0, TIME_CHARACTERS))) return b.length - a.length;
  return a < b ? 1 : a > b ? -1 : 0;
}

/** The first `count` of any number of names, in order, without sorting them all: a folder may hold a hundred thousand. */
export function firstNames(names: readonly string[], count: number, compare: (a: string, b: string) => number): string[] {
  let kept: string[] = [];
  let last: string | undefined;
  for (const name of names) {
    if (last !== undefined && compare(name, last) > 0) continue;
    kept.push(name);
    if (kept.length < 8 * count) continue;
    kept = kept.sort(compare).slice(0, count);
    last = kept.at(-1);
  }
  return kept.sort(compare).slice(0, count);
}

const PIECE_BYTES = 256 * 1024;
const LF = 10;

/** Where a piece of a log ends that begins at `from`: after a line, if one ends there. */
export function endOfPiece(bytes: Buffer, from: number): number {
  const most = Math.min(from + PIECE_BYTES, bytes.length);
  if (most === bytes.length) return most;
  const end = bytes.lastIndexOf(LF, most - 1) + 1;
  return end > from ? end : most;
}
