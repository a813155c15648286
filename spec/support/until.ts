// Waits for a condition instead of a time.
import { setTimeout as delay } from 'node:timers/promises';

const SHORTEST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 250;

/**
 * Resolves once `condition` holds; rejects, naming `what`, when it does not within a generous limit. What takes longer is looked at less often, and what is
 * dear to look at, with a longer `pauseMs`, less often from the beginning.
 */
export async function until(what: string, condition: () => boolean, limitMs = 60_000, pauseMs = SHORTEST_PAUSE_MS): Promise<void> {
  const from = performance.now();
  while (!condition()) {
    const waitedMs = performance.now() - from;
    if (waitedMs > limitMs) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    await delay(Math.max(pauseMs, Math.min(SHORTEST_PAUSE_MS + waitedMs / 20, LONGEST_PAUSE_MS)));
  }
}
