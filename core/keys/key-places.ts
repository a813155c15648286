// How many calls of each key and of each group may be under way, for all lines of this process.
//
// counted-from-the-start: keys that have no limit now are counted as well, since they may get one (one-count, place-limit.ts).
import { PlaceLimit } from '../gateway/place-limit.ts';
import type { NamedKey } from './named-key.ts';

/** The places of all keys. */
export class KeyPlaces {
  readonly #places = new Map<string, PlaceLimit>();
  /** Each change of the keys makes new objects, with which the limits are set again. */
  readonly #byKey = new WeakMap<NamedKey, readonly PlaceLimit[]>();

  /** Those of a key, and of its group. */
  of(key: NamedKey): readonly PlaceLimit[] {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const places = key.bounds.map(({ kind, name, inFlight }) => {
      const account = `${kind} ${name}`;
      const limit = this.#places.get(account) ?? new PlaceLimit();
      this.#places.set(account, limit);
      limit.allow(inFlight ?? Number.POSITIVE_INFINITY);
      return limit;
    });
    this.#byKey.set(key, places);
    return places;
  }
}
