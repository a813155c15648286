// Tells when the event loop was held up: then nobody was answered.
//
// seldom: a timer looks a few times a second. What holds the loop up for less than MIN_DELAY_MS is not told; `GET /metrics` has the distribution.
import type { Core } from '../../core/index.ts';

const LOOK_MS = 250;
/** What people notice; a busy machine has shorter ones all the time. */
export const MIN_DELAY_MS = 250;

/** Watches until the returned function is called. The timer keeps no process alive. */
export function watchLoop(bus: Pick<Core['events'], 'emit'>, now: () => number = () => performance.now()): () => void {
  let due = now() + LOOK_MS;
  const timer = setInterval(() => {
    const at = now();
    const delayMs = at - due;
    due = at + LOOK_MS;
    if (delayMs >= MIN_DELAY_MS) bus.emit('loop.delayed', { delayMs, pid: process.pid });
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}
