// The one egress function: every byte that Blockhouse sends to a provider leaves through `Upstream.send`.
//
// allowed-only: no call leaves that the egress rule refuses, and no connection opens to an address that it refuses, under any host name.
// no-detours: redirects are not followed and compressed answers are not accepted. Both could carry keys or fill the memory.
// closed-for-good: after `close` nothing is sent, and no connection is left, not even one that was opening.
//
// undici is loaded at the first call, so that a server that never calls a provider saves its memory.
import { type LookupAddress, lookup as resolveName } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import type { buildConnector, Client, Pool } from 'undici';
import { type AdapterCall, checkEgress, type EgressRule, forbiddenAddress, isForbiddenAddress } from '../core/index.ts';
import { type Connection, newConnection, takeSocket } from './connection.ts';
import { closing } from './connection-errors.ts';
import { type OriginPool, type PoolSource, UpstreamCall, type UpstreamHandler, type UpstreamRequest } from './upstream-call.ts';

/** The request and the reader of its answer, as `send` takes them. */
export type { UpstreamHandler, UpstreamRequest } from './upstream-call.ts';

type Undici = typeof import('undici');

/** undici's default is 4 s, but model calls come in bursts with pauses. If the provider closes one first, the call is repeated (sent-once in upstream-call.ts). */
const KEEP_ALIVE_MS = 30_000;
const MAX_HEADER_BYTES = 64 * 1024;
/** A request may name any base URL, so the number of pools is limited: beyond this, the least recently used is closed after its requests. */
const MAX_POOLS = 64;

/** The connections of one adapter: a pool for each origin, opened at the first call and closed by `close`. */
export class Upstream implements PoolSource {
  readonly unreachableHint: string | undefined;
  /** In the order of their last use. */
  readonly #pools = new Map<string, OriginPool>();
  /** The pool that was used last. */
  #newest: OriginPool | undefined;
  /** Evicted pools, until their last request has ended. */
  readonly #leaving = new Set<Pool>();
  readonly #opening = new Set<Socket>();
  #undici: Undici | undefined;
  #isClosed = false;

  /** `unreachableHint` is added to the error when no connection is possible. */
  constructor(unreachableHint?: string) {
    this.unreachableHint = unreachableHint;
  }

  /** Resolves when the answer is complete and handed over. Rejects with a BlockhouseError, or with what the handler threw. */
  send(call: AdapterCall, request: UpstreamRequest, handler: UpstreamHandler): Promise<void> {
    if (this.#undici === undefined) return this.prepare().then(() => this.send(call, request, handler));
    return new UpstreamCall(call, request, handler, this).run();
  }

  async prepare(): Promise<void> {
    this.#undici ??= await import('undici');
  }

  async close(): Promise<void> {
    this.#isClosed = true; // closed-for-good
    const pools = [...this.#leaving, ...[...this.#pools.values()].map(({ pool }) => pool)];
    this.#pools.clear();
    this.#newest = undefined;
    const closed = Promise.all(pools.map((pool) => pool.destroy()));
    for (const socket of this.#opening) socket.destroy(closing()); // undici waits for them
    await closed;
  }

  /** Throws INVALID_REQUEST for an address that the egress rule refuses, SHUTTING_DOWN after `close`. */
  poolFor({ egress, timeouts }: AdapterCall, url: URL): OriginPool {
    if (this.#isClosed) throw closing();
    const origin = checkEgress(egress, url);
    const undici = this.#undici;
    if (undici === undefined) throw new Error('The client was requested before it was loaded.');
    if (this.#newest?.origin === origin) return this.#newest;
    const known = this.#pools.get(origin);
    if (known !== undefined) {
      this.#pools.delete(origin);
      this.#pools.set(origin, known);
      this.#newest = known;
      return known;
    }
    const open = connector(undici, origin, egress, timeouts.connectMs);
    const pool = new undici.Pool(origin, {
      factory: (address, options: Client.Options) => {
        const connection = newConnection();
        const client = new undici.Client(address, { ...options, connect: (target, callback) => this.#connect(open, connection, target, callback) });
        const dispatch = client.dispatch.bind(client);
        client.dispatch = (request, handler) => {
          created.chosen = connection;
          return dispatch(request, handler);
        };
        return client;
      },
      pipelining: 1,
      headersTimeout: 0, // upstream-call.ts has the limits; undici's own would cut off a reasoning model after 300 s of silence
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    const created: OriginPool = { origin, pool, chosen: undefined };
    this.#pools.set(origin, created);
    this.#newest = created;
    this.#evict();
    return created;
  }

  #connect(open: Connect, connection: Connection, ...[target, callback]: Parameters<Connect>): void {
    connection.socket = undefined;
    const socket = open(target, (...result) => {
      this.#opening.delete(socket);
      connection.opening = undefined;
      if (result[0] === null && result[1] !== null) takeSocket(connection, result[1]);
      callback(...result);
    });
    connection.opening = socket;
    this.#opening.add(socket);
  }

  #evict(): void {
    const oldest = this.#pools.size > MAX_POOLS ? this.#pools.entries().next().value : undefined;
    if (oldest === undefined) return;
    const [origin, { pool }] = oldest;
    this.#pools.delete(origin);
    this.#leaving.add(pool);
    // `close` waits for the pool's requests. It can only fail while it closes idle sockets, and those are no longer needed.
    const left = pool.close().catch(() => pool.destroy());
    void left.finally(() => this.#leaving.delete(pool));
  }
}

/** The type at run time; undici's types leave out the socket. */
type Connect = (...args: Parameters<buildConnector.connector>) => Socket;

/** allowed-only: the connection goes to the very address that the look-up checked. */
function connector(undici: Undici, origin: string, egress: EgressRule, timeoutMs: number): Connect {
  const lookup = checkedLookup(origin, egress.allowedOrigins.has(origin));
  return undici.buildConnector({ timeout: timeoutMs, lookup, autoSelectFamily: true } as buildConnector.BuildOptions) as Connect;
}

function checkedLookup(origin: string, listed: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) return callback(error, '', 0);
      const bad = listed ? undefined : addresses.find(({ address }) => isForbiddenAddress(address));
      if (bad !== undefined) return callback(forbiddenAddress(origin), '', 0);
      if (options.all) return callback(null, addresses as never, 0);
      const first = addresses[0];
      return callback(null, first?.address ?? '', first?.family ?? 0);
    });
  };
}
