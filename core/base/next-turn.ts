// Turns of the event loop for work that is done in slices, so that others are served between them.
//
// one-each: of those who wait here, each turn goes to one.
// round: callers have turns one after the other, so that many waits of one caller don't stand before those of another.

/** Those who wait for a turn, by their caller; the first caller has the next turn. */
const waiting = new Map<string, (() => void)[]>();

/** Resolves in a turn of the event loop that nobody else gets of those who wait for one here (one-each, round). */
export function nextTurn(caller = ''): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.size === 0) setImmediate(giveTurn);
    const own = waiting.get(caller);
    if (own === undefined) waiting.set(caller, [resolve]);
    else own.push(resolve);
  });
}

function giveTurn(): void {
  for (const [caller, own] of waiting) {
    waiting.delete(caller);
    own.shift()?.();
    if (own.length > 0) waiting.set(caller, own); // round
    break;
  }
  if (waiting.size > 0) setImmediate(giveTurn);
}
