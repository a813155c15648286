// The models that a client's model name means, and the names that it is offered: only those that its key may use.
import { assertMayUse, type FallbackClass, type ModelList, type ModelTarget, mayUse, type OfferedModel } from '../../../core/index.ts';
import type { RouteContext } from '../wire/route.ts';

/** What a name means. */
export interface ModelRoute {
  readonly targets: readonly ModelTarget[];
  /** The classes of failures after which the next one is asked; undefined for the usual ones. */
  readonly on: ReadonlySet<FallbackClass> | undefined;
}

/**
 * In the order in which they are asked; at least one. A key that may not use the name itself may use those of its models that it is made for. At once where
 * nothing must be asked or read, which is the usual case and saves several promises. Rejects with MODEL_NOT_FOUND and KEY_FORBIDDEN; the core checks caps when the
 * call has its place.
 */
export function routeOf(context: Pick<RouteContext, 'core' | 'key'>, model: string): ModelRoute | Promise<ModelRoute> {
  const named = context.key === undefined ? context.core.router.named(model) : undefined;
  return named === undefined ? allowedRoute(context, model) : { targets: named.targets, on: named.on };
}

/** The same without the classes of failures. */
export async function targetsOf(context: Pick<RouteContext, 'core' | 'key'>, model: string): Promise<readonly ModelTarget[]> {
  return (await routeOf(context, model)).targets;
}

async function allowedRoute({ core, key }: Pick<RouteContext, 'core' | 'key'>, model: string): Promise<ModelRoute> {
  const { targets, on } = await core.router.resolve(model);
  if (key === undefined || mayUse(key, model)) return { targets, on };
  const allowed = targets.filter((target) => mayUse(key, nameOf(target)));
  if (allowed.length === 0) assertMayUse(key, [model]);
  return { targets: allowed, on };
}

/** The names that are offered, without those that the key may not use. */
export async function offeredTo({ core, key }: Pick<RouteContext, 'core' | 'key'>): Promise<readonly OfferedModel[]> {
  const offered = await core.router.offered();
  if (key === undefined || key.models === null) return offered;
  const isAllowed = async ({ id }: OfferedModel): Promise<boolean> =>
    mayUse(key, id) || (await core.router.resolve(id)).targets.some((target) => mayUse(key, nameOf(target)));
  const allowed = await Promise.all(offered.map(isAllowed));
  return offered.filter((_, index) => allowed[index]);
}

/** The models of a provider, without those that the key may not use. */
export async function listedFor({ core, key }: Pick<RouteContext, 'core' | 'key'>, { provider, models }: ModelList): Promise<ModelList> {
  if (key === undefined || key.models === null) return { provider, models, count: models.length };
  const isAllowed = async (model: string): Promise<boolean> =>
    mayUse(key, `${provider}/${model}`) || (mayUse(key, model) && isTarget(await core.router.resolve(model), { adapter: provider, model }));
  const allowed = await Promise.all(models.map(isAllowed));
  const kept = models.filter((_, index) => allowed[index]);
  return { provider, models: kept, count: kept.length };
}

function isTarget({ targets }: { readonly targets: readonly ModelTarget[] }, { adapter, model }: ModelTarget): boolean {
  return targets.some((target) => target.adapter === adapter && target.model === model);
}

function nameOf({ adapter, model }: ModelTarget): string {
  return `${adapter}/${model}`;
}
