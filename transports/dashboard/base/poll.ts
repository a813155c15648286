// Reads something again and again, while the page is visible.
import { useEffect } from 'preact/hooks';
import { isVisible } from './clock.ts';

/** Calls `read` every `everyMs` while the component is shown and the page is visible, never two at a time. */
export function usePoll(read: () => Promise<unknown>, everyMs: number, deps: readonly unknown[]): void {
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const turn = async (): Promise<void> => {
      if (isVisible.peek()) await read().catch(() => undefined); // the reader shows its own failures
      if (!isOver) timer = setTimeout(() => void turn(), everyMs);
    };
    timer = setTimeout(() => void turn(), everyMs);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, deps as unknown[]);
}
