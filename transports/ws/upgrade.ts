// Handles requests to upgrade a connection: opens a WebSocket, refuses the request, or hands it back to HTTP.
//
// checked-in-order: version, Host and Origin are checked first, then the path, then the token, then the handshake. A refused
// request gets the status and error body of HTTP and the end of its connection, because the bytes behind a refused handshake
// are not a request.
// broken-alone: a connection may break at any point; that ends this connection and nothing else.
// token-unlogged: the token may be in the query, and the query is never logged.
// other-offers: a request that offers another protocol (some HTTP clients offer HTTP/2 with every first request) is served by
// HTTP as if it had offered nothing.
import type { IncomingMessage, Server } from 'node:http';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import type { ServerOptions, WebSocket, WebSocketServer } from 'ws';
import { withoutTicket } from '../../core/base/url.ts';
import { BlockhouseError, type Core, invalidRequest, toBlockhouseError } from '../../core/index.ts';
import { assertOwnHost, inboundRequestId, targetPath } from '../guard.ts';
import type { TransportLog } from '../log.ts';
import { answerRaw, openAnswer } from '../raw-answer.ts';
import { isRepeated, wrongTokensOf } from '../wrong-tokens.ts';
import { HTTP_ONLY_PATHS, WS_PATH, WS_TICKET_HINT, WS_TOKEN_HINT, wsTicket, wsToken } from '../ws-path.ts';
import { withoutUpgrade } from './hand-back.ts';
import { MAX_MESSAGE_BYTES, MAX_MESSAGE_FRAMES, MAX_MESSAGE_PIECES, type WsLimits } from './limits.ts';

/** The package `ws` is loaded with the first handshake, so that it does not delay the start of the server. */
const load = createRequire(import.meta.url);

/** What the handling of upgrades works with. */
export interface DoorContext {
  readonly core: Pick<Core, 'token' | 'newRequestId'> & Partial<Pick<Core, 'sessions'>>;
  readonly server: Server;
  readonly allowRemote: boolean;
  readonly publicOrigin?: string | undefined;
  readonly limits: Pick<WsLimits, 'maxSockets' | 'closeMs'>;
  readonly log: TransportLog;
  /** Sockets that are open now. */
  readonly count: () => number;
  /** `endsAt` is when the session ends that opens it: epoch milliseconds. */
  readonly onSocket: (socket: WebSocket, requestId: string, endsAt: number | undefined) => void;
}

/** Options of `ws` that are missing in its published types. */
interface FurtherOptions {
  readonly closeTimeout: number;
  readonly maxPendingAutoPongs: number;
}

/** Listens for upgrade requests on a server. */
export class Door {
  readonly #context: DoorContext;
  #handshakes: WebSocketServer | undefined;
  #closing = false;
  readonly #onUpgrade = (req: IncomingMessage, socket: Duplex, head: Buffer): void => this.#take(req, socket, head);

  constructor(context: DoorContext) {
    this.#context = context;
    context.server.on('upgrade', this.#onUpgrade);
  }

  /** Refuses every further handshake with SHUTTING_DOWN. */
  shut(): void {
    this.#closing = true;
  }

  /** Stops listening. Other listeners of the server get upgrades then; without one, HTTP answers them. */
  remove(): void {
    this.#context.server.off('upgrade', this.#onUpgrade);
    this.#handshakes?.close();
  }

  #take(req: IncomingMessage, socket: Duplex, head: Buffer): void {
    const onError = (): void => void socket.destroy();
    socket.on('error', onError); // broken-alone
    if (openAnswer(socket) !== undefined) {
      // The client would take an answer for that of its previous request.
      socket.destroy();
      return;
    }
    if (req.headers.upgrade?.trim().toLowerCase() !== 'websocket') {
      socket.unshift(Buffer.concat([withoutUpgrade(req), head])); // other-offers
      // HTTP has its own listener. This connection may come back with an offer in every request, and each would add a listener.
      socket.off('error', onError);
      this.#context.server.emit('connection', socket);
      return;
    }
    void this.#open(req, socket, head);
  }

  /** Never rejects. */
  async #open(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    try {
      const endsAt = await this.#assertKnown(req);
      if (socket.destroyed) return; // its client has left meanwhile
      this.#assertRoom(req);
      this.#handshake.handleUpgrade(req, socket, head, (webSocket) => this.#context.onSocket(webSocket, this.#idOf(req), endsAt));
    } catch (error) {
      this.#refuse(req, socket, toBlockhouseError(error));
    }
  }

  /** Resolves with the end of the session, if it is one. checked-in-order. */
  async #assertKnown(req: IncomingMessage): Promise<number | undefined> {
    const { core, allowRemote, publicOrigin } = this.#context;
    assertOwnHost(req, { allowRemote, publicOrigin });
    const path = targetPath(req);
    if (HTTP_ONLY_PATHS.has(path)) throw new BlockhouseError('HTTP_ONLY', `${path} has no WebSocket; send the request over HTTP.`);
    if (path !== WS_PATH) throw new BlockhouseError('NOT_FOUND', `There is no WebSocket at ${path.slice(0, 200)}; connect to ${WS_PATH}.`);
    const ticket = wsTicket(req);
    const looking = core.sessions?.look(wsToken(req) ?? '');
    if (looking !== undefined) await looking;
    if (ticket === undefined) wrongTokensOf(core).assertRight(core, req, wsToken(req), WS_TOKEN_HINT);
    else if ((await core.sessions?.redeem(ticket)) !== true) wrongTokensOf(core).refuse(req, WS_TICKET_HINT);
    return core.sessions?.endOf(ticket ?? wsToken(req) ?? '');
  }

  /** At once before the handshake, so that no two sockets take the last place. */
  #assertRoom(req: IncomingMessage): void {
    const { limits, count } = this.#context;
    assertHandshake(req);
    if (this.#closing) throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.');
    if (count() >= limits.maxSockets)
      throw new BlockhouseError('TOO_MANY_CONNECTIONS', `The server has reached its limit of ${limits.maxSockets} open WebSockets; try again later.`);
  }

  get #handshake(): WebSocketServer {
    this.#handshakes ??= this.#prepare();
    return this.#handshakes;
  }

  #prepare(): WebSocketServer {
    const options: ServerOptions & FurtherOptions = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
      maxFragments: MAX_MESSAGE_FRAMES,
      maxBufferedChunks: MAX_MESSAGE_PIECES,
      handleProtocols: () => false,
      closeTimeout: this.#context.limits.closeMs,
      // The rate of pings is limited with that of messages; this limit is for clients that send pings and read nothing.
      maxPendingAutoPongs: MAX_MESSAGE_PIECES,
    };
    const { WebSocketServer: Handshakes } = load('ws') as { readonly WebSocketServer: typeof WebSocketServer };
    const handshakes = new Handshakes(options);
    // A handshake that `ws` refuses gets the same kind of answer as one that is refused here.
    handshakes.on('wsClientError', (error, socket, req) => this.#refuse(req, socket, invalidRequest('', `${error.message}.`)));
    return handshakes;
  }

  #idOf(req: IncomingMessage): string {
    return inboundRequestId(req) ?? this.#context.core.newRequestId();
  }

  #refuse(req: IncomingMessage, socket: Duplex, failure: BlockhouseError): void {
    const requestId = this.#idOf(req);
    const path = withoutTicket(req.url?.split('?')[0] ?? '').slice(0, 200); // token-unlogged
    const fields = { requestId, method: req.method, path, status: failure.status, code: failure.code };
    if (failure.code === 'INTERNAL_ERROR') this.#context.log.error({ ...fields, err: failure.cause ?? failure }, 'request failed');
    else this.#context.log[isRepeated(failure) ? 'debug' : 'info']({ ...fields, error: failure.message }, 'request refused');
    answerRaw(socket, failure, requestId, {
      ...(failure.code === 'METHOD_NOT_ALLOWED' && { allow: 'GET' }),
      ...(failure.code === 'INVALID_REQUEST' && { 'sec-websocket-version': '13' }),
    });
  }
}

/** Checks that `ws` leaves out: it accepts version 8, whose origin is in another header, and would read a body as frames. */
function assertHandshake(req: IncomingMessage): void {
  if (req.method !== 'GET') throw new BlockhouseError('METHOD_NOT_ALLOWED', `This path does not support ${req.method}; it supports GET.`);
  if (req.httpVersion !== '1.1') throw invalidRequest('', 'A WebSocket needs HTTP/1.1.');
  if (req.headers['sec-websocket-version'] !== '13') throw invalidRequest('Sec-WebSocket-Version', 'must be 13.');
  if (req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0)
    throw invalidRequest('', 'A WebSocket request must not have a body.');
}
