// When the page is drawn: at once while it is visible; a hidden page draws nothing, and catches up in one pass when it is seen again.
import { effect, untracked } from '@preact/signals';
import { options } from 'preact';
import { isVisible } from './clock.ts';

/** Holds back what a hidden page would draw. */
export function runDrawing(): void {
  let held: (() => void) | undefined;
  options.debounceRendering = (draw) => {
    if (isVisible.peek()) queueMicrotask(draw);
    else held = draw;
  };
  effect(() => {
    if (!isVisible.value) return;
    if (held !== undefined) untracked(held);
    held = undefined;
  });
}
