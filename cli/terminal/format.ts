// Times, money and sizes in few characters. Pure: no I/O.

/** Shown for an unknown value. */
export const UNKNOWN = '-';

const UNITS: readonly [seconds: number, letter: string][] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
  [1, 's'],
];

/** A number of milliseconds as its largest whole unit, such as `3m`. */
export function span(milliseconds: number): string {
  return inUnits(milliseconds, Math.floor);
}

function inUnits(milliseconds: number, whole: (units: number) => number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [size, letter] = UNITS.find(([unit]) => seconds >= unit) ?? [1, 's'];
  return `${whole(seconds / size)}${letter}`;
}

/** `3m ago`, `in 2h` or `now`. `time` is ISO 8601, `now` epoch milliseconds. What comes is rounded: somebody who has just said 30d reads 30d. */
export function relative(time: string | null | undefined, now: number): string {
  const at = time == null ? Number.NaN : Date.parse(time);
  if (Number.isNaN(at)) return UNKNOWN;
  const distance = now - at;
  if (distance < -1000) return `in ${inUnits(-distance, Math.round)}`;
  return distance < 1000 ? 'now' : `${span(distance)} ago`;
}

const CENT = 0.01;
const CENTS = { minimumFractionDigits: 2, maximumFractionDigits: 2 };

/** USD with two digits, or more below a cent, and thousands separators. Null means unknown, not free. */
export function money(usd: number | null | undefined): string {
  if (usd == null) return UNKNOWN;
  if (usd === 0) return '$0';
  return usd < CENT ? `$${Number(usd.toPrecision(2)).toFixed(usd < 0.0001 ? 6 : 4)}` : `$${usd.toLocaleString('en-US', CENTS)}`;
}

/** `$0.31`; `$0.31 + 5 not priced` and `5 not priced` with calls whose price is not known, since those are not free. */
export function spending(usd: number | null | undefined, unpricedCalls: number): string {
  if (unpricedCalls === 0) return money(usd);
  const uncounted = `${count(unpricedCalls)} not priced`;
  return usd == null || usd === 0 ? uncounted : `${money(usd)} + ${uncounted}`;
}

/** A number with thousands separators, such as `12,345`. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

const STEP = 1024;

/** A size in bytes with a binary unit, such as `4.2 KiB`. */
export function bytes(value: number | undefined): string {
  if (value === undefined) return UNKNOWN;
  const names = ['B', 'KiB', 'MiB', 'GiB'];
  let size = value;
  let name = 0;
  while (size >= STEP && name < names.length - 1) {
    size /= STEP;
    name += 1;
  }
  return `${name === 0 ? size : size.toFixed(1)} ${names[name]}`;
}

/** `1 message`, `2 messages`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
