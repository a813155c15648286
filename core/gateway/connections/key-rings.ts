// The rings of all connections with several keys, and what the bus is told of them. A ring outlives the edits of its entry. Pure: no I/O.
import type { ResolvedSettings } from '../../auth/settings.ts';
import type { CoreBus } from '../../bus.ts';
import { areSameKeys, type UsableKey } from './entry-keys.ts';
import { KeyRing } from './key-ring.ts';
import type { KeyState } from './key-state.ts';

/** What rings work with. */
export interface KeyRingsOptions {
  readonly bus: CoreBus;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** The keys of a connection, and the settings of a call with each of them. */
export interface EntryKeys {
  readonly ring: KeyRing;
  settingsOf(state: KeyState): ResolvedSettings;
}

/** The rings by the name of their connection. */
export class KeyRings {
  readonly #options: KeyRingsOptions;
  readonly #rings = new Map<string, { readonly ring: KeyRing; keys: readonly UsableKey[] }>();

  constructor(options: KeyRingsOptions) {
    this.#options = options;
  }

  /** The ring of a connection with these keys; undefined with fewer than two. */
  of(name: string, keys: readonly UsableKey[]): KeyRing | undefined {
    if (keys.length < 2) {
      this.#rings.delete(name);
      return undefined;
    }
    const known = this.#rings.get(name) ?? { ring: this.#newRing(name), keys: [] };
    this.#rings.set(name, known);
    if (!areSameKeys(known.keys, keys)) {
      known.keys = keys;
      known.ring.use(keys);
    }
    return known.ring;
  }

  #newRing(connection: string): KeyRing {
    const { bus, now } = this.#options;
    return new KeyRing(connection, now, {
      cooled: (credential, { fault, code, model, forMs, words }) =>
        bus.emit('credential.cooled', { connection, credential, model, state: fault, untilMs: Math.round(forMs), code, error: words }),
      recovered: (credential, model) => bus.emit('credential.recovered', { connection, credential, model }),
    });
  }
}
