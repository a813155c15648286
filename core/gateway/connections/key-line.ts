// The calls that wait for a key of one connection, and how many keys each client has. Pure: no I/O.
//
// fair-turn: A key that is free goes to the waiting client who has the fewest; among equals, to the one whose turn was longest ago; within one client, in order.
// no-trace: A client who neither has a key nor waits is not in memory.
import type { KeyState } from './key-state.ts';

/** A call that waits. */
export interface KeyWaiter<C> {
  readonly client: string;
  readonly call: C;
  readonly tried: ReadonlySet<KeyState> | undefined;
  /** Ends the wait, with the key that is kept for the call. */
  go(kept: KeyState | undefined): void;
}

/** The line in front of the keys. */
export class KeyLine<C> {
  /** Keys by client, those that are kept for its calls among them. */
  readonly #held = new Map<string, number>();
  /** By client, never empty. The client whose turn was longest ago comes first. */
  readonly #waiters = new Map<string, KeyWaiter<C>[]>();

  get isEmpty(): boolean {
    return this.#waiters.size === 0;
  }

  /** Clients who have a key or wait. */
  get clients(): number {
    return new Set([...this.#held.keys(), ...this.#waiters.keys()]).size;
  }

  take(client: string): void {
    this.#held.set(client, this.#heldBy(client) + 1);
  }

  leave(client: string): void {
    const held = this.#heldBy(client) - 1;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client); // no-trace
  }

  add(waiter: KeyWaiter<C>): void {
    const own = this.#waiters.get(waiter.client);
    if (own === undefined) this.#waiters.set(waiter.client, [waiter]);
    else own.push(waiter);
  }

  /** Takes a call out of the line. With `hadTurn`, the others of its client come after all clients whose turn is still to come. */
  remove(waiter: KeyWaiter<C>, hadTurn: boolean): void {
    const own = this.#waiters.get(waiter.client);
    const others = own?.filter((each) => each !== waiter) ?? [];
    if (hadTurn || others.length === 0) this.#waiters.delete(waiter.client); // no-trace
    if (others.length > 0) this.#waiters.set(waiter.client, others);
  }

  /** fair-turn. */
  inTurn(): KeyWaiter<C>[] {
    const clients = [...this.#waiters].sort(([one], [other]) => this.#heldBy(one) - this.#heldBy(other));
    return clients.flatMap(([, own]) => own);
  }

  #heldBy(client: string): number {
    return this.#held.get(client) ?? 0;
  }
}
