// Numbers, money, sizes and times as a person reads them. Pure.
const LOCALE = undefined;
const whole = new Intl.NumberFormat(LOCALE);
const compact = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });
const time = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const seconds = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' });
const dateOnly = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const fullDay = new Intl.DateTimeFormat(LOCALE, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const plurals = new Intl.PluralRules('en');

/** Shown where a value is not known. */
export const NONE = '–';

/** `1,284`. */
export function count(value: number): string {
  return whole.format(value);
}

/** `1.3K`. */
export function short(value: number): string {
  return value < 10_000 ? whole.format(value) : compact.format(value);
}

/** A mark of an axis whose marks are `step` apart, with the decimals that tell them apart: `0`, `0.05`, `0.10`. */
export function markText(value: number, step: number): string {
  if (step >= 1) return short(value);
  return value === 0 ? '0' : value.toFixed(String(step).split('.')[1]?.length ?? 0);
}

/** `58`, `6.2`, `0.04`: a small value is never rounded to zero. */
export function figure(value: number): string {
  return value.toLocaleString(LOCALE, value < 0.1 ? { maximumSignificantDigits: 1 } : { maximumFractionDigits: value < 10 ? 1 : 0 });
}

/** `3 messages`, `1 message`. */
export function plural(value: number, one: string, many: string): string {
  return `${count(value)} ${plurals.select(value) === 'one' ? one : many}`;
}

/** `0 %`, `0.4 %`, `75 %`: with a decimal where that says more. */
export function percent(value: number): string {
  return `${figure(value)} %`;
}

/** `$4.11`; `$0.0064` below a cent; null is unknown. */
export function usd(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE;
  if (value === 0) return '$0.00';
  if (Math.abs(value) < 0.0001) return '<$0.0001';
  const digits = Math.abs(value) < 0.01 ? 4 : 2;
  return `${value < 0 ? '−' : ''}$${Math.abs(value).toLocaleString(LOCALE, { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** `0.7 s`, `340 ms`, `2 min 4 s`. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NONE;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
}

/** `12 s ago`, `2 min ago`, `5 h ago`, `3 d ago`. The future is `in 34 s`. */
export function ago(at: string | null | undefined, nowMs: number): string {
  const then = Date.parse(at ?? '');
  if (Number.isNaN(then)) return NONE;
  const s = Math.round((nowMs - then) / 1000);
  if (s < 0) return `in ${span(-s)}`;
  if (s < 5) return 'now';
  return `${span(s)} ago`;
}

function span(s: number): string {
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86_400)} d`;
}

/** `14:31`. */
export function clock(at: string | number): string {
  return time.format(new Date(at));
}

/** `14:31:05`. */
export function clockSeconds(at: string | number): string {
  return seconds.format(new Date(at));
}

/** `Today`, `Yesterday`, `3 Nov`. */
export function dayName(at: string | number, nowMs: number): string {
  const days = Math.round((startOfDay(nowMs) - startOfDay(new Date(at).getTime())) / 86_400_000);
  return ['Today', 'Yesterday'][days] ?? day.format(new Date(at));
}

/** `3 Nov`, of a date without a time: `2026-11-03`. */
export function dateName(date: string): string {
  return dateOnly.format(new Date(date));
}

/** Date and time in full, for a title. */
export function fullTime(at: string | number): string {
  const date = new Date(at);
  return `${fullDay.format(date)}, ${seconds.format(date)} (${date.toISOString()})`;
}

/** `16.4 KB`. */
export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  let size = value / 1024;
  let unit = 0;
  for (; size >= 1024 && unit < units.length - 1; unit += 1) size /= 1024;
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

function startOfDay(ms: number): number {
  return new Date(ms).setHours(0, 0, 0, 0);
}
