// Whether somebody can see the page.
import { signal } from '@preact/signals';

export const isVisible = signal(true);

/** Follows the browser for as long as the page lives. */
export function runVisible(): void {
  const look = (): void => {
    isVisible.value = !document.hidden;
  };
  document.addEventListener('visibilitychange', look);
  look();
}
