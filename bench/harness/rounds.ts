// Rounds of all targets in turn, so that a slow minute of the machine hits all of them.
import type { Target } from './targets.ts';

/** Runs `measure` once for each target in every round; each round begins with another target. One list of rounds a target. */
export async function interleave<T>(targets: readonly Target[], rounds: number, measure: (target: Target) => Promise<T>): Promise<Map<string, T[]>> {
  const results = new Map<string, T[]>(targets.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < targets.length; turn += 1) {
      const target = targets[(round + turn) % targets.length];
      if (target !== undefined) results.get(target.name)?.push(await measure(target));
    }
  }
  return results;
}

/** The figures of one kind, in the order of the rounds. */
export function column<T>(results: ReadonlyMap<string, readonly T[]>, name: string, figure: (round: T) => number): number[] {
  return (results.get(name) ?? []).map(figure);
}
