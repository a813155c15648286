// How many calls of each key and of each group may be under way, for all lines of this process.
//
// counted-from-the-start: keys that have no limit now are counted as well, since they may get one (one-count, place-limit.ts).
import { PlaceLimit } from '../gateway/place-limit.ts';
import type { NamedKey } from './named-key.ts';

/** The places of all keys. */
export class KeyPlaces {
  readonly #places = new Map<string, PlaceLimit>();

  /** Those of a key, and of its group. */
  of(key: NamedKey): readonly PlaceLimit[] {
    const known = key.kept.places as PlacesOfKey | undefined;
    if (known?.owner === this) return known.places;
    const places = key.bounds.map(({ kind, name, inFlight }) => {
      const account = `${kind} ${name}`;
      const limit = this.#places.get(account) ?? new PlaceLimit();
      this.#places.set(account, limit);
      limit.allow(inFlight ?? Number.POSITIVE_INFINITY);
      return limit;
    });
    key.kept.places = { owner: this, places } satisfies PlacesOfKey;
    return places;
  }
}

/** Those of a key as it is now. */
interface PlacesOfKey {
  readonly owner: KeyPlaces;
  readonly places: readonly PlaceLimit[];
}
