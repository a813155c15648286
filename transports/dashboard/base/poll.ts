// Reads something again and again, while the page is visible.
import { useEffect, useRef } from 'preact/hooks';
import { isVisible } from './clock.ts';

/** Calls `read` every `everyMs` while the component is shown, the page is visible, and `turnOf` says something else than the last time, never two at a time. */
export function usePoll(read: () => Promise<unknown>, everyMs: number, deps: readonly unknown[], turnOf: () => unknown): void {
  const newest = useRef(turnOf);
  newest.current = turnOf;
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = newest.current();
    const turn = async (): Promise<void> => {
      const now = newest.current();
      if (isVisible.peek() && now !== last) {
        last = now;
        await read().catch(() => undefined); // the reader shows its own failures
      }
      if (!isOver) timer = setTimeout(() => void turn(), everyMs);
    };
    timer = setTimeout(() => void turn(), everyMs);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, deps as unknown[]);
}
