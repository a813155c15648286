// Which models of an alias are asked, and in which order. Pure: no I/O.
//
// sticky: The same conversation draws the same model, so that the provider's cache of its prompt stays warm; without any memory, so that all servers and processes agree.
import { hashOf } from '../gateway/connections/key-ring.ts';
import type { ModelTarget } from './model-table.ts';

/** True if the order of the models depends on the conversation. */
export function hasWeights(targets: readonly ModelTarget[]): boolean {
  return targets.some(({ weight }) => weight !== undefined);
}

/** The models in the order in which they are asked: of neighbours with a weight, one is drawn, and the others follow. sticky. */
export function drawn(targets: readonly ModelTarget[], conversation: string): ModelTarget[] {
  const ordered: ModelTarget[] = [];
  for (let from = 0; from < targets.length; ) {
    let to = from;
    while (to < targets.length && targets[to]?.weight !== undefined) to += 1;
    if (to === from) to += 1;
    const group = targets.slice(from, to);
    ordered.push(...(group.length === 1 ? group : drawnOf(group, conversation)));
    from = to;
  }
  return ordered;
}

/** Each has an exponential waiting time, which its weight makes shorter: the shortest comes first as often as the weights say. */
function drawnOf(group: readonly ModelTarget[], conversation: string): ModelTarget[] {
  const seed = hashOf(conversation);
  return group
    .map((target) => ({ target, wait: -Math.log((hashOf(`${target.adapter}/${target.model}`, seed) + 1) / 2 ** 32) / (target.weight ?? 1) }))
    .sort((one, other) => one.wait - other.wait)
    .map(({ target }) => target);
}

/** Of an estimate that may be a quarter too high, a prompt surely needs this part. */
const SURE_SHARE = 0.8;

/**
 * The models whose window has room for a prompt of about `tokens` and an answer of `output`, and the names of those that have none; one whose window is not known may have it. If
 * none has room, the one with the largest is asked: what it says is the truth.
 */
export function fitting<T extends ModelTarget>(
  targets: readonly T[],
  windowOf: (target: T) => number | undefined,
  { tokens, output }: { readonly tokens: number; readonly output: number },
): { readonly fit: readonly T[]; readonly small: readonly T[] } {
  const needed = SURE_SHARE * tokens + output;
  const isSmall = (target: T): boolean => (windowOf(target) ?? Number.POSITIVE_INFINITY) < needed;
  const small = targets.filter(isSmall);
  if (small.length < targets.length) return { fit: targets.filter((target) => !isSmall(target)), small };
  const [largest] = [...targets].sort((one, other) => (windowOf(other) ?? 0) - (windowOf(one) ?? 0));
  return { fit: largest === undefined ? [] : [largest], small: targets.filter((target) => target !== largest) };
}
