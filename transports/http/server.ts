// The HTTP transport: the server of node:http and its limits. dispatch.ts answers the requests.

import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { urlOf } from '../../core/base/url.ts';
import { BlockhouseError, type Core, DEFAULT_MAX_CONNECTIONS } from '../../core/index.ts';
import { inboundRequestId, MAX_HEADERS } from '../guard.ts';
import { Front, type FrontOptions } from './dispatch.ts';
import { checkMounts } from './mounts.ts';
import { BARE_ROUTES, GATEWAY_PATHS } from './routes/compatible-all.ts';
import { MCP_PATH } from './routes/mcp.ts';
import { ROUTES } from './routes.ts';
import { MAX_HEADER_BYTES, type OpenAnswers, parserFailure } from './wire/connection.ts';
import type { Route } from './wire/route.ts';

/** The options of `createHttpTransport`; each has a default. */
export interface HttpTransportOptions extends FrontOptions {
  /** The most open connections; further ones are closed at once. The default is 2,000. */
  readonly maxConnections?: number;
}

/** A running or stopped HTTP server for a core. */
export interface HttpTransport {
  /** The server of node:http, for example for `createWsTransport`. */
  readonly server: Server;
  /** Binds and resolves with the URL. Rejects as `server.listen` does (EADDRINUSE, …). */
  listen(port: number, host: string): Promise<string>;
  /** For a process that serves what another one accepts at this address: call it once, and then `take` with each connection. Returns the URL. */
  serveAt(address: AddressInfo): string;
  /** Takes a connection that another process has accepted. False after `close` has closed the port: the connection is still the caller's then. */
  take(socket: Socket): boolean;
  /** Answers every new request, health included, with 503 SHUTTING_DOWN and closes its connection. Requests under way continue. */
  drain(): void;
  /** Calls `drain`, closes the port once no request is under way, and resolves when all connections have ended. */
  close(): Promise<void>;
}

/** How long the headers of a request, and the whole request, may take to arrive. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** How often Node looks for late requests. Often, so that it refuses a few at a time: a thousand in one turn would hold up the event loop. */
const CHECK_MS = 100;

const CLOSING_CONNECTIONS = 256;

/** Creates the HTTP server of a core; `listen` starts it. Throws when the core has no workspace, because there is no token to check then, and for a bad mount or web origin. */
export function createHttpTransport(core: Core, options: HttpTransportOptions = {}): HttpTransport {
  return transportOf(core, options, ROUTES, [...GATEWAY_PATHS, MCP_PATH]);
}

/**
 * Creates a server of nothing but Ollama's API, whose paths have no prefix there: for clients that take a host and a port and no path. Throws when the
 * core has no workspace.
 */
export function createBareTransport(core: Core, options: Omit<HttpTransportOptions, 'mounts' | 'dashboard'> = {}): HttpTransport {
  return transportOf(core, options, BARE_ROUTES, ['/']);
}

/** `ownPaths`: where the requests are that become calls to providers, or messages to blocks. */
function transportOf(core: Core, options: HttpTransportOptions, routes: readonly Route[], ownPaths: readonly string[]): HttpTransport {
  if (core.token === undefined) throw new Error('A server needs a workspace: createCore({ workspace, … }).');
  checkMounts(options.mounts ?? [], options.dashboard !== undefined);
  const maxConnections = options.maxConnections ?? DEFAULT_MAX_CONNECTIONS;
  const front = new Front(core, options, maxConnections, { routes, hasWebSocket: () => server.listenerCount('upgrade') > 0 });
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_MS,
      requireHostHeader: false, // the guard checks it and answers with an error body
      noDelay: true,
      keepAliveTimeout: 65_000,
    },
    (req, res) => front.serve(req, res),
  );
  // Node drops the rest silently, perhaps the Authorization header, so the guard refuses such a request.
  server.maxHeadersCount = MAX_HEADERS;
  // A connection that makes room for another one takes a moment to close.
  server.maxConnections = maxConnections + CLOSING_CONNECTIONS;
  let servedAt: AddressInfo | undefined;
  server.on('listening', () => {
    front.begin();
    const address = servedAt ?? (server.address() as AddressInfo);
    server.once('close', core.ownAddresses.add(ownOrigins(address, options.publicOrigin), ownPaths));
  });
  const taken = new TakenSockets(server, maxConnections + CLOSING_CONNECTIONS, () => front.noteDrop(maxConnections));
  letIn(server, (socket, begin) => front.connected(socket, begin));
  server.on('drop', () => front.noteDrop(maxConnections));
  server.on('checkContinue', (req, res) => front.serve(req, res));
  server.on('checkExpectation', (req, res) =>
    front.serve(req, res, new BlockhouseError('EXPECTATION_FAILED', 'The Expect header must be 100-continue; change it or leave it out.')),
  );
  server.on('connect', (req, socket) =>
    front.refuseRaw(socket, new BlockhouseError('METHOD_NOT_ALLOWED', 'CONNECT is not supported; this server is not a proxy.'), inboundRequestId(req)),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else front.refuseRaw(socket, parserFailure(error.code));
  });
  return {
    server,
    listen: (port, host) => listen(server, port, host),
    serveAt: (address) => {
      servedAt = address;
      server.emit('listening'); // from then on, Node looks for late requests
      return urlAt(address);
    },
    take: (socket) => taken.take(socket),
    drain: () => front.drain(),
    close: async () => {
      front.drain();
      await front.idle();
      taken.close();
      await close(server, front.answers, taken);
    },
  };
}

/** HTTP gets a connection of `server` when `begin` is called. */
function letIn(server: Server, connected: (socket: Socket, begin: () => void) => void): void {
  const toHttp = server.listeners('connection'); // Node's own
  server.removeAllListeners('connection');
  server.on('connection', (socket) =>
    connected(socket, () => {
      for (const listener of toHttp) listener.call(server, socket);
    }),
  );
}

/** The origins by which this machine reaches a server. */
function ownOrigins({ address, port }: AddressInfo, publicOrigin: string | undefined): string[] {
  const isAny = address === '0.0.0.0' || address === '::';
  const addresses = isAny ? Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map((one) => one.address)) : [address];
  const isLoopback = addresses.some((one) => one === '127.0.0.1' || one === '::1');
  const hosts = [...addresses.map((one) => (one.includes(':') ? `[${one}]` : one)), ...(isLoopback ? ['localhost'] : []), ...(isAny ? [hostname()] : [])];
  const origins = hosts.map((host) => `http://${host}:${port}`).flatMap((url) => urlOf(url)?.origin ?? []); // an address with a zone is not a host of a URL
  return [...origins, ...(publicOrigin === undefined ? [] : [publicOrigin])];
}

function listen(server: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve(urlAt(server.address() as AddressInfo));
    });
  });
}

function urlAt({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** The connections of a server that another process has accepted for it. */
class TakenSockets {
  readonly #server: Server;
  readonly #most: number;
  readonly #onDrop: () => void;
  readonly #open = new Set<Socket>();
  #isClosed = false;

  constructor(server: Server, most: number, onDrop: () => void) {
    this.#server = server;
    this.#most = most;
    this.#onDrop = onDrop;
  }

  get count(): number {
    return this.#open.size;
  }

  /** As the server does with one that it has accepted itself. */
  take(socket: Socket): boolean {
    if (this.#isClosed) return false;
    if (this.#open.size >= this.#most) {
      socket.destroy();
      this.#onDrop();
      return true;
    }
    socket.allowHalfOpen = true;
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    this.#server.emit('connection', socket);
    return true;
  }

  close(): void {
    this.#isClosed = true;
  }
}

const SWEEP_MS = 50;

function close(server: Server, answers: OpenAnswers, taken: TakenSockets): Promise<void> {
  return new Promise((resolve, reject) => {
    let hasClosed = false;
    const endOnce = (): void => {
      if (!hasClosed || taken.count > 0) return;
      clearInterval(sweep);
      resolve();
    };
    // `server.close` closes only the connections that are idle now. Those that become idle later would stay for the keep-alive time, and those
    // that never sent a request for ever.
    const sweep = setInterval(() => {
      if (answers.count === 0) server.closeAllConnections();
      else server.closeIdleConnections();
      endOnce();
    }, SWEEP_MS);
    server.close((error) => {
      if (error !== undefined && (error as NodeJS.ErrnoException).code !== 'ERR_SERVER_NOT_RUNNING') {
        clearInterval(sweep);
        reject(error);
      }
      hasClosed = true;
      endOnce();
    });
    server.closeIdleConnections();
  });
}
