// Says when the running Node gets no security fixes any more. Pure: no I/O.

/** The last day with security fixes of each release line, by the schedule of the Node project. */
const LAST_DAYS: Readonly<Record<number, string>> = {
  20: '2026-04-30',
  21: '2024-06-01',
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
  26: '2029-04-30',
};

/** A sentence for the log; undefined for a version that gets fixes, or whose end is not known. `version` is like 20.19.0, `now` epoch milliseconds. */
export function nodeNotice(version: string, now: number): string | undefined {
  const today = new Date(now).toISOString().slice(0, 10);
  const line = Number(version.split('.')[0]);
  const last = LAST_DAYS[line];
  if (last === undefined || today <= last) return undefined;
  const maintained = Object.entries(LAST_DAYS).flatMap(([other, end]) => (Number(other) > line && today <= end ? [other] : []));
  const better =
    maintained.length === 0 ? 'newer versions do' : `Node ${maintained.join(', ').replace(/, (\d+)$/, ' and $1')} ${maintained.length === 1 ? 'does' : 'do'}`;
  return `Node ${line} has had no security fixes since ${last}; ${better}. Blockhouse runs on it all the same. BLOCKHOUSE_NODE_NOTICE=off leaves this line out.`;
}
