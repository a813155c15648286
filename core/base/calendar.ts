// When days and months begin in a time zone. Pure: no I/O.
import { invalidRequest } from '../errors.ts';

/** When the day of `nowMs` began in `timezone`, in epoch milliseconds. Throws INVALID_REQUEST for an unknown timezone. */
export function dayStart(nowMs: number, timezone: string): number {
  const { year, month, day } = dateIn(timezone, nowMs);
  return startOf(year, month, day, timezone);
}

/** When the month of `nowMs` began. */
export function monthStart(nowMs: number, timezone: string): number {
  const { year, month } = dateIn(timezone, nowMs);
  return startOf(year, month, 1, timezone);
}

/** When the next day begins. */
export function nextDayStart(nowMs: number, timezone: string): number {
  const { year, month, day } = dateIn(timezone, nowMs);
  return startOf(year, month, day + 1, timezone);
}

/** When the next month begins. */
export function nextMonthStart(nowMs: number, timezone: string): number {
  const { year, month } = dateIn(timezone, nowMs);
  return startOf(year, month + 1, 1, timezone);
}

/** The date of `nowMs` in `timezone`, as `2026-11-20`; the first seven characters are the month. Throws INVALID_REQUEST for an unknown timezone. */
export function dateKey(nowMs: number, timezone: string): string {
  return keyOf(dateIn(timezone, nowMs));
}

/** Throws INVALID_REQUEST naming `budget.timezone` for an unknown one. */
export function assertTimezone(timezone: string): void {
  formatOf(timezone);
}

interface CalendarDate {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
}

const HOUR_MS = 3_600_000;

/**
 * The first moment whose date in `timezone` is the given one or later. If a change of the clocks skips midnight, the day begins after the gap; if
 * midnight comes twice, at the first one. A month or day beyond its range overflows, as in Date.
 */
function startOf(year: number, month: number, day: number, timezone: string): number {
  const utcMidnight = Date.UTC(year, month - 1, day);
  const wanted = keyOf(dateIn('UTC', utcMidnight));
  // Offsets lie between -12 and +14 hours. Dates never go back, because a clock that is set back at midnight has not shown the new date yet. So a
  // binary search finds the border to the millisecond.
  let before = utcMidnight - 16 * HOUR_MS;
  let after = utcMidnight + 14 * HOUR_MS;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (keyOf(dateIn(timezone, middle)) >= wanted) after = middle;
    else before = middle;
  }
  return after;
}

/** By timezone. Making a format takes far longer than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

function dateIn(timezone: string, at: number): CalendarDate {
  const parts = formatOf(timezone).formatToParts(at);
  const value = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  return { year: value('year'), month: value('month'), day: value('day') };
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known !== undefined) return known;
  const made = makeFormat(timezone);
  formats.set(timezone, made);
  return made;
}

function makeFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US-u-ca-gregory', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalidRequest('budget.timezone', `must be an IANA time zone such as UTC or Europe/Berlin, not ${JSON.stringify(timeZone)}`);
  }
}

/** `2026-11-20`; sorts like the date. */
function keyOf({ year, month, day }: CalendarDate): string {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}
