// Takes each request from its arrival to its reply: checks it, finds its route, calls the handler and writes the answer.
//
// guard-first: version, Host and Origin are checked before anything is read, and the token before a handler runs.
// one-error-body: everything that is thrown becomes the one error body. Only an INTERNAL_ERROR is logged with its cause.
// no-leftovers: a connection closes after a request whose body was not read to its end, so that no leftover bytes are parsed as a next request.
// wrong-base-url (no-route.ts): a path without a route takes the key of an application, too, so that a client whose base URL is wrong reads that and not a refusal of its key.
// abort-on-leave: when a client leaves, the work for it is aborted.
// one-answer: bytes that are not a request get no answer while another answer is open on their connection, because the client would take it for
//   that answer.
// drain: a server that shuts down finishes open requests, ends those that only wait for a block, and answers new ones with SHUTTING_DOWN, so that a load balancer notices before the port
//   closes.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  BlockhouseError,
  type Core,
  DEFAULT_BODY_MEMORY_BYTES,
  forKeys,
  internalError,
  invalidRequest,
  KEY_PREFIX,
  type NamedKey,
  type RequestLogLevel,
  type Sessions,
  toBlockhouseError,
} from '../../core/index.ts';
import { prefixed } from '../../core/base/kept-text.ts';
import { isLinkPath } from '../../core/base/url.ts';
import { letNewcomersIn } from '../../core/base/next-turn.ts';
import { assertOwnHost, bearerToken, gatewayTokens, inboundRequestId, targetPath } from '../guard.ts';
import { STDERR_LOG, type TransportLog } from '../log.ts';
import { answerRaw, COMMON_HEADERS, isInAnotherAnswer } from '../raw-answer.ts';
import { isOwners, TOKEN_HINT, wrongTokensOf } from '../wrong-tokens.ts';
import { WS_PATH, WS_TOKEN_HINT, wsToken } from '../ws-path.ts';
import { Faults } from './error-formats.ts';
import { type FoundMount, findMount, type Mount } from './mounts.ts';
import { noRoute } from './no-route.ts';
import { recordRequest } from './request-log.ts';
import { Router } from './router.ts';
import { isPagePath, PAGE_PATH, Page } from './static.ts';
import { namedOrigins, preflight, readableBy, webOrigin } from './web-origins.ts';
import { discard, isRead } from './wire/body.ts';
import { tapOf } from './wire/body-tap.ts';
import { BODY_PATIENCE_MS, type BodyRoomLimits, bodyRoomOf } from './wire/body-room.ts';
import { OpenAnswers } from './wire/connection.ts';
import { ConnectionReads } from './wire/connection-reads.ts';
import { DEFAULT_IMPORT_LIMITS, type ImportLimits, ImportQueue } from './wire/imports.ts';
import { Pipelines } from './wire/pipelines.ts';
import { ConnectionPlaces } from './wire/places.ts';
import { usualRates, type RateHeaders, type RateWords } from './wire/rate-headers.ts';
import { errorReply, type JsonReply, type Reply, STREAMED, writeJson } from './wire/reply.ts';
import type { Route, ServerContext } from './wire/route.ts';
import { DEFAULT_SSE_TIMING, type SseTiming } from './wire/sse.ts';
import { unreadAnswers } from './wire/unread-answers.ts';

/** The options for requests; each has a default. */
export interface FrontOptions {
  /** Your own routes beside those of the server. */
  readonly mounts?: readonly Mount[];
  /** The folder of the built page, such as `blockhouse/dashboard` exports. Without it, there is no page. */
  readonly dashboard?: URL | undefined;
  /** The one origin under which a proxy with TLS serves this server: `https://blocks.example`. */
  readonly publicOrigin?: string | undefined;
  /** Set it when the server listens beyond loopback. */
  readonly allowRemote?: boolean;
  /** Origins of web pages that may call `/v1/*` from a browser, as a browser writes them: `https://app.example`. The default is none. */
  readonly webOrigins?: Iterable<string>;
  /** Begins the span of a request, writes it into the header `traceparent` of the request, and returns that. */
  readonly trace?: ((req: IncomingMessage) => string | undefined) | undefined;
  /** Without a log, failures go to stderr. */
  readonly log?: TransportLog | undefined;
  /** The level at which a served request is logged. The default is `debug`. */
  readonly requestLogLevel?: RequestLogLevel;
  /** Times of streamed answers; defaults 10 s, 15 s, 30 s. */
  readonly sse?: Partial<SseTiming>;
  /** Milliseconds without a byte of a body after which its request is refused. The default is 35,000. */
  readonly bodyStallMs?: number;
  /** The room for the bodies of all requests in work, together with other servers of the same core; defaults 256 MiB, 5 s. */
  readonly bodies?: Partial<BodyRoomLimits>;
  /** How many imports run and wait; defaults 2, 16, 30 s. */
  readonly imports?: Partial<ImportLimits>;
}

/** How long a body may pause before its request is refused. */
const BODY_STALL_MS = 35_000;
/** The time between two log lines about closed connections. */
const FLOOD_LOG_MS = 10_000;
/** Some clients ask for the headers of `/`, without a token, to learn whether a server is there. */
const IS_THERE: JsonReply = { status: 200, body: undefined };

/** For the path of a request that has no route. */
const NO_ROUTE = 'none';
/** What is found out about a request before it is answered. */
interface Asked {
  rates: RateHeaders | undefined;
  /** True once the token of the workspace, or a session of it, has been seen. */
  isOwner: boolean;
  /** The path of its route. */
  route: string;
}

/** The front of one server: everything between a request of node:http and its handler. */
export class Front {
  readonly answers = new OpenAnswers();
  readonly #reads = new ConnectionReads();
  readonly #pipelines = new Pipelines(this.#reads, () => this.#noteFlood('too many pipelined requests wait; the connection with the most of them is closed'));
  readonly #places: ConnectionPlaces;
  readonly #core: Core;
  readonly #log: TransportLog;
  readonly #mounts: readonly Mount[];
  readonly #allowRemote: boolean;
  readonly #publicOrigin: string | undefined;
  readonly #page: Page | undefined;
  readonly #webOrigins: ReadonlySet<string>;
  readonly #router: Router<Route>;
  readonly #faults: Faults;
  readonly #context: ServerContext;
  readonly #trace: FrontOptions['trace'];
  readonly #requestLogLevel: RequestLogLevel;
  readonly #onIdle: (() => void)[] = [];
  readonly #draining = new AbortController();
  #underWay = 0;
  #floodToldAt = Number.NEGATIVE_INFINITY;
  #startedAt = performance.now();

  constructor(core: Core, options: FrontOptions, maxConnections: number, { routes, hasWebSocket }: Pick<ServerContext, 'routes' | 'hasWebSocket'>) {
    this.#places = new ConnectionPlaces(maxConnections, () => this.noteDrop(maxConnections));
    this.#router = new Router(routes);
    this.#faults = new Faults(routes);
    this.#core = core;
    this.#log = options.log ?? STDERR_LOG;
    this.#trace = options.trace;
    this.#requestLogLevel = options.requestLogLevel ?? 'debug';
    this.#mounts = options.mounts ?? [];
    this.#allowRemote = options.allowRemote ?? false;
    this.#publicOrigin = options.publicOrigin;
    this.#page = options.dashboard && new Page(options.dashboard);
    this.#webOrigins = namedOrigins(options.webOrigins);
    core.view.addEnd((requestId) => this.answers.abort(requestId));
    this.#context = {
      routes,
      sse: { ...DEFAULT_SSE_TIMING, ...options.sse },
      bodyStallMs: options.bodyStallMs ?? BODY_STALL_MS,
      bodies: bodyRoomOf(core, { bytes: DEFAULT_BODY_MEMORY_BYTES, patienceMs: BODY_PATIENCE_MS, ...options.bodies }),
      imports: new ImportQueue({ ...DEFAULT_IMPORT_LIMITS, ...options.imports }),
      hasWebSocket,
      endRequest: (requestId) => this.answers.abort(requestId),
      page: this.#page === undefined ? null : `${this.#publicOrigin ?? ''}${PAGE_PATH}/`,
      isBehindProxy: this.#publicOrigin !== undefined,
      draining: this.#draining.signal,
      uptimeMs: () => performance.now() - this.#startedAt,
    };
  }

  /** Called when the server has begun to listen. */
  begin(): void {
    this.#startedAt = performance.now();
  }

  drain(): void {
    this.#draining.abort();
    this.#reads.end();
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

  /** Answers a request, when it is its turn. A request that passes the guard gets `refusal`, if one is given. */
  serve(req: IncomingMessage, res: ServerResponse, refusal?: BlockhouseError): void {
    // After a reset, Node's parser still delivers the requests that it has buffered. Nobody waits for their answers, so nothing may be done for them.
    if (req.socket.destroyed) return;
    this.#reads.note(req.socket);
    if (res.socket === null)
      this.#pipelines.wait(res, () => void this.#serve(req, res, refusal)); // another answer of this connection is open
    else void this.#serve(req, res, refusal);
  }

  /** Never rejects. */
  async #serve(req: IncomingMessage, res: ServerResponse, refusal: BlockhouseError | undefined): Promise<void> {
    const startedAt = performance.now();
    const traceparent = this.#trace?.(req);
    const requestId = inboundRequestId(req) ?? this.#core.newRequestId();
    const signal = this.answers.add(req.socket, res, requestId); // abort-on-leave
    res.on('error', (error) => this.#log.debug({ requestId, error: error.message }, 'connection broke while an answer was being sent'));
    let failure: BlockhouseError | undefined;
    let isUnderWay = false;
    const asked: Asked = { rates: undefined, isOwner: false, route: NO_ROUTE };
    const origin = webOrigin(req, this.#webOrigins);
    if (origin !== undefined) for (const [name, value] of Object.entries(readableBy(origin))) res.setHeader(name, value);
    try {
      this.#assertOwnHost(req, res, origin); // guard-first
      this.#assertOpen(res); // drain
      this.#underWay += 1;
      isUnderWay = true;
      if (refusal !== undefined) throw refusal;
      const reply = origin !== undefined && req.method === 'OPTIONS' ? preflight(req) : await this.#answer(req, res, requestId, signal, asked);
      if (reply !== STREAMED) this.#write(req, res, reply, requestId, asked);
    } catch (error) {
      failure = toBlockhouseError(error); // one-error-body
      if (!isRead(req)) await undefined; // right after the head, the parser notes the end of a request without a body
      this.#write(req, res, this.#fault(req, asked.isOwner ? failure : forKeys(failure), requestId), requestId, asked);
    }
    if (isUnderWay) this.#underWay -= 1;
    if (this.#draining.signal.aborted) this.#tellIfIdle();
    const durationMs = performance.now() - startedAt;
    recordRequest(this.#log, req, res, requestId, durationMs, failure, this.#requestLogLevel);
    const status = failure?.status ?? res.statusCode;
    const { method = '' } = req;
    this.#core.events.emit('request.served', { requestId, method, route: asked.route, status, durationMs, traceparent });
  }

  /** The error in the protocol of the path, or in ours. */
  #fault(req: IncomingMessage, failure: BlockhouseError, requestId: string): JsonReply {
    const [path = ''] = req.url?.split('?') ?? [];
    const own = errorReply(failure, requestId);
    const fault = this.#faults.of(path)?.(failure, requestId, req.headers);
    return fault === undefined ? own : { ...fault, headers: { ...own.headers, ...fault.headers } };
  }

  /** Logs dropped connections. */
  noteDrop(most: number): void {
    this.#noteFlood('connection limit reached; further connections are closed (BLOCKHOUSE_MAX_CONNECTIONS)', { most });
  }

  /** Logs at most one line in 10 s, so that a flood does not fill the log. */
  #noteFlood(message: string, fields: object = {}): void {
    const now = performance.now();
    if (now - this.#floodToldAt < FLOOD_LOG_MS) return;
    this.#floodToldAt = now;
    this.#log.error(fields, message);
  }

  /** Answers on the bare socket, for bytes that never became a request. */
  refuseRaw(socket: Duplex, failure: BlockhouseError, requestId = this.#core.newRequestId()): void {
    this.#log.info({ requestId, status: failure.status, code: failure.code, error: failure.message }, 'request refused');
    if (isInAnotherAnswer(socket))
      socket.destroy(); // one-answer
    else answerRaw(socket, failure, requestId);
  }

  /** Not an async function: one that returns a promise costs three turns more than the promise itself. */
  #answer(req: IncomingMessage, res: ServerResponse, requestId: string, signal: AbortSignal, asked: Asked): Reply | Promise<Reply> {
    const looking = this.#core.sessions?.isShared === true ? this.#lookAtSession(this.#core.sessions, req) : undefined;
    return looking === undefined ? this.#route(req, res, requestId, signal, asked) : looking.then(() => this.#route(req, res, requestId, signal, asked));
  }

  /** Servers that share a store ask it about the session key of a request. */
  #lookAtSession(sessions: Sessions, req: IncomingMessage): Promise<unknown> | undefined {
    const looks = gatewayTokens(req).flatMap((token) => (token === undefined ? [] : (sessions.look(token) ?? [])));
    return looks.length === 0 ? undefined : Promise.all(looks);
  }

  #route(req: IncomingMessage, res: ServerResponse, requestId: string, signal: AbortSignal, asked: Asked): Reply | Promise<Reply> {
    const path = targetPath(req);
    const page = this.#page?.answer(req, path);
    if (page !== undefined) asked.route = PAGE_PATH;
    if (page !== undefined) return 'allow' in page ? this.#notAllowed(req, page.allow, requestId) : page;
    const mount = this.#mounts.length === 0 ? undefined : findMount(this.#mounts, path);
    if (mount !== undefined) return this.#mounted(mount, req, res, requestId, asked);
    const found = this.#router.find(req.method ?? '', path);
    if (found !== undefined && 'allow' in found && req.method === 'OPTIONS')
      return { status: 204, body: undefined, headers: { allow: found.allow.join(', ') } };
    if (path === '/' && req.method === 'HEAD') return IS_THERE;
    if (path === WS_PATH && this.#context.hasWebSocket()) this.#refuseNotUpgraded(req);
    const route = found !== undefined && 'route' in found ? found.route : undefined;
    if (route !== undefined) asked.route = route.path;
    const isPublic = route?.public === true;
    const key = isPublic ? undefined : this.#admit(req, found === undefined || this.#isGateway(path)); // wrong-base-url
    asked.isOwner = !isPublic && key === undefined;
    if (!isPublic) this.#belongs(res, key === undefined ? 'token' : keyOwner(key.name));
    if (found === undefined) throw noRoute(path, this.#router);
    if ('allow' in found) return this.#notAllowed(req, found.allow, requestId);
    if (key?.hasRates === true) asked.rates = this.#ratesOf(key, found.route.rates);
    const core = this.#core;
    const { params } = found;
    const tap = key?.debugUntil === undefined ? undefined : tapOf({ core, key, res, path, requestId });
    return found.route.handler({ core, server: this.#context, req, res, path, params, requestId, signal, key, tap, rates: asked.rates });
  }

  /** Takes a new connection, which may close another one, or be closed. `begin` lets HTTP have it. */
  connected(socket: Socket, begin: () => void): void {
    letNewcomersIn();
    this.#places.add(socket);
    if (!socket.destroyed) this.#reads.add(socket, begin);
  }

  #belongs(res: ServerResponse, owner: string): void {
    unreadAnswers.belongs(res, owner);
    this.#places.belongs(res.req.socket, owner);
    this.#reads.belongs(res.req.socket, owner);
  }

  /** As they are when the answer is written. */
  #ratesOf(key: NamedKey, words: RateWords = usualRates): RateHeaders {
    return (list) => {
      const rates = this.#core.accounts?.rates(key);
      if (rates !== undefined) words(rates, Date.now, list);
    };
  }

  /** True for the paths of models: ours, and those of the other protocols. */
  #isGateway(path: string): boolean {
    return path.startsWith('/v1/') || this.#faults.of(path) !== undefined;
  }

  #notAllowed(req: IncomingMessage, allow: readonly string[], requestId: string): JsonReply {
    const methods = allow.join(', ');
    const reply = this.#fault(req, new BlockhouseError('METHOD_NOT_ALLOWED', `This path does not support ${req.method}; it supports ${methods}.`), requestId);
    return { ...reply, headers: { ...reply.headers, allow: methods } };
  }

  async #mounted(mount: FoundMount, req: IncomingMessage, res: ServerResponse, requestId: string, asked: Asked): Promise<Reply> {
    asked.route = mount.prefix;
    if (!mount.public) this.#admit(req, false);
    for (const [name, value] of Object.entries({ ...COMMON_HEADERS, 'x-request-id': requestId })) res.setHeader(name, value);
    try {
      await mount.handler(req, res);
    } catch (error) {
      throw error instanceof BlockhouseError ? error : internalError(error); // a system error of the host program is not an upstream or storage failure of ours
    }
    return STREAMED;
  }

  /** Closes the connection of a request that names a wrong host, or none: its next request would have the same fault. */
  #assertOwnHost(req: IncomingMessage, res: ServerResponse, webOrigin: string | undefined): void {
    const [path = ''] = req.url?.split('?') ?? [];
    const isPage = this.#page !== undefined && isPagePath(path); // the guard lets visits alone in
    try {
      assertOwnHost(req, { allowRemote: this.#allowRemote, publicOrigin: this.#publicOrigin, webOrigin, isPage, isLink: isLinkPath(path) });
    } catch (error) {
      res.setHeader('connection', 'close');
      throw error;
    }
  }

  /** drain. */
  #assertOpen(res: ServerResponse): void {
    if (!this.#draining.signal.aborted) return;
    res.setHeader('connection', 'close');
    throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.');
  }

  /** The key of an application, which is for the gateway only; undefined for the token of the workspace. Throws UNAUTHORIZED, KEY_FORBIDDEN, WORKSPACE_DAMAGED. */
  #admit(req: IncomingMessage, isGateway: boolean): NamedKey | undefined {
    let refused: unknown;
    for (const token of isGateway ? gatewayTokens(req) : [bearerToken(req)]) {
      if (token === undefined) continue;
      let key: NamedKey | undefined;
      try {
        key = token.startsWith(KEY_PREFIX) ? this.#core.keys?.find(token) : undefined;
      } catch (error) {
        refused = error; // the other header may still be right
        continue;
      }
      if (key === undefined) {
        if (isOwners(this.#core, token)) return undefined;
        continue;
      }
      if (isGateway) return key;
      throw new BlockhouseError(
        'KEY_FORBIDDEN',
        `The key ${key.name} is for the gateway only. Use the token of the workspace here; \`blockhouse token\` prints it.`,
      );
    }
    if (refused !== undefined) throw refused;
    const shown = isGateway ? gatewayTokens(req).find((token) => token !== undefined) : undefined;
    wrongTokensOf(this.#core).assertRight(this.#core, req, shown ?? bearerToken(req), TOKEN_HINT);
    return undefined;
  }

  /** Most often a proxy in between has dropped the headers of the upgrade. */
  #refuseNotUpgraded(req: IncomingMessage): never {
    wrongTokensOf(this.#core).assertRight(this.#core, req, wsToken(req), WS_TOKEN_HINT);
    throw invalidRequest('', `${WS_PATH} is a WebSocket. Send the headers Connection: Upgrade and Upgrade: websocket; a proxy in between must pass them on.`);
  }

  #write(req: IncomingMessage, res: ServerResponse, reply: JsonReply, requestId: string, { rates }: Asked): void {
    if (res.headersSent) {
      // Ended here, half an answer would look like a whole one.
      if (!res.writableEnded) res.destroy();
      return;
    }
    if (!isRead(req)) res.setHeader('connection', 'close'); // no-leftovers
    writeJson(res, reply, requestId, isRead(req) ? undefined : discard(req), rates);
  }
}

const keyOwner = prefixed('key ');
