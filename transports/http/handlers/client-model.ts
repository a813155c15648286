// The models that a client's model name means, and the names that it is offered: only those that its key may use.
//
// in-steps: a list may have tens of thousands of names, and a key a hundred patterns, so others are served while they are compared.
import { nextTurn } from '../../../core/base/next-turn.ts';
import { assertMayUse, type ModelList, type ModelTarget, mayUse, type OfferedModel } from '../../../core/index.ts';
import type { RouteContext } from '../wire/route.ts';

/**
 * In the order in which they are asked; at least one. A key that may not use the name itself may use those of its models that it is made for. At once where
 * nothing must be asked or read, which is the usual case and saves several promises. Rejects with MODEL_NOT_FOUND and KEY_FORBIDDEN; the core checks caps when the
 * call has its place.
 */
export function targetsOf(context: Pick<RouteContext, 'core' | 'key'>, model: string): readonly ModelTarget[] | Promise<readonly ModelTarget[]> {
  const named = context.key === undefined ? context.core.router.named(model) : undefined;
  return named?.targets ?? allowedTargets(context, model);
}

async function allowedTargets({ core, key }: Pick<RouteContext, 'core' | 'key'>, model: string): Promise<readonly ModelTarget[]> {
  const { targets } = await core.router.resolve(model);
  if (key === undefined) return targets;
  if (mayUse(key, model)) return targets;
  const allowed = targets.filter((target) => mayUse(key, nameOf(target)));
  if (allowed.length === 0) assertMayUse(key, model);
  return allowed;
}

/** The names that are offered, without those that the key may not use. */
export async function offeredTo({ core, key }: Pick<RouteContext, 'core' | 'key'>): Promise<readonly OfferedModel[]> {
  const offered = await core.router.offered();
  if (key === undefined || key.models === null) return offered;
  const isAllowed = async ({ id }: OfferedModel): Promise<boolean> =>
    mayUse(key, id) || (await core.router.resolve(id)).targets.some((target) => mayUse(key, nameOf(target)));
  return filtered(offered, isAllowed);
}

/** The models of a provider, without those that the key may not use. */
export async function listedFor({ core, key }: Pick<RouteContext, 'core' | 'key'>, { provider, models }: ModelList): Promise<ModelList> {
  if (key === undefined || key.models === null) return { provider, models, count: models.length };
  const isAllowed = async (model: string): Promise<boolean> =>
    mayUse(key, `${provider}/${model}`) || (mayUse(key, model) && isTarget(await core.router.resolve(model), { adapter: provider, model }));
  const kept = await filtered(models, isAllowed);
  return { provider, models: kept, count: kept.length };
}

const STEP_NAMES = 50;

/** in-steps. */
async function filtered<T>(all: readonly T[], isAllowed: (one: T) => Promise<boolean>): Promise<T[]> {
  const kept: T[] = [];
  for (const [index, one] of all.entries()) {
    if (index % STEP_NAMES === STEP_NAMES - 1) await nextTurn();
    if (await isAllowed(one)) kept.push(one);
  }
  return kept;
}

function isTarget({ targets }: { readonly targets: readonly ModelTarget[] }, { adapter, model }: ModelTarget): boolean {
  return targets.some((target) => target.adapter === adapter && target.model === model);
}

function nameOf({ adapter, model }: ModelTarget): string {
  return `${adapter}/${model}`;
}
