// Sweeps: tests that try the same with very many inputs. `npm test` takes a part of them, always the same; `npm run test:faults` takes all.
import { env } from 'node:process';

/** Set to 1 for whole sweeps. */
export const SWEEP = 'BLOCKHOUSE_TEST_SWEEP';

export const isWholeSweep = env[SWEEP] === '1';

/** How many of something: `whole` in a whole sweep, else `part`. */
export function sweep(whole: number, part: number): number {
  return isWholeSweep ? whole : part;
}

/** The whole list in a whole sweep, else each `step`-th of it: another part for each `turn`, so that all of them are taken over `step` turns. */
export function sample<T>(list: readonly T[], step: number, turn: number): T[] {
  return list.filter((_, index) => isWholeSweep || (index + turn) % step === 0);
}

/** All numbers below `count` in a whole sweep, else each `step`-th of them and the last. */
export function swept(count: number, step: number): number[] {
  const all = Array.from({ length: count }, (_, index) => index);
  return isWholeSweep ? all : all.filter((index) => index % step === 0 || index === count - 1);
}
