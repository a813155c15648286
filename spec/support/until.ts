// Waits for a condition instead of a time.
import { setTimeout as delay } from 'node:timers/promises';

/** Resolves once `condition` holds; rejects, naming `what`, when it does not within a generous limit. */
export async function until(what: string, condition: () => boolean, limitMs = 20_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    await delay(2);
  }
}
