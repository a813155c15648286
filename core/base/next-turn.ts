// Turns of the event loop for work that is done in slices, so that others are served between them.
//
// one-each: of those who wait here, each turn goes to one.

/** Those who wait for a turn; each turn of the event loop goes to one of them. */
const waiting: (() => void)[] = [];

/** Resolves in a turn of the event loop that nobody else gets of those who wait for one here (one-each). */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}
