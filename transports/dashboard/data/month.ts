// What days and a month have cost so far. Pure.

/** Fewer days would not show how long ago each of them was. */
const MIN_DAYS = 30;
const MAX_DAYS = 45;
const DAY_MS = 86_400_000;

/** Every date from the first of `days` up to `today` (`2026-11-23`), with gaps filled: at least 30 dates, at most the newest 45. */
export function calendarOf(days: readonly string[], today: string): readonly string[] {
  const last = Date.parse([...days, today].sort().at(-1) ?? today);
  const first = Date.parse([...days, today].sort()[0] ?? today);
  const length = Math.min(MAX_DAYS, Math.max(MIN_DAYS, (last - first) / DAY_MS + 1));
  return Array.from({ length }, (_, index) => new Date(last - (length - 1 - index) * DAY_MS).toISOString().slice(0, 10));
}

/** The sum at the end of each day of the month, up to and with `today` (`2026-11-23`). Days without an entry add nothing. */
export function monthSums(days: readonly { readonly day: string; readonly cost: number | null }[], today: string): readonly number[] {
  const costs = new Map(days.map(({ day, cost }) => [day, cost ?? 0]));
  let sum = 0;
  return Array.from({ length: Number(today.slice(8)) }, (_, index) => {
    sum += costs.get(`${today.slice(0, 8)}${String(index + 1).padStart(2, '0')}`) ?? 0;
    return sum;
  });
}

/** Days of the month of `today`. */
export function daysInMonth(today: string): number {
  const [year = 0, month = 1] = today.split('-').map(Number);
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}
