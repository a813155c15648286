// When days and months begin in a time zone. Pure: no I/O.
//
// utc-by-date: the first format of a process takes 12 ms, and most servers only ever ask for UTC, which Date knows.
import { invalidRequest } from '../errors.ts';

/** When the day of `nowMs` began in `timezone`, in epoch milliseconds. Throws INVALID_REQUEST for an unknown timezone. */
export function dayStart(nowMs: number, timezone: string): number {
  return dayOf(nowMs, timezone).start;
}

/** When the month of `nowMs` began. */
export function monthStart(nowMs: number, timezone: string): number {
  return monthOf(nowMs, timezone).start;
}

/** When the next day begins. */
export function nextDayStart(nowMs: number, timezone: string): number {
  return dayOf(nowMs, timezone).end;
}

/** When the next month begins. */
export function nextMonthStart(nowMs: number, timezone: string): number {
  return monthOf(nowMs, timezone).end;
}

/** The date of `nowMs` in `timezone`, as `2026-11-20`; the first seven characters are the month. Throws INVALID_REQUEST for an unknown timezone. */
export function dateKey(nowMs: number, timezone: string): string {
  const day = days.get(timezone);
  return keyOf(day !== undefined && isIn(day, nowMs) ? day.date : dateIn(timezone, nowMs));
}

/** Throws INVALID_REQUEST naming `budget.timezone` for an unknown one. */
export function assertTimezone(timezone: string): void {
  if (timezone !== UTC) formatOf(timezone);
}

interface CalendarDate {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
}

/** From its first moment to that of the next one. */
interface Span {
  /** Of the first day. */
  readonly date: CalendarDate;
  readonly start: number;
  readonly end: number;
}

const HOUR_MS = 3_600_000;
const UTC = 'UTC';

/** The day and the month that were asked for last, by timezone: to find where one begins takes some thirty looks at a calendar, and each message asks. */
const days = new Map<string, Span>();
const months = new Map<string, Span>();

function dayOf(nowMs: number, timezone: string): Span {
  return spanOf(days, nowMs, timezone, (date) => {
    const { year, month, day } = date;
    return { date, start: startOf(year, month, day, timezone), end: startOf(year, month, day + 1, timezone) };
  });
}

function monthOf(nowMs: number, timezone: string): Span {
  return spanOf(months, nowMs, timezone, ({ year, month }) => {
    const date = { year, month, day: 1 };
    return { date, start: startOf(year, month, 1, timezone), end: startOf(year, month + 1, 1, timezone) };
  });
}

function spanOf(spans: Map<string, Span>, nowMs: number, timezone: string, make: (date: CalendarDate) => Span): Span {
  const last = spans.get(timezone);
  if (last !== undefined && isIn(last, nowMs)) return last;
  const made = make(dateIn(timezone, nowMs));
  spans.set(timezone, made);
  return made;
}

function isIn({ start, end }: Span, nowMs: number): boolean {
  return nowMs >= start && nowMs < end;
}

/**
 * The first moment whose date in `timezone` is the given one or later. If a change of the clocks skips midnight, the day begins after the gap; if
 * midnight comes twice, at the first one. A month or day beyond its range overflows, as in Date.
 */
function startOf(year: number, month: number, day: number, timezone: string): number {
  const utcMidnight = Date.UTC(year, month - 1, day);
  if (timezone === UTC) return utcMidnight;
  const wanted = keyOf(dateIn(UTC, utcMidnight));
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
  if (timezone === UTC) {
    const [year = 0, month = 0, day = 0] = new Date(at).toISOString().slice(0, 10).split('-').map(Number); // utc-by-date
    return { year, month, day };
  }
  const [month = 0, day = 0, year = 0] = formatOf(timezone).format(at).split('/').map(Number);
  return { year, month, day };
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
