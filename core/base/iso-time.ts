// Times as ISO 8601 in UTC. Pure: no I/O.

let last = { ms: Number.NaN, text: '' };

/** Such as 2026-11-22T14:03:22.123Z. The last one is kept, since within a millisecond a busy server asks for it ten times. */
export function isoTime(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
