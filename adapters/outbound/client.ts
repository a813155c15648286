// The one egress function: every byte that Blockhouse sends to a provider leaves through `Upstream.send`.
//
// allowed-only: no call leaves that the egress rule refuses, and no connection opens to an address that it refuses, under any host name.
// no-detours: redirects are not followed and compressed answers are not accepted. Both could carry keys or fill the memory.
// closed-for-good: after `close` nothing is sent, and no connection is left, not even one that was opening.
// late-look: what is to be sent on kept connections is sent together, one turn later (connection.ts says why).
//
// node:tls is loaded at the first call that needs it, so that a server that calls nobody, or a local model only, saves its memory.
import { type AdapterCall, checkEgress } from '../../core/index.ts';
import { UpstreamCall, type UpstreamHandler, type UpstreamRequest } from './call.ts';
import { Connection, type ConnectionOwner, type Exchange } from './connection.ts';
import { closing, OurClosing } from './connection-errors.ts';
import { type Dial, dialer, type Tls } from './dial.ts';

/** The request and the reader of its answer, as `send` takes them. */
export type { UpstreamHandler, UpstreamRequest } from './call.ts';

/** A request may name any base URL, so the number of pools is limited: beyond this, the least recently used is closed after its requests. */
const MAX_POOLS = 64;

/** The connections of one adapter: a pool for each origin, opened at the first call and closed by `close`. */
export class Upstream {
  /** Added to the error when no connection is possible. */
  readonly unreachableHint: string | undefined;
  /** In the order of their last use. */
  readonly #pools = new Map<string, OriginPool>();
  /** The pool that was used last. */
  #newest: OriginPool | undefined;
  /** Evicted pools, until their last request has ended. */
  readonly #leaving = new Set<OriginPool>();
  /** Kept connections whose next request is written in the next turn. */
  #sending: Connection[] = [];
  #tls: Tls | undefined;
  #isClosed = false;

  /** `unreachableHint` is added to the error when no connection is possible. */
  constructor(unreachableHint?: string) {
    this.unreachableHint = unreachableHint;
  }

  /** Resolves when the answer is complete and handed over. Rejects with a BlockhouseError, or with what the handler threw. */
  send(call: AdapterCall, request: UpstreamRequest, handler: UpstreamHandler): Promise<void> {
    if (this.#tls === undefined && request.url.protocol === 'https:') return this.prepare().then(() => this.send(call, request, handler));
    return new UpstreamCall(call, request, handler, this).run();
  }

  async prepare(): Promise<void> {
    this.#tls ??= await import('node:tls');
  }

  async close(): Promise<void> {
    this.#isClosed = true; // closed-for-good
    const pools = [...this.#leaving, ...this.#pools.values()];
    this.#pools.clear();
    this.#newest = undefined;
    for (const pool of pools) pool.close();
  }

  /**
   * Sends a request on a connection of its origin, and returns the connection. Throws INVALID_REQUEST for an address that the egress rule refuses,
   * SHUTTING_DOWN after `close`.
   */
  dispatch(call: AdapterCall, url: URL, exchange: Exchange): Connection {
    const pool = this.#poolFor(call, url);
    const kept = pool.takeIdle();
    if (kept === undefined) return pool.open(exchange, call.timeouts.connectMs);
    kept.take(exchange);
    if (this.#sending.push(kept) === 1) setImmediate(this.#sendAll); // late-look
    return kept;
  }

  readonly #sendAll = (): void => {
    const connections = this.#sending;
    this.#sending = [];
    for (const connection of connections) connection.send();
    process.nextTick(noteRefusals, connections);
  };

  #poolFor({ egress }: AdapterCall, url: URL): OriginPool {
    if (this.#isClosed) throw closing();
    const origin = checkEgress(egress, url);
    if (this.#newest?.origin === origin) return this.#newest;
    const known = this.#pools.get(origin);
    this.#pools.delete(origin);
    const pool = known ?? new OriginPool(origin, dialer(origin, egress, this.#tls));
    this.#pools.set(origin, pool);
    this.#newest = pool;
    this.#evict();
    return pool;
  }

  #evict(): void {
    const oldest = this.#pools.size > MAX_POOLS ? this.#pools.values().next().value : undefined;
    if (oldest === undefined) return;
    this.#pools.delete(oldest.origin);
    this.#leaving.add(oldest);
    oldest.leave(() => this.#leaving.delete(oldest));
  }
}

function noteRefusals(connections: readonly Connection[]): void {
  for (const connection of connections) connection.noteRefusal();
}

/** The connections to one origin. */
class OriginPool implements ConnectionOwner {
  readonly origin: string;
  readonly #dial: Dial;
  readonly #all = new Set<Connection>();
  /** The one that was used last is used first, so that the others may grow old and end. */
  readonly #idle: Connection[] = [];
  /** Set once the pool has been evicted. */
  #onEmpty: (() => void) | undefined;

  constructor(origin: string, dial: Dial) {
    this.origin = origin;
    this.#dial = dial;
  }

  takeIdle(): Connection | undefined {
    return this.#idle.pop();
  }

  open(exchange: Exchange, connectMs: number): Connection {
    const connection = new Connection((opened) => this.#dial(connectMs, opened), this, exchange);
    this.#all.add(connection);
    return connection;
  }

  idle(connection: Connection): void {
    if (this.#onEmpty === undefined) this.#idle.push(connection);
    else connection.destroy();
  }

  gone(connection: Connection): void {
    this.#all.delete(connection);
    const at = this.#idle.lastIndexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    if (this.#all.size === 0) this.#onEmpty?.();
  }

  /** Ends the idle connections now, and each other one after its answer. */
  leave(onEmpty: () => void): void {
    this.#onEmpty = onEmpty;
    for (const connection of [...this.#idle]) connection.destroy();
    if (this.#all.size === 0) onEmpty();
  }

  /** Ends every connection; their requests fail with SHUTTING_DOWN. */
  close(): void {
    for (const connection of [...this.#all]) connection.fail(new OurClosing('the server is shutting down'));
  }
}
