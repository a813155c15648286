// Timers that a test moves by hand: those of the global setTimeout and setInterval, and of node:timers/promises. Input and output go on by themselves.
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';

const TURNS = 50;

/** From now to the end of the test. Returns what lets so many milliseconds pass, and then some turns of the event loop. */
export function fakeTimers(t: Test): (ms: number) => Promise<void> {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  t.teardown(() => mock.timers.reset());
  return async (ms) => {
    mock.timers.tick(ms);
    await someTurns();
  };
}

/** Enough turns of the event loop for what was written on this machine to be read. */
export async function someTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
}
