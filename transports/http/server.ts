// The HTTP transport: takes a request, guards it, finds its route, writes its reply.
//
// P1 Version, Host and Origin are checked before anything is read; the token before a handler runs.
// P2 Whatever is thrown becomes one error body; only an INTERNAL_ERROR's cause is logged as an error.
// P3 A request whose body was not read to its end takes its connection with it, so that leftover bytes are
//    never taken for a next request.
// P4 A client that leaves aborts what was begun for it.
// P5 A server that ends finishes what it has begun and takes nothing new: it says so, so that a load balancer sees it before the port is closed.
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

export interface HttpTransportOptions {
  readonly mounts?: readonly Mount[];
  /** Set it when the server is bound beyond loopback. */
  readonly allowRemote?: boolean;
  /** Where there is none, failures go to stderr. */
  readonly log?: TransportLog | undefined;
  readonly sse?: Partial<SseTiming>;
  /** Milliseconds without a byte of a body after which its request is refused. The default is 35,000. */
  readonly bodyStallMs?: number;
  readonly imports?: Partial<ImportLimits>;
  /** Open connections at most; further ones are closed as they come. The default is 2,000. */
  readonly maxConnections?: number;
}

export interface HttpTransport {
  readonly server: Server;
  /** Binds and resolves with the URL. Rejects as `server.listen` does (EADDRINUSE, …). */
  listen(port: number, host: string): Promise<string>;
  /** From now on whatever comes anew is answered 503 SHUTTING_DOWN, health too, and its connection closed; what is under way goes on. */
  drain(): void;
  /** `drain`, then stops accepting as soon as nothing is under way; resolves when everything has ended. */
  close(): Promise<void>;
}

/** A request's headers, and the whole of it, must have arrived by then. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** A body of which nothing arrives for so long does not arrive any more. */
const BODY_STALL_MS = 35_000;
/** Often, so that those who are late are refused a few at a time: a thousand refusals in one turn would hold up everybody else. */
const CHECK_MS = 100;
/** Between two log lines about connections that were turned away. */
const DROP_LOG_MS = 10_000;

/** Throws when the core has no workspace, and so no token to check. */
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
      requireHostHeader: false, // the guard does it, with an error body
      noDelay: true,
      keepAliveTimeout: 65_000,
    },
    (req, res) => void front.serve(req, res),
  );
  // MAX_HEADER_BYTES is the limit. A limit on their number would drop the rest silently, an Authorization among them.
  server.maxHeadersCount = 0;
  server.maxConnections = options.maxConnections ?? DEFAULT_MAX_CONNECTIONS;
  server.on('listening', () => front.begin());
  server.on('drop', () => front.noteDrop(server.maxConnections));
  server.on('checkContinue', (req, res) => void front.serve(req, res));
  server.on(
    'checkExpectation',
    (req, res) => void front.serve(req, res, new BlockhouseError('EXPECTATION_FAILED', 'Only Expect: 100-continue is understood.')),
  );
  server.on('connect', (req, socket) =>
    front.refuseRaw(socket, new BlockhouseError('METHOD_NOT_ALLOWED', 'CONNECT is not possible here; this server is no proxy.'), inboundRequestId(req)),
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

  /** The server listens now. */
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

  /** Never rejects. With `refusal`, that is the answer for whoever may speak to this server at all. */
  async serve(req: IncomingMessage, res: ServerResponse, refusal?: BlockhouseError): Promise<void> {
    // The parser goes on with what it has, also behind a reset: nobody is there for an answer, and nothing may be done for nobody.
    if (req.socket.destroyed) return;
    const startedAt = performance.now();
    const requestId = inboundRequestId(req) ?? this.#core.newRequestId();
    const signal = this.answers.add(req.socket, res); // P4
    res.on('error', (error) => this.#log.debug({ requestId, error: error.message }, 'the connection broke while it was written to'));
    let failure: BlockhouseError | undefined;
    let isUnderWay = false;
    try {
      this.#assertOwnHost(req, res); // P1
      this.#assertOpen(res); // P5
      this.#underWay += 1;
      isUnderWay = true;
      if (refusal !== undefined) throw refusal;
      const reply = await this.#answer(req, res, requestId, signal);
      if (reply !== STREAMED) this.#write(req, res, reply, requestId);
    } catch (error) {
      failure = toBlockhouseError(error);
      this.#write(req, res, errorReply(failure, requestId), requestId);
    }
    if (isUnderWay) this.#underWay -= 1;
    if (this.#isDraining) this.#tellIfIdle();
    this.#record(req, res, requestId, performance.now() - startedAt, failure);
  }

  /** One line for all of a while: whoever opens connections by the thousand must not fill the log. */
  noteDrop(most: number): void {
    const now = performance.now();
    if (now - this.#dropToldAt < DROP_LOG_MS) return;
    this.#dropToldAt = now;
    this.#log.error({ most }, 'as many connections as may be are open; further ones are closed (BLOCKHOUSE_MAX_CONNECTIONS)');
  }

  /** For what never became a request that could be answered as one. */
  refuseRaw(socket: Duplex, failure: BlockhouseError, requestId = this.#core.newRequestId()): void {
    this.#log.info({ requestId, status: failure.status, code: failure.code, error: failure.message }, 'request refused');
    if (isInAnotherAnswer(socket))
      socket.destroy(); // C2 in connection.ts
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
    if (found === undefined) throw new BlockhouseError('NOT_FOUND', `There is no ${path.slice(0, 200)}; GET /openapi.json lists the routes.`);
    if ('allow' in found) return notAllowed(req.method, found.allow, requestId);
    return found.route.handler({ core: this.#core, server: this.#context, req, res, params: found.params, requestId, signal });
  }

  async #mounted(mount: FoundMount, req: IncomingMessage, res: ServerResponse, requestId: string): Promise<Reply> {
    if (!mount.public) this.#assertToken(req);
    for (const [name, value] of Object.entries({ ...COMMON_HEADERS, 'x-request-id': requestId })) res.setHeader(name, value);
    try {
      await mount.handler(req, res);
    } catch (error) {
      throw error instanceof BlockhouseError ? error : internalError(error); // its network and its disk are not ours
    }
    return STREAMED;
  }

  /** Who speaks to a wrong name, or to none, has nothing more to say on this connection. */
  #assertOwnHost(req: IncomingMessage, res: ServerResponse): void {
    try {
      assertOwnHost(req, { allowRemote: this.#allowRemote });
    } catch (error) {
      res.setHeader('connection', 'close');
      throw error;
    }
  }

  /** P5. */
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
      // Half an answer must not look like a whole one.
      if (!res.writableEnded) res.destroy();
      return;
    }
    if (!req.complete) res.setHeader('connection', 'close'); // P3
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
      this.#log.error({ ...fields, err: failure.cause ?? failure }, 'request failed'); // P2
    else if (failure !== undefined && status >= 500 && failure.code !== 'SHUTTING_DOWN')
      this.#log.error({ ...fields, error: failure.message }, 'request failed');
    else if (status >= 400) this.#log[isRepeated(failure) ? 'debug' : 'info']({ ...fields, error: failure?.message }, 'request refused');
    else this.#log.debug(fields, 'request served');
  }
}

/** What the parser refuses may be the rest of a request whose answer is open, and has not begun: that one is refused with it. */
function isInAnotherAnswer(socket: Duplex): boolean {
  const open = openAnswer(socket);
  return open !== undefined && (open.headersSent || open.req.complete);
}

function notAllowed(method: string | undefined, allow: readonly string[], requestId: string): JsonReply {
  const reply = errorReply(new BlockhouseError('METHOD_NOT_ALLOWED', `${method} is not possible here; possible: ${allow.join(', ')}.`), requestId);
  return { ...reply, headers: { ...reply.headers, allow: allow.join(', ') } };
}

/** How long a refused body may go on arriving before its connection is cut. */
const DISCARD_MS = 1000;

/** P3. Resolves when the rest has arrived, or too much of it: a client that is still sending can read its refusal, instead of a reset. */
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
    // Connections that become idle later would stay for the keep-alive time, and those that have asked for nothing yet for ever, and `close`
    // with them.
    const sweep = setInterval(() => (answers.count === 0 ? server.closeAllConnections() : server.closeIdleConnections()), SWEEP_MS);
    server.close((error) => {
      clearInterval(sweep);
      if (error === undefined || (error as NodeJS.ErrnoException).code === 'ERR_SERVER_NOT_RUNNING') resolve();
      else reject(error);
    });
    server.closeIdleConnections();
  });
}
