// The one egress function: every byte that Blockhouse sends to a provider leaves through `Upstream.send`.
//
// H1 No call leaves that the egress rule refuses; no connection opens to an address it refuses, whatever name led there.
// H2 Redirects are not followed, and no content-encoding is accepted: both would carry keys or memory elsewhere.
// H3 An aborted signal destroys the connection at once, in every phase.
// H4 Limits are ours alone: connecting, silence before the first byte, silence between bytes; a pause that the
//    reader asked for doesn't count as silence.
// H5 A request that met a kept-alive connection which the provider had already closed is sent again, once. Any other
//    break after sending, a later one on such a connection included, is reported with `mayHaveRun`.
import { type LookupAddress, lookup as resolveName } from 'node:dns';
import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { type AdapterCall, BlockhouseError, checkEgress, type EgressRule, forbiddenAddress, isForbiddenAddress, type UpstreamTimeouts } from '../core/index.ts';

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body?: Buffer | undefined;
}

/** Takes one answer. What it throws ends the call with that error, and the connection with it. */
export interface UpstreamHandler {
  head(status: number, headers: IncomingHttpHeaders): void;
  /** False asks for a pause until `onceWritable` calls back. */
  data(chunk: Buffer): boolean;
  onceWritable(resume: () => void): void;
}

/** Longer than the 4 s of undici: model calls come in bursts with thinking in between, and H5 covers the stale ones. */
const KEEP_ALIVE_MS = 30_000;
/** News of a connection that was closed before the request came needs a round trip; what breaks later broke at work (H5). */
const STALE_WITHIN_MS = 2000;
const MAX_HEADER_BYTES = 64 * 1024;
/** Pools kept for base URLs that requests named; the oldest is closed, once its requests have ended. */
const MAX_POOLS = 64;

interface OriginPool {
  readonly pool: Pool;
  /** Local port → when the connection was opened; tells a reused connection from a fresh one (H5). */
  readonly births: Map<number, number>;
}

/** When the connection that an error came from was opened. */
const birthOfError = new WeakMap<Error, number>();

export class Upstream {
  readonly #pools = new Map<string, OriginPool>();

  /** Resolves when the answer is complete and handed over. Rejects with a BlockhouseError, or with what the handler threw. */
  async send(call: AdapterCall, request: UpstreamRequest, handler: UpstreamHandler): Promise<void> {
    checkEgress(call.egress, request.url); // H1
    if (call.signal.aborted) throw cancelled(call.signal.reason);
    const exchange = (): Exchange => new Exchange(call, request, handler, this.#pool(request.url.origin, call.egress, call.timeouts));
    try {
      await exchange().run();
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      await exchange().run(true); // the pool of the first one may have been evicted since
    }
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map(({ pool }) => pool.destroy()));
  }

  #pool(origin: string, egress: EgressRule, timeouts: UpstreamTimeouts): OriginPool {
    const known = this.#pools.get(origin);
    if (known !== undefined) return known;
    const births = new Map<number, number>();
    const pool = new Pool(origin, {
      connect: connector(origin, egress, timeouts.connectMs, births),
      pipelining: 1,
      headersTimeout: 0, // H4: undici's own limits would end a reasoning model's silence after 300 s
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    const created = { pool, births };
    this.#pools.set(origin, created);
    this.#evict();
    return created;
  }

  #evict(): void {
    const oldest = this.#pools.size > MAX_POOLS ? this.#pools.entries().next().value : undefined;
    if (oldest === undefined) return;
    this.#pools.delete(oldest[0]);
    // Waits for its requests. What may fail is the closing of idle sockets, which matters to nobody any more.
    oldest[1].pool.close().catch(() => oldest[1].pool.destroy());
  }
}

/** Opens connections and remembers when; the lookup pins the address that was checked (H1). */
function connector(origin: string, egress: EgressRule, timeoutMs: number, births: Map<number, number>): buildConnector.connector {
  const listed = egress.allowedOrigins.has(origin);
  const connect = buildConnector({ timeout: timeoutMs, lookup: checkedLookup(origin, listed), autoSelectFamily: true } as buildConnector.BuildOptions);
  return (options, callback) => {
    connect(options, (...result) => {
      // Declared as null on failure, but left out at run time.
      const socket = result[1] ?? undefined;
      if (socket !== undefined) {
        const born = performance.now();
        const port = socket.localPort ?? 0;
        births.set(port, born);
        socket.once('error', (error) => birthOfError.set(error, born));
        // undici reports the break from its own close listener, so the entry outlives this tick.
        socket.once('close', () => setImmediate(() => births.delete(port)));
      }
      callback(...result);
    });
  };
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

class StaleConnection extends Error {}

/** One request on one connection. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #call: AdapterCall;
  readonly #request: UpstreamRequest;
  readonly #handler: UpstreamHandler;
  readonly #origin: OriginPool;
  #isReplay = false;
  #dispatchedAt = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #settled = false;
  #resolve!: () => void;
  #reject!: (error: unknown) => void;

  constructor(call: AdapterCall, request: UpstreamRequest, handler: UpstreamHandler, origin: OriginPool) {
    this.#call = call;
    this.#request = request;
    this.#handler = handler;
    this.#origin = origin;
  }

  run(isReplay = false): Promise<void> {
    this.#isReplay = isReplay;
    const { url, method, headers, body } = this.#request;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#call.signal.addEventListener('abort', this.#onAbort, { once: true });
      this.#dispatchedAt = performance.now();
      this.#origin.pool.dispatch(
        { origin: url.origin, path: url.pathname + url.search, method, headers: { ...headers, 'accept-encoding': 'identity' }, body: body ?? null },
        this,
      );
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) {
      controller.abort(new Error('aborted while connecting'));
      return;
    }
    this.#startTimer(this.#call.timeouts.firstByteMs, 'sent nothing');
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#settled || status < 200) return;
    this.#status = status;
    this.#guard(() => {
      const encoding = String(headers['content-encoding'] ?? '').toLowerCase();
      if (encoding !== '' && encoding !== 'identity') {
        throw new BlockhouseError('UPSTREAM_MALFORMED', `The provider compressed its answer (${encoding.slice(0, 64)}) though it was asked not to.`, {
          upstreamStatus: status,
          mayHaveRun: true,
        });
      }
      this.#handler.head(status, headers);
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    if (this.#bytes === 0) this.#startTimer(this.#call.timeouts.idleMs, 'stopped in the middle of its answer');
    else this.#timer?.refresh();
    this.#bytes += chunk.length;
    this.#guard(() => {
      if (this.#handler.data(chunk)) return;
      controller.pause();
      this.#stopTimer(); // H4: the reader is slow, not the provider
      this.#handler.onceWritable(() => {
        if (this.#settled) return;
        this.#startTimer(this.#call.timeouts.idleMs, 'stopped in the middle of its answer');
        controller.resume();
      });
    });
  }

  onResponseEnd(): void {
    this.#settle(() => this.#resolve());
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#settle(() => this.#reject(this.#diagnose(error)));
  }

  readonly #onAbort = (): void => {
    this.#fail(cancelled(this.#call.signal.reason)); // H3
  };

  #guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#settle(() => {
      this.#reject(error);
      this.#controller?.abort(error instanceof Error ? error : new Error(String(error)));
    });
  }

  #settle(how: () => void): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#stopTimer();
    this.#call.signal.removeEventListener('abort', this.#onAbort);
    how();
  }

  #startTimer(ms: number, what: string): void {
    this.#stopTimer();
    if (ms === 0) return;
    this.#timer = setTimeout(() => this.#fail(new BlockhouseError('UPSTREAM_TIMEOUT', `The provider ${what} for ${ms / 1000} s.`, { mayHaveRun: true })), ms);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #diagnose(error: Error): unknown {
    if (error instanceof BlockhouseError) return error;
    if ((error as NodeJS.ErrnoException).code === 'UND_ERR_DESTROYED') {
      // Our own doing in close(), so neither a stale connection nor one to try again here.
      return new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.', {
        cause: error,
        retryable: false,
        mayHaveRun: this.#controller !== undefined,
      });
    }
    const { host } = this.#request.url;
    if (this.#controller === undefined) {
      return new BlockhouseError('UPSTREAM_UNREACHABLE', `No connection to ${host}: ${reasonOf(error)}.`, { cause: error });
    }
    if (this.#status !== 0) {
      return new BlockhouseError('UPSTREAM_MALFORMED', `The answer of ${host} was cut short (${reasonOf(error)}).`, { cause: error, mayHaveRun: true });
    }
    if (isUnreadable(error)) {
      return new BlockhouseError('UPSTREAM_MALFORMED', `${host} does not speak HTTP as it should (${reasonOf(error)}).`, { cause: error, mayHaveRun: true });
    }
    if (!this.#isReplay && this.#metStaleConnection(error)) return new StaleConnection(); // H5
    return new BlockhouseError('UPSTREAM_UNREACHABLE', `${host} closed the connection before it answered (${reasonOf(error)}).`, {
      cause: error,
      mayHaveRun: true,
    });
  }

  #metStaleConnection(error: Error): boolean {
    if (performance.now() - this.#dispatchedAt > STALE_WITHIN_MS) return false;
    const port = (error as { socket?: { localPort?: number } }).socket?.localPort;
    const born = birthOfError.get(error) ?? (port === undefined ? undefined : this.#origin.births.get(port));
    return born !== undefined && born < this.#dispatchedAt;
  }
}

function cancelled(cause: unknown): BlockhouseError {
  return new BlockhouseError('CANCELLED', 'The caller left.', { cause });
}

/** undici tells some of these by name or text alone; the last two are its words for a 1xx that it takes for an answer. */
function isUnreadable(error: Error): boolean {
  const marks = [error.name, (error as NodeJS.ErrnoException).code, error.message];
  return ['HTTPParserError', 'UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'bad response', 'bad upgrade'].some((mark) =>
    marks.includes(mark),
  );
}

function reasonOf(error: Error): string {
  const inner = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  return (inner ?? error).message || ((inner ?? error) as NodeJS.ErrnoException).code || error.name;
}
