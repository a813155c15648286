// A doubly linked list, for items that are added and removed thousands of times in a second. Pure: no I/O.
//
// A Set or a Map replaces its table after many removals, and the old table still points to all that was in it. Once the Set is old, so are its tables,
// and until the next full collection each request in them is kept with its connection, its body and its answer: that tripled the work of the collector.
//
// clean-leave: a removed item is unlinked on both sides, so the list keeps nothing alive.

/** Where an item is in its list. */
export interface Place<T> {
  /** Undefined once it has left, as everything here. */
  item: T | undefined;
  list: LinkedList<T> | undefined;
  older: Place<T> | undefined;
  newer: Place<T> | undefined;
}

/** Items that are there now. Coming and leaving cost the same however many there are. */
export class LinkedList<T> implements Iterable<T> {
  #newest: Place<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds an item; its place is what `leave` takes. */
  add(item: T): Place<T> {
    const place: Place<T> = { item, list: this, older: this.#newest, newer: undefined };
    if (this.#newest !== undefined) this.#newest.newer = place;
    this.#newest = place;
    this.#size += 1;
    return place;
  }

  /** Removes the item at a place of this list. Does nothing for a place that is empty already. */
  leave(place: Place<T>): void {
    if (place.item === undefined) return;
    const { older, newer } = place;
    if (older !== undefined) older.newer = newer;
    if (newer !== undefined) newer.older = older;
    else this.#newest = older;
    place.item = undefined; // clean-leave
    place.list = undefined;
    place.older = undefined;
    place.newer = undefined;
    this.#size -= 1;
  }

  /** The newest first. No item may be removed while this runs; copy the items first where one might be. */
  *[Symbol.iterator](): Iterator<T> {
    for (let place = this.#newest; place?.item !== undefined; place = place.older) yield place.item;
  }
}
