// The ten seconds that a reply has after a stop, for tests of what comes after them.
import type { Test } from 'tap';
import { GRACE_MS } from '../../core/block/actor/setup.ts';

/** The next reply that is stopped in this process has no time to end: its machine waits for nothing. All other timers are as they were. */
export function withoutGrace(t: Test): void {
  const real = globalThis.setTimeout;
  const restore = (): void => {
    globalThis.setTimeout = real;
  };
  t.teardown(restore);
  const once = (work: () => void, ms?: number, ...rest: []): NodeJS.Timeout => {
    if (ms !== GRACE_MS) return real(work, ms, ...rest);
    restore();
    return real(work, 0, ...rest);
  };
  globalThis.setTimeout = once as typeof setTimeout;
}
