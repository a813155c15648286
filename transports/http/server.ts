// The HTTP transport: accepts a request, checks it, finds its route and writes its reply.
//
// guard-first: version, Host and Origin are checked before anything is read, and the token before a handler runs.
// one-error-body: everything that is thrown becomes the one error body. Only an INTERNAL_ERROR is logged with its cause.
// no-leftovers: a connection closes after a request whose body was not read to its end, so that no leftover bytes are
// parsed as a next request.
// abort-on-leave: when a client leaves, the work for it is aborted.
// one-answer: bytes that are not a request get no answer while another answer is open on their connection, because the
// client would take it for that answer.
// drain: a server that shuts down finishes open requests and answers new ones with SHUTTING_DOWN, so that a load balancer
// notices before the port closes.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { BlockhouseError, type Core, DEFAULT_MAX_CONNECTIONS, internalError, invalidRequest, toBlockhouseError } from '../../core/index.ts';
import { assertOwnHost, bearerToken, inboundRequestId, targetPath } from '../guard.ts';
import { STDERR_LOG, type TransportLog } from '../log.ts';
import { answerRaw, COMMON_HEADERS, openAnswer } from '../raw-answer.ts';
import { isRepeated, wrongTokensOf } from '../wrong-tokens.ts';
import { queryToken, WS_PATH, WS_TOKEN_HINT } from '../ws-path.ts';
import { MAX_HEADER_BYTES, OpenAnswers, parserFailure } from './connection.ts';
import { DEFAULT_IMPORT_LIMITS, type ImportLimits, ImportQueue } from './imports.ts';
import { checkMounts, type FoundMount, findMount, type Mount } from './mounts.ts';
import { errorReply, type JsonReply, type Reply, STREAMED, writeJson } from './reply.ts';
import { Router } from './router.ts';
import type { Route, ServerContext } from './route.ts';
import { ROUTES } from './routes.ts';
import { DEFAULT_SSE_TIMING, type SseTiming } from './sse.ts';

/** The options of `createHttpTransport`; each has a default. */
export interface HttpTransportOptions {
  /** Your own routes beside those of the server. */
  readonly mounts?: readonly Mount[];
  /** Set it when the server listens beyond loopback. */
  readonly allowRemote?: boolean;
  /** Without a log, failures go to stderr. */
  readonly log?: TransportLog | undefined;
  /** Times of streamed answers; defaults 10 s, 15 s, 30 s. */
  readonly sse?: Partial<SseTiming>;
  /** Milliseconds without a byte of a body after which its request is refused. The default is 35,000. */
  readonly bodyStallMs?: number;
  /** How many imports run and wait; defaults 2, 16, 30 s. */
  readonly imports?: Partial<ImportLimits>;
  /** The most open connections; further ones are closed at once. The default is 2,000. */
  readonly maxConnections?: number;
}

/** A running or stopped HTTP server for a core. */
export interface HttpTransport {
  /** The server of node:http, for example for `createWsTransport`. */
  readonly server: Server;
  /** Binds and resolves with the URL. Rejects as `server.listen` does (EADDRINUSE, …). */
  listen(port: number, host: string): Promise<string>;
  /** Answers every new request, health included, with 503 SHUTTING_DOWN and closes its connection. Requests under way continue. */
  drain(): void;
  /** Calls `drain`, closes the port once no request is under way, and resolves when all connections have ended. */
  close(): Promise<void>;
}

/** How long the headers of a request, and the whole request, may take to arrive. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** How long a body may pause before its request is refused. */
const BODY_STALL_MS = 35_000;
/** How often Node looks for late requests. Often, so that it refuses a few at a time: a thousand in one turn would hold up the event loop. */
const CHECK_MS = 100;
/** The time between two log lines about dropped connections. */
const DROP_LOG_MS = 10_000;

/** Makes the HTTP server of a core; `listen` starts it. Throws when the core has no workspace, because there is no token to check then, and for a bad mount. */
export function createHttpTransport(core: Core, options: HttpTransportOptions = {}): HttpTransport {
  if (core.token === undefined) throw new Error('A server needs a workspace: createCore({ workspace, … }).');
  checkMounts(options.mounts ?? []);
  const front = new Front(core, options, () => server.listenerCount('upgrade') > 0);
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
    (req, res) => void front.serve(req, res),
  );
  // MAX_HEADER_BYTES is the limit. A limit on their number would silently drop the rest, perhaps the Authorization header.
  server.maxHeadersCount = 0;
  server.maxConnections = options.maxConnections ?? DEFAULT_MAX_CONNECTIONS;
  server.on('listening', () => front.begin());
  server.on('drop', () => front.noteDrop(server.maxConnections));
  server.on('checkContinue', (req, res) => void front.serve(req, res));
  server.on(
    'checkExpectation',
    (req, res) => void front.serve(req, res, new BlockhouseError('EXPECTATION_FAILED', 'The Expect header must be 100-continue; change it or leave it out.')),
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
    drain: () => front.drain(),
    close: async () => {
      front.drain();
      await front.idle();
      await close(server, front.answers);
    },
  };
}

class Front {
  readonly answers = new OpenAnswers();
  readonly #core: Core;
  readonly #log: TransportLog;
  readonly #mounts: readonly Mount[];
  readonly #allowRemote: boolean;
  readonly #takesUpgrades: () => boolean;
  readonly #router = new Router<Route>(ROUTES);
  readonly #context: ServerContext;
  readonly #onIdle: (() => void)[] = [];
  #isDraining = false;
  #underWay = 0;
  #dropToldAt = Number.NEGATIVE_INFINITY;
  #startedAt = performance.now();

  constructor(core: Core, options: HttpTransportOptions, takesUpgrades: () => boolean) {
    this.#core = core;
    this.#takesUpgrades = takesUpgrades;
    this.#log = options.log ?? STDERR_LOG;
    this.#mounts = options.mounts ?? [];
    this.#allowRemote = options.allowRemote ?? false;
    this.#context = {
      routes: ROUTES,
      sse: { ...DEFAULT_SSE_TIMING, ...options.sse },
      bodyStallMs: options.bodyStallMs ?? BODY_STALL_MS,
      imports: new ImportQueue({ ...DEFAULT_IMPORT_LIMITS, ...options.imports }),
      uptimeMs: () => performance.now() - this.#startedAt,
    };
  }

  /** Called when the server has begun to listen. */
  begin(): void {
    this.#startedAt = performance.now();
  }

  drain(): void {
    this.#isDraining = true;
    this.#tellIfIdle();
  }

  /** Resolves once no request is under way. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle.push(resolve);
      this.#tellIfIdle();
    });
  }

  #tellIfIdle(): void {
    if (this.#underWay === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** Answers a request; never rejects. A request that passes the guard gets `refusal`, if one is given. */
  async serve(req: IncomingMessage, res: ServerResponse, refusal?: BlockhouseError): Promise<void> {
    // After a reset, Node's parser still delivers the requests that it has buffered. Nobody waits for their answers, so nothing may be done for them.
    if (req.socket.destroyed) return;
    const startedAt = performance.now();
    const requestId = inboundRequestId(req) ?? this.#core.newRequestId();
    const signal = this.answers.add(req.socket, res); // abort-on-leave
    res.on('error', (error) => this.#log.debug({ requestId, error: error.message }, 'the connection broke while it was written to'));
    let failure: BlockhouseError | undefined;
    let isUnderWay = false;
    try {
      this.#assertOwnHost(req, res); // guard-first
      this.#assertOpen(res); // drain
      this.#underWay += 1;
      isUnderWay = true;
      if (refusal !== undefined) throw refusal;
      const reply = await this.#answer(req, res, requestId, signal);
      if (reply !== STREAMED) this.#write(req, res, reply, requestId);
    } catch (error) {
      failure = toBlockhouseError(error); // one-error-body
      this.#write(req, res, errorReply(failure, requestId), requestId);
    }
    if (isUnderWay) this.#underWay -= 1;
    if (this.#isDraining) this.#tellIfIdle();
    this.#record(req, res, requestId, performance.now() - startedAt, failure);
  }

  /** Logs dropped connections, at most one line in 10 s, so that a flood of connections does not fill the log. */
  noteDrop(most: number): void {
    const now = performance.now();
    if (now - this.#dropToldAt < DROP_LOG_MS) return;
    this.#dropToldAt = now;
    this.#log.error({ most }, 'the limit of open connections is reached; further ones are closed (BLOCKHOUSE_MAX_CONNECTIONS)');
  }

  /** Answers on the bare socket, for bytes that never became a request. */
  refuseRaw(socket: Duplex, failure: BlockhouseError, requestId = this.#core.newRequestId()): void {
    this.#log.info({ requestId, status: failure.status, code: failure.code, error: failure.message }, 'request refused');
    if (isInAnotherAnswer(socket))
      socket.destroy(); // one-answer
    else answerRaw(socket, failure, requestId);
  }

  async #answer(req: IncomingMessage, res: ServerResponse, requestId: string, signal: AbortSignal): Promise<Reply> {
    const path = targetPath(req);
    const mount = this.#mounts.length === 0 ? undefined : findMount(this.#mounts, path);
    if (mount !== undefined) return this.#mounted(mount, req, res, requestId);
    const found = this.#router.find(req.method ?? '', path);
    if (found !== undefined && 'allow' in found && req.method === 'OPTIONS')
      return { status: 204, body: undefined, headers: { allow: found.allow.join(', ') } };
    if (path === WS_PATH && this.#takesUpgrades()) this.#refuseNotUpgraded(req);
    if (!(found !== undefined && 'route' in found && found.route.public)) this.#assertToken(req);
    if (found === undefined) throw new BlockhouseError('NOT_FOUND', `There is no route ${path.slice(0, 200)}; GET /openapi.json lists the routes.`);
    if ('allow' in found) return notAllowed(req.method, found.allow, requestId);
    return found.route.handler({ core: this.#core, server: this.#context, req, res, params: found.params, requestId, signal });
  }

  async #mounted(mount: FoundMount, req: IncomingMessage, res: ServerResponse, requestId: string): Promise<Reply> {
    if (!mount.public) this.#assertToken(req);
    for (const [name, value] of Object.entries({ ...COMMON_HEADERS, 'x-request-id': requestId })) res.setHeader(name, value);
    try {
      await mount.handler(req, res);
    } catch (error) {
      throw error instanceof BlockhouseError ? error : internalError(error); // a system error of the host program is not an upstream or storage failure of ours
    }
    return STREAMED;
  }

  /** Closes the connection of a request that names a wrong host, or none: its next request would have the same fault. */
  #assertOwnHost(req: IncomingMessage, res: ServerResponse): void {
    try {
      assertOwnHost(req, { allowRemote: this.#allowRemote });
    } catch (error) {
      res.setHeader('connection', 'close');
      throw error;
    }
  }

  /** drain. */
  #assertOpen(res: ServerResponse): void {
    if (!this.#isDraining) return;
    res.setHeader('connection', 'close');
    throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.');
  }

  #assertToken(req: IncomingMessage): void {
    wrongTokensOf(this.#core).assertRight(this.#core, req, bearerToken(req), 'Send the header Authorization: Bearer <token>; `blockhouse token` prints it.');
  }

  /** Most often a proxy in between has dropped the headers, and the token is in the query. */
  #refuseNotUpgraded(req: IncomingMessage): never {
    wrongTokensOf(this.#core).assertRight(this.#core, req, queryToken(req) ?? bearerToken(req), WS_TOKEN_HINT);
    throw invalidRequest(
      '',
      `${WS_PATH} is a WebSocket: send the headers Connection: Upgrade and Upgrade: websocket, and let a proxy in between pass them on.`,
    );
  }

  #write(req: IncomingMessage, res: ServerResponse, reply: JsonReply, requestId: string): void {
    if (res.headersSent) {
      // Ended here, half an answer would look like a whole one.
      if (!res.writableEnded) res.destroy();
      return;
    }
    if (!req.complete) res.setHeader('connection', 'close'); // no-leftovers
    writeJson(res, reply, requestId, req.complete ? undefined : discard(req));
  }

  #record(req: IncomingMessage, res: ServerResponse, requestId: string, ms: number, failure: BlockhouseError | undefined): void {
    const status = failure?.status ?? res.statusCode;
    if (status < 400 && this.#log.isLevelEnabled?.('debug') === false) return;
    const fields = {
      requestId,
      method: req.method,
      path: req.url?.split('?')[0]?.slice(0, 200),
      status,
      ms: Math.round(ms * 10) / 10,
      ...(failure !== undefined && { code: failure.code }),
    };
    if (failure?.code === 'INTERNAL_ERROR')
      this.#log.error({ ...fields, err: failure.cause ?? failure }, 'request failed'); // one-error-body
    else if (failure !== undefined && status >= 500 && failure.code !== 'SHUTTING_DOWN')
      this.#log.error({ ...fields, error: failure.message }, 'request failed');
    else if (status >= 400) this.#log[isRepeated(failure) ? 'debug' : 'info']({ ...fields, error: failure?.message }, 'request refused');
    else this.#log.debug(fields, 'request served');
  }
}

/** True when the bytes come after a complete request that is not answered yet. Otherwise they belong to the open request, which is refused with them. */
function isInAnotherAnswer(socket: Duplex): boolean {
  const open = openAnswer(socket);
  return open !== undefined && (open.headersSent || open.req.complete);
}

function notAllowed(method: string | undefined, allow: readonly string[], requestId: string): JsonReply {
  const reply = errorReply(new BlockhouseError('METHOD_NOT_ALLOWED', `This path does not support ${method}; it supports ${allow.join(', ')}.`), requestId);
  return { ...reply, headers: { ...reply.headers, allow: allow.join(', ') } };
}

/** How long the rest of a refused body may arrive before its connection is cut. */
const DISCARD_MS = 1000;

/** Reads the rest of a refused body and drops it, for a second at most: a client that is still sending would get a reset instead of the refusal. */
function discard(req: IncomingMessage): Promise<void> {
  req.resume();
  return new Promise((resolve) => {
    const cut = setTimeout(resolve, DISCARD_MS);
    for (const event of ['end', 'close'])
      req.once(event, () => {
        clearTimeout(cut);
        resolve();
      });
  });
}

function listen(server: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      const { address, family, port: bound } = server.address() as AddressInfo;
      resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`);
    });
  });
}

const SWEEP_MS = 50;

function close(server: Server, answers: OpenAnswers): Promise<void> {
  return new Promise((resolve, reject) => {
    // `server.close` closes only the connections that are idle now. Those that become idle later would stay for the keep-alive time, and those
    // that never sent a request for ever.
    const sweep = setInterval(() => (answers.count === 0 ? server.closeAllConnections() : server.closeIdleConnections()), SWEEP_MS);
    server.close((error) => {
      clearInterval(sweep);
      if (error === undefined || (error as NodeJS.ErrnoException).code === 'ERR_SERVER_NOT_RUNNING') resolve();
      else reject(error);
    });
    server.closeIdleConnections();
  });
}
