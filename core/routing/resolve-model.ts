// Which model of which provider a name means. Pure: no I/O.
import type { Adapter } from '../ports.ts';
import type { FallbackClass } from '../gateway/fallback-classes.ts';
import { type AdapterIdOf, type ModelTable, type ModelTarget, blockTarget, splitTarget } from './model-table.ts';

/** What a name was found by, in the order in which the ways are tried. */
export type ResolvedBy = 'alias' | 'block' | 'provider' | 'list' | 'prefix' | 'default';

/** What a name means. */
export interface ResolvedModel {
  readonly by: ResolvedBy;
  /** The alias or pattern as it is written, or the prefix. */
  readonly rule?: string;
  /** At least one. The next is asked when the one before it fails before its first byte. */
  readonly targets: readonly ModelTarget[];
  /** The classes of failures after which the next one is asked; undefined for the usual ones. */
  readonly on?: ReadonlySet<FallbackClass>;
}

/** Resolves an alias, a block, or a name that has its provider in front; undefined for other names. The exact name wins over a pattern, the longest pattern over others. */
export function resolveNamed(name: string, table: ModelTable, adapterIdOf: AdapterIdOf): ResolvedModel | undefined {
  const alias = table.aliases.get(name) ?? table.patterns.find((one) => name.startsWith(one.name.slice(0, -1)));
  if (alias !== undefined) return { by: 'alias', rule: alias.name, targets: alias.targets, ...(alias.on !== undefined && { on: alias.on }) };
  const block = blockTarget(name);
  if (block !== undefined) return { by: 'block', targets: [block] };
  const target = splitTarget(name, adapterIdOf);
  return target === undefined ? undefined : { by: 'provider', targets: [target] };
}

/** Resolves a name by the way in which its provider names models; undefined if no adapter fits. The first of several wins. */
export function resolveByPrefix(name: string, adapters: readonly Pick<Adapter, 'id' | 'modelNames'>[]): ResolvedModel | undefined {
  for (const { id, modelNames } of adapters) {
    const [rule] = modelNames?.exec(name) ?? [];
    if (rule !== undefined) return { by: 'prefix', rule, targets: [{ adapter: id, model: name }] };
  }
  return undefined;
}
