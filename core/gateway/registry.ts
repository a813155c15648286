// Finds adapters by id and alias. Pure: no I/O.
import { BlockhouseError, invalidRequest } from '../errors.ts';
import type { Adapter } from '../ports.ts';
import type { AdapterInfo } from '../schemas/adapter.ts';
import type { BlockAdapter } from '../types.ts';

/** Finds connections, which come and go with auth.json. */
export interface ConnectionLookUp {
  has(name: string): boolean;
  /** Undefined if there is none. Throws ADAPTER_NOT_CONFIGURED for a wrong entry. */
  get(name: string): Adapter | undefined;
}

/** The registered adapters, and connections by their names. Throws an Error when two adapters have a name in common. */
export class AdapterRegistry {
  readonly #connections: ConnectionLookUp | undefined;
  readonly #byName = new Map<string, Adapter>();
  /** Every adapter, in the order of their registration. */
  readonly all: readonly Adapter[];
  readonly #listed: readonly Adapter[];

  constructor(adapters: readonly Adapter[], connections?: ConnectionLookUp) {
    this.#connections = connections;
    this.all = adapters;
    this.#listed = listed(adapters);
    for (const adapter of adapters) {
      for (const name of [adapter.id, ...adapter.aliases]) {
        if (this.#byName.has(name)) throw new Error(`Two adapters have the name ${name}.`);
        this.#byName.set(name, adapter);
      }
    }
  }

  /** Those with a provider, in the same order. */
  list(): readonly Adapter[] {
    return this.#listed;
  }

  /** Their ids, in the same order. */
  ids(): string[] {
    return this.#listed.map((adapter) => adapter.id);
  }

  /** The id of the adapter with this id or alias, or the name of a connection; undefined if there is none. */
  idOf(name: string): string | undefined {
    return this.#byName.get(name)?.id ?? (this.#connections?.has(name) === true ? name : undefined);
  }

  /** The adapter or connection that a URL names. Throws ADAPTER_NOT_FOUND, and ADAPTER_NOT_CONFIGURED for a wrong entry. */
  inUrl(name: string): Adapter {
    const adapter = this.#byName.get(name) ?? this.#connections?.get(name);
    if (adapter === undefined)
      throw new BlockhouseError(
        'ADAPTER_NOT_FOUND',
        `There is no provider ${shown(name, 'of this name')}. The providers are ${this.ids().join(', ')}, and the connections of auth.json.`,
      );
    return adapter;
  }

  /** The adapter or connection that a body names in `field`. Throws INVALID_REQUEST, and ADAPTER_NOT_CONFIGURED for a wrong entry. */
  inBody(name: string, field: string): Adapter {
    const adapter = this.#byName.get(name) ?? this.#connections?.get(name);
    if (adapter === undefined)
      throw invalidRequest(field, `${shown(name, 'of this name')} does not exist; use one of ${this.ids().join(', ')}, or a connection of auth.json`);
    return adapter;
  }
}

/** What is longer or has digits may be a key that stands in the wrong place, and is not repeated. */
const NAME = /^[\p{L} ._-]{0,24}$/u;

function shown(name: string, otherwise: string): string {
  return NAME.test(name) ? JSON.stringify(name) : otherwise;
}

/** The adapters of a list: those with a provider. */
export function listed(adapters: readonly Adapter[]): readonly Adapter[] {
  return adapters.filter(({ standsIn }) => standsIn !== true);
}

/** The metadata of an adapter for callers. */
export function adapterInfo(adapter: Adapter): AdapterInfo {
  const base = adapter.settings['baseURL']?.default;
  return {
    id: adapter.id,
    displayName: adapter.displayName,
    authRequired: adapter.authRequired,
    defaultModel: adapter.defaultModel,
    ...(base !== undefined && { defaultBaseURL: base }),
    supportsStreaming: adapter.supportsStreaming,
    envVars: [...adapter.envVars],
  };
}

/** The model that stands in for one that nobody has set yet; undefined without such an adapter. */
export function standInOf(adapters: readonly Adapter[]): BlockAdapter | undefined {
  const adapter = adapters.find(({ standsIn }) => standsIn === true);
  return adapter && { provider: adapter.id, model: adapter.defaultModel };
}
