// The one clock of the page. Relative times are drawn from it, corrected by the clock of the server.
import { effect, signal } from '@preact/signals';
import { isVisible } from './visible.ts';

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

/** Ticks while the page is visible. */
export function runClock(): void {
  effect(() => {
    if (!isVisible.value) return undefined;
    now.value = serverNow();
    const timer = setInterval(() => {
      now.value = serverNow();
    }, 1000);
    return () => clearInterval(timer);
  });
}
