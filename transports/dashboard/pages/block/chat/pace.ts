// When the daily cap is reached if the day goes on as it began. Pure.

/** Less of a day says nothing about its pace. */
const LEAST_MS = 30 * 60_000;
const DAY_MS = 86_400_000;

/** Epoch milliseconds; undefined if the cap is not reached today, or is already. */
export function capReachedAt(spent: number, cap: number | null | undefined, sinceMidnightMs: number, nowMs: number): number | undefined {
  if (cap === null || cap === undefined || spent <= 0 || spent >= cap || sinceMidnightMs < LEAST_MS) return undefined;
  const left = ((cap - spent) / spent) * sinceMidnightMs;
  return sinceMidnightMs + left < DAY_MS ? nowMs + left : undefined;
}

/** Milliseconds since the day began in a time zone; in UTC if the zone is unknown. */
export function sinceMidnight(nowMs: number, timeZone: string): number {
  return partsOf(nowMs, timeZone) ?? nowMs % DAY_MS;
}

function partsOf(nowMs: number, timeZone: string): number | undefined {
  try {
    const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
    const [hours = 0, minutes = 0, seconds = 0] = format.format(nowMs).split(':').map(Number);
    return ((hours * 60 + minutes) * 60 + seconds) * 1000;
  } catch {
    return undefined; // a zone that this browser does not know
  }
}
