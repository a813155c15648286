// The one egress function: every byte that Blockhouse sends to a provider leaves through `Upstream.send`.
//
// allowed-only: no call leaves that the egress rule refuses, and no connection opens to an address that it refuses, whatever name led there.
// no-detours: redirects are not followed and compressed answers are not accepted. Both could carry keys or fill the memory.
// closed-for-good: after `close` nothing is sent, and no connection is left, not even one that was being opened.
//
// undici is loaded at the first call, so that a server that never calls a provider saves its memory.
import { type LookupAddress, lookup as resolveName } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import type { buildConnector, Client, Pool } from 'undici';
import { type AdapterCall, checkEgress, type EgressRule, forbiddenAddress, isForbiddenAddress } from '../core/index.ts';
import { type Connection, newConnection, takeSocket } from './connection.ts';
import { closing } from './connection-errors.ts';
import { type OriginPool, type PoolSource, UpstreamCall, type UpstreamHandler, type UpstreamRequest } from './upstream-call.ts';

export type { UpstreamHandler, UpstreamRequest } from './upstream-call.ts';

type Undici = typeof import('undici');

/** Longer than the 4 s of undici: model calls come in bursts with thinking in between, and one that was closed meanwhile costs nothing (sent-once in upstream-call.ts). */
const KEEP_ALIVE_MS = 30_000;
const MAX_HEADER_BYTES = 64 * 1024;
/** A request may name a base URL, so pools come and go. Beyond this many, the one unused for longest is closed once its requests have ended. */
const MAX_POOLS = 64;

export class Upstream implements PoolSource {
  readonly unreachableHint: string | undefined;
  /** In the order of their last use. */
  readonly #pools = new Map<string, OriginPool>();
  /** The last of them. */
  #newest: OriginPool | undefined;
  /** Evicted ones, until their last request has ended. */
  readonly #leaving = new Set<Pool>();
  readonly #opening = new Set<Socket>();
  #undici: Undici | undefined;
  #isClosed = false;

  /** `unreachableHint` stands in the error when nobody answers. */
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

  /** Throws INVALID_REQUEST for an address that the egress rule refuses (allowed-only), SHUTTING_DOWN after `close` (closed-for-good). */
  poolFor({ egress, timeouts }: AdapterCall, url: URL): OriginPool {
    if (this.#isClosed) throw closing();
    const origin = checkEgress(egress, url);
    const undici = this.#undici;
    if (undici === undefined) throw new Error('the client is asked for before it was loaded');
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
      headersTimeout: 0, // upstream-call.ts has the limits: undici's own limits would end a reasoning model's silence after 300 s
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
    // `close` waits for the pool's requests. It can only fail at closing idle sockets, and nobody needs those any more.
    const left = pool.close().catch(() => pool.destroy());
    void left.finally(() => this.#leaving.delete(pool));
  }
}

/** As it is at run time: undici's types leave the socket out. */
type Connect = (...args: Parameters<buildConnector.connector>) => Socket;

/** The lookup pins the address that was checked (allowed-only). */
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
