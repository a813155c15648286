// Waits for a condition instead of a time.
import { setTimeout as delay } from 'node:timers/promises';

const SHORTEST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 250;
const ASKING_PAUSE_MS = 20;

/**
 * Resolves once `condition` holds; rejects, naming `what`, when it does not within a generous limit. What takes longer is looked at less often, and what is
 * dear to look at, with a longer `pauseMs`, less often from the beginning.
 */
export async function until(what: string, condition: () => boolean, limitMs = 60_000, pauseMs = SHORTEST_PAUSE_MS): Promise<void> {
  const from = performance.now();
  while (!condition()) {
    if (performance.now() - from > limitMs) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    await pause(from, pauseMs);
  }
}

/** What `look` finds, as soon as it finds something. Each look may read files or ask a database, so that what takes longer is looked at less often, too. Rejects with `failure`. */
export async function sought<T>(look: () => Promise<T | undefined>, failure: () => string, limitMs = 60_000, pauseMs = 5): Promise<T> {
  const from = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() - from > limitMs) throw new Error(failure());
    await pause(from, pauseMs);
  }
}

/** `until` for what a server or a database is asked. */
export async function untilSo(what: string, isSo: () => Promise<boolean>, limitMs = 120_000): Promise<void> {
  await sought(
    async () => ((await isSo()) ? true : undefined),
    () => `waited in vain until ${what}`,
    limitMs,
    ASKING_PAUSE_MS,
  );
}

function pause(from: number, leastMs: number): Promise<void> {
  const waitedMs = performance.now() - from;
  return delay(Math.max(leastMs, Math.min(SHORTEST_PAUSE_MS + waitedMs / 20, LONGEST_PAUSE_MS)));
}
