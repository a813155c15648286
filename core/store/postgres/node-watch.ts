// Tells the bus which servers come and go, and when the database is away. Each server compares what its own renewals have read: nobody has to say anything.
//
// once-each: an expired lease is a server that is gone, whether or not anybody has given it up; its next sign of life is a server that has joined.
import type { StoreHealth, StoreOptions } from '../store.ts';

/** Another server that shares the workspace. */
export interface OtherNode {
  readonly id: string;
  readonly version: string;
  readonly url: string | null;
  /** Where it answers (served.ts); null until it listens. */
  readonly served: string | null;
}

/** What a membership knows without asking. */
export interface Seen {
  readonly health: StoreHealth;
  /** As of the last renewal. */
  readonly others: readonly OtherNode[];
  /** Milliseconds since the last renewal was sent that was answered. */
  readonly silentMs: number;
}

/** Compares what is known with what was known before. */
export class NodeWatch {
  readonly #bus: StoreOptions['bus'];
  readonly #see: () => Seen;
  readonly #timer: NodeJS.Timeout;
  readonly #onOthers: (others: readonly OtherNode[]) => void;
  #self: string;
  #read: readonly OtherNode[];
  #others: ReadonlyMap<string, OtherNode>;
  #awaySince: number | undefined;

  /** Those who are there now have not come. `onOthers` gets them, and then those of each renewal. */
  constructor(bus: StoreOptions['bus'], see: () => Seen, onOthers: (others: readonly OtherNode[]) => void = () => undefined, everyMs = 500) {
    this.#bus = bus;
    this.#see = see;
    this.#onOthers = onOthers;
    const { health, others } = see();
    this.#self = health.node;
    this.#others = byId(others);
    this.#read = others;
    onOthers(others);
    this.#timer = setInterval(() => this.look(), everyMs).unref();
  }

  /** once-each. */
  look(): void {
    const { health, others, silentMs } = this.#see();
    this.#seeStore(health.isAway, silentMs);
    if (health.node !== this.#self) this.#bus.emit('node.gone', { node: this.#self, self: true });
    const now = byId(others);
    for (const id of this.#others.keys()) if (!now.has(id)) this.#bus.emit('node.gone', { node: id, self: false });
    if (health.node !== this.#self) this.#bus.emit('node.joined', { node: health.node, self: true });
    for (const { id, version, url } of others) if (!this.#others.has(id)) this.#bus.emit('node.joined', { node: id, self: false, version, url });
    this.#self = health.node;
    this.#others = now;
    if (others === this.#read) return;
    this.#read = others;
    this.#onOthers(others);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #seeStore(isAway: boolean, silentMs: number): void {
    if (isAway === (this.#awaySince !== undefined)) return;
    const now = performance.now();
    if (isAway) {
      this.#awaySince = now - silentMs;
      this.#bus.emit('store.away', { silentMs: Math.round(silentMs) });
      return;
    }
    const silent = now - (this.#awaySince ?? now);
    this.#awaySince = undefined;
    this.#bus.emit('store.back', { silentMs: Math.round(silent) });
  }
}

function byId(nodes: readonly OtherNode[]): ReadonlyMap<string, OtherNode> {
  return new Map(nodes.map((node) => [node.id, node]));
}
