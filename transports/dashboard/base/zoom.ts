// The part of the time that the plots of a page show. Pure.

/** Epoch milliseconds; undefined is the whole time. */
export type Span = { readonly from: number; readonly to: number } | undefined;
export type Step = 'in' | 'out' | 'back' | 'on';

/** Points that are left at the nearest. */
const MIN_POINTS = 4;

/** The span after a step: half or twice as long around its middle, or a quarter of it earlier or later. It never leaves the times. */
export function stepped(span: Span, times: readonly number[], step: Step): Span {
  const first = times[0] ?? 0;
  const last = times.at(-1) ?? 0;
  const least = ((last - first) / Math.max(1, times.length - 1)) * MIN_POINTS;
  const { from, to } = span ?? { from: first, to: last };
  const old = to - from;
  const lengths = { in: Math.max(old / 2, Math.min(old, least)), out: old * 2, back: old, on: old };
  const length = lengths[step];
  if (length >= last - first) return undefined;
  const moves = { in: 0, out: 0, back: -old / 4, on: old / 4 };
  const start = Math.min(Math.max((from + to - length) / 2 + moves[step], first), last - length);
  return { from: start, to: start + length };
}
