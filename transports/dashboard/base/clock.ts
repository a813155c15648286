// The one clock of the page. Relative times are drawn from it, corrected by the clock of the server.
import { effect, signal } from '@preact/signals';

/** Server time in epoch milliseconds; changes once a second while the page is visible. */
export const now = signal(Date.now());

let offsetMs = 0;

/** The server's time at this moment, in epoch milliseconds. */
export function serverNow(): number {
  return Date.now() + offsetMs;
}

/** Takes the `Date` header of an answer. A difference below two seconds is taken for the answer's travel time, and the browser's clock for right. */
export function noteServerTime(header: string | null): void {
  const date = Date.parse(header ?? '');
  if (Number.isNaN(date)) return;
  const found = date + 500 - Date.now();
  if (Math.abs(found - offsetMs) > 2000) offsetMs = Math.abs(found) > 2000 ? found : 0;
}

/** The time, and what happens later. */
export interface Timers {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs something once; the returned function prevents it. */
  after(ms: number, run: () => void): () => void;
}

/** Those of the browser. */
export const timers: Timers = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Whether somebody can see the page. */
export const isVisible = signal(true);

/** Follows whether the page is visible, and ticks while it is. */
export function runClock(): void {
  const look = (): void => {
    isVisible.value = !document.hidden;
  };
  document.addEventListener('visibilitychange', look);
  look();
  effect(() => {
    if (!isVisible.value) return undefined;
    now.value = serverNow();
    const timer = setInterval(() => {
      now.value = serverNow();
    }, 1000);
    return () => clearInterval(timer);
  });
}
