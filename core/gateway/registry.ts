// Finds adapters by id and alias. Pure: no I/O.
import { BlockhouseError, invalidRequest } from '../errors.ts';
import type { Adapter } from '../ports.ts';
import type { AdapterInfo } from '../schemas/adapter.ts';

/** The registered adapters. Throws an Error when two have a name in common. */
export class AdapterRegistry {
  readonly #byName = new Map<string, Adapter>();
  readonly #list: readonly Adapter[];

  constructor(adapters: readonly Adapter[]) {
    this.#list = adapters;
    for (const adapter of adapters) {
      for (const name of [adapter.id, ...adapter.aliases]) {
        if (this.#byName.has(name)) throw new Error(`Two adapters have the name ${name}.`);
        this.#byName.set(name, adapter);
      }
    }
  }

  /** All adapters, in the order of their registration. */
  list(): readonly Adapter[] {
    return this.#list;
  }

  /** Their ids, in the same order. */
  ids(): string[] {
    return this.#list.map((adapter) => adapter.id);
  }

  /** The adapter that a URL names. Throws ADAPTER_NOT_FOUND. */
  inUrl(name: string): Adapter {
    const adapter = this.#byName.get(name);
    if (adapter === undefined) throw new BlockhouseError('ADAPTER_NOT_FOUND', `There is no adapter ${shown(name)}. The adapters are ${this.ids().join(', ')}.`);
    return adapter;
  }

  /** The adapter that a body names in `field`. Throws INVALID_REQUEST. */
  inBody(name: string, field: string): Adapter {
    const adapter = this.#byName.get(name);
    if (adapter === undefined) throw invalidRequest(field, `${shown(name)} does not exist; use one of ${this.ids().join(', ')}`);
    return adapter;
  }
}

function shown(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
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
