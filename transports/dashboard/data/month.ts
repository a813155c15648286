// What a month has cost so far, day by day. Pure.

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
