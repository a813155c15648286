// The places that requests go to: each provider where it is configured, and each other address that a request names. Each has a queue, a breaker
// and a budget of repetitions of its own, so that what happens at one place says nothing of another, and holds nobody up there.
//
// own-limits: A connection has the limits of its entry. With others, or at another address, it is another place, which begins anew.
// bounded-idle: Addresses that requests made up cost no memory for long. The state of one that is in use is kept; of the others, that of the
//   last MAX_IDLE. A provider where it is configured is always kept.
import type { CoreBus } from '../bus.ts';
import type { Adapter } from '../ports.ts';
import { Breaker } from './breaker.ts';
import type { PlaceCounts } from './live.ts';
import { AttemptQueue, type QueueLimits } from './queue.ts';
import { RetryBudget } from './retry.ts';

/** Some kilobytes each; more addresses than a person uses in turn. */
const MAX_IDLE = 64;

/** One place that requests go to. */
export interface Destination {
  /** The address that requests name; undefined for the provider where it is configured. */
  readonly address: string | undefined;
  readonly queue: AttemptQueue;
  readonly breaker: Breaker;
  readonly budget: RetryBudget;
  readonly counts: PlaceCounts;
  /** The request has ended. Called once by each request that has entered. */
  leave(): void;
}

interface NamedDestination extends Destination {
  /** Requests that have entered and not left. */
  users: number;
}

/** A connection as it was last asked for. */
interface ConnectionPlace {
  readonly adapter: Adapter;
  readonly identity: string;
  readonly destination: Destination;
}

/** What all destinations share. */
export interface DestinationsOptions {
  readonly bus: CoreBus;
  readonly queue: QueueLimits;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** The limits of a connection, and where it is. */
  connection?(adapter: Adapter): { readonly limits: QueueLimits; readonly place: string | undefined };
  /** False for the name of a connection that there is no more. */
  isConnection?(name: string): boolean;
}

/** All places that requests go to. */
export class Destinations {
  readonly #options: DestinationsOptions;
  readonly #configured = new Map<string, Destination>();
  /** By the names of connections (own-limits). */
  readonly #connections = new Map<string, ConnectionPlace>();
  readonly #busy = new Map<string, NamedDestination>();
  /** In the order in which they became idle. */
  readonly #idle = new Map<string, NamedDestination>();

  constructor(adapters: readonly Adapter[], options: DestinationsOptions) {
    this.#options = options;
    for (const adapter of adapters) this.#configured.set(adapter.id, this.#create(adapter, undefined));
  }

  /** How many places have state in memory now. */
  get size(): number {
    return this.#configured.size + this.#connections.size + this.#busy.size + this.#idle.size;
  }

  /** The place that a request goes to. `address` is one that the request names; undefined for the provider where it is configured. */
  enter(adapter: Adapter, address: string | undefined): Destination {
    if (address === undefined) return this.#configured.get(adapter.id) ?? this.#ofConnection(adapter);
    const key = `${adapter.id} ${address}`;
    const destination = this.#busy.get(key) ?? this.#idle.get(key) ?? this.#createNamed(adapter, address, key);
    destination.users += 1;
    this.#idle.delete(key);
    this.#busy.set(key, destination);
    return destination;
  }

  /** A connection is another object after each change of auth.json, which most often has nothing to do with it. */
  #ofConnection(adapter: Adapter): Destination {
    const known = this.#connections.get(adapter.id);
    if (known?.adapter === adapter) return known.destination;
    const { connection = () => ({ limits: this.#options.queue, place: undefined }), isConnection = () => true } = this.#options;
    const { limits, place } = connection(adapter);
    const identity = `${limits.concurrency} ${limits.waiting} ${place}`;
    const destination = known?.identity === identity ? known.destination : this.#create(adapter, undefined, limits);
    this.#connections.set(adapter.id, { adapter, identity, destination });
    for (const name of this.#connections.keys()) if (!isConnection(name)) this.#connections.delete(name);
    return destination;
  }

  #createNamed(adapter: Adapter, address: string, key: string): NamedDestination {
    const leave = (): void => {
      destination.users -= 1;
      if (destination.users > 0) return;
      this.#busy.delete(key);
      this.#idle.set(key, destination);
      for (const oldest of this.#idle.keys()) {
        if (this.#idle.size <= MAX_IDLE) return;
        this.#idle.delete(oldest); // bounded-idle
      }
    };
    const destination: NamedDestination = { ...this.#create(adapter, address), leave, users: 0 };
    return destination;
  }

  #create({ id, displayName }: Adapter, address: string | undefined, queue = this.#options.queue): Destination {
    const { bus, now } = this.#options;
    const place = { adapter: id, ...(address !== undefined && { address }) };
    const breaker = new Breaker(address === undefined ? displayName : `${displayName} at ${address}`, now, {
      opened: (fact) => bus.emit('adapter.paused', { ...place, ...fact }),
      closed: (fact) => bus.emit('adapter.recovered', { ...place, ...fact }),
    });
    return {
      address,
      queue: new AttemptQueue(queue),
      breaker,
      budget: new RetryBudget(now),
      counts: { calls: 0, inputTokens: 0, cachedTokens: 0 },
      leave: () => undefined,
    };
  }
}
