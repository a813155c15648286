// The models that a client's model name means, as far as its key may use them.
import { type ModelTarget, mayUse } from '../../../core/index.ts';
import type { RouteContext } from '../route.ts';

/**
 * In the order in which they are asked; at least one. A key that may not use the name itself may use those of its models that it is made for. Rejects with
 * MODEL_NOT_FOUND, KEY_FORBIDDEN, KEY_CAP_REACHED.
 */
export async function targetsOf({ core, key }: Pick<RouteContext, 'core' | 'key'>, model: string): Promise<readonly ModelTarget[]> {
  const { targets } = await core.router.resolve(model);
  if (key === undefined) return targets;
  const nameOf = (target: ModelTarget): string => `${target.adapter}/${target.model}`;
  const allowed = mayUse(key, model) ? targets : targets.filter((target) => mayUse(key, nameOf(target)));
  await core.accounts?.admit(key, [model, ...allowed.map(nameOf)]);
  return allowed;
}
