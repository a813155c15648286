// When the page is drawn: at once while it is visible; a hidden page draws nothing, and catches up in one pass when it is seen again.
import { options } from 'preact';

/** Holds back what a hidden page would draw. */
export function runDrawing(): void {
  let held: (() => void) | undefined;
  options.debounceRendering = (draw) => {
    if (document.hidden) held = draw;
    else queueMicrotask(draw);
  };
  document.addEventListener('visibilitychange', () => {
    if (document.hidden || held === undefined) return;
    const draw = held;
    held = undefined;
    draw();
  });
}
