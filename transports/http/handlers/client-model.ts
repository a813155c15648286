// The models that a client's model name means, and the names that it is offered: only those that its key may use.
//
// in-steps: a list may have tens of thousands of names, and a key a hundred patterns, so others are served while they are compared, and while the answer is written.
// written-together: requests for the same list, which come while its answer is being written, get the same text: a client that asks a hundred times at once takes no more than one.
import { nextTurn } from '../../../core/base/next-turn.ts';
import {
  assertMayUse,
  type FallbackClass,
  BLOCK_PROVIDER,
  type BlockState,
  isBlockTarget,
  mayAskBlock,
  type ModelList,
  type ModelTarget,
  mayUse,
  type OfferedModel,
  toBlockhouseError,
} from '../../../core/index.ts';
import { Written } from '../wire/reply.ts';
import type { RouteContext } from '../wire/route.ts';
import { pageOfBlocks } from './block-lanes.ts';

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
  if (key === undefined || targets.some(isBlockTarget) || mayUse(key, model)) return { targets, on }; // a list of models says nothing of blocks
  const allowed = targets.filter((target) => mayUse(key, nameOf(target)));
  if (allowed.length === 0) assertMayUse(key, model);
  return { targets: allowed, on };
}

/** The names that are offered, without those that the key may not use, and the running blocks that the client may ask. */
export async function offeredTo(context: Pick<RouteContext, 'core' | 'key'>): Promise<readonly OfferedModel[]> {
  const allowed = await allowedOf(context, await context.core.router.offered());
  const blocks = await blocksFor(context);
  return blocks.length === 0 ? allowed : [...allowed, ...blocks];
}

async function allowedOf({ core, key }: Pick<RouteContext, 'core' | 'key'>, offered: readonly OfferedModel[]): Promise<readonly OfferedModel[]> {
  if (key === undefined) return offered;
  const hasBlocks = offered.some(({ adapter }) => adapter === BLOCK_PROVIDER);
  if (key.models === null && !hasBlocks) return offered;
  const isAllowed = async ({ id, adapter }: OfferedModel): Promise<boolean> => {
    if (adapter === BLOCK_PROVIDER) return (await core.router.resolve(id)).targets.some(({ model }) => mayAskBlock(key, model));
    return mayUse(key, id) || (await core.router.resolve(id)).targets.some((target) => mayUse(key, nameOf(target)));
  };
  return filtered(offered, isAllowed);
}

/** Those whose monitor answers messages, now or soon. */
const ANSWERING: readonly BlockState[] = ['starting', 'idle', 'working', 'compacting', 'backoff', 'paused'];
const MAX_BLOCKS = 500;
const PAGE_OF_BLOCKS = 1000;
const NO_BLOCKS: readonly OfferedModel[] = [];

/** The running blocks that the client may ask as models, by name. A database that does not answer leaves them out, as a provider that does not answer leaves its models out. */
async function blocksFor({ core, key }: Pick<RouteContext, 'core' | 'key'>): Promise<readonly OfferedModel[]> {
  if (!core.started || core.gatewayOnly || (key !== undefined && key.blocks === null && key.rights.length === 0)) return NO_BLOCKS;
  const found: OfferedModel[] = [];
  try {
    let cursor: string | null | undefined;
    do {
      const { entries, next } = await pageOfBlocks(core, { state: ANSWERING, limit: PAGE_OF_BLOCKS, cursor: cursor ?? undefined });
      for (const { name } of entries) if (key === undefined || mayAskBlock(key, name)) found.push({ id: `${BLOCK_PROVIDER}/${name}`, adapter: BLOCK_PROVIDER });
      cursor = next;
    } while (cursor !== null && found.length < MAX_BLOCKS);
  } catch (error) {
    const { code } = toBlockhouseError(error);
    if (code !== 'STORE_UNREACHABLE' && code !== 'SHUTTING_DOWN') throw error;
  }
  return found.slice(0, MAX_BLOCKS);
}

/** How a list of all names is written: one form for each protocol of clients. Each is made once, since it tells the answers apart that may be shared. */
export interface ListForm<T> {
  /** The members before the list and its name, as JSON: `{"data":`. */
  readonly opening: string;
  one(model: OfferedModel): unknown;
  /** The members behind the list, and the end: `}`. */
  closing(models: readonly OfferedModel[]): string;
  /** What a client reads. */
  readonly answer?: T;
}

/** written-together. By the list of all names, which is another object after each change. */
const beingWritten = new WeakMap<readonly OfferedModel[], Map<ListForm<unknown>, Map<string, Promise<Uint8Array>>>>();

/** The names that are offered, without those that the key may not use, as the whole body of an answer. Rejects as `offeredTo` does. */
export async function offeredAs<T>(context: Pick<RouteContext, 'core' | 'key'>, form: ListForm<T>): Promise<Written<T>> {
  const offered = await context.core.router.offered();
  const forms = entryOf(beingWritten, offered, () => new Map<ListForm<unknown>, Map<string, Promise<Uint8Array>>>());
  const texts = entryOf(forms, form, () => new Map<string, Promise<Uint8Array>>());
  const blocks = await blocksFor(context);
  const { models = null, rights, blocks: ofKey } = context.key ?? {};
  const limits = JSON.stringify([models, rights, ofKey, blocks.map(({ id }) => id)]);
  const text = entryOf(texts, limits, () =>
    allowedOf(context, offered)
      .then((allowed) => textOf(blocks.length === 0 ? allowed : [...allowed, ...blocks], form))
      .finally(() => texts.delete(limits)),
  );
  return new Written<T>(await text);
}

function entryOf<K extends object | string, V>(map: { get(key: K): V | undefined; set(key: K, value: V): unknown }, key: K, make: () => V): V {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}

const WRITTEN_NAMES = 250;

/** in-steps. */
async function textOf(models: readonly OfferedModel[], { opening, one, closing }: ListForm<unknown>): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for (let from = 0; from < models.length; from += WRITTEN_NAMES) {
    if (from > 0) await nextTurn();
    const slice = models.slice(from, from + WRITTEN_NAMES).map(one);
    pieces.push(Buffer.from(`${from === 0 ? '' : ','}${JSON.stringify(slice).slice(1, -1)}`));
  }
  return Buffer.concat([Buffer.from(`${opening}[`), ...pieces, Buffer.from(`]${closing(models)}`)]);
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
