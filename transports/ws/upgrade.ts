// Takes requests for an upgrade of their connection: lets in who may come in, answers everybody else.
//
// U1 Version, Host and Origin are checked first, then the path, then the token, then the handshake. Whoever is refused gets
//    the error body and status of HTTP, and the end of the connection: bytes behind a refused handshake are no request.
// U2 A connection may break at any point of this; that ends it and nothing else.
// U3 The token is in the query, which is never logged.
// U4 Who offers another protocol than WebSocket (HTTP/2, as some HTTP clients do with every first request) is served by HTTP
//    as if it had offered nothing.
import type { IncomingMessage, Server } from 'node:http';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import type { ServerOptions, WebSocket, WebSocketServer } from 'ws';
import { BlockhouseError, type Core, invalidRequest, toBlockhouseError } from '../../core/index.ts';
import { assertOwnHost, inboundRequestId, targetPath } from '../guard.ts';
import type { TransportLog } from '../log.ts';
import { answerRaw, openAnswer } from '../raw-answer.ts';
import { isRepeated, wrongTokensOf } from '../wrong-tokens.ts';
import { queryToken, WS_PATH, WS_TOKEN_HINT } from '../ws-path.ts';
import { withoutUpgrade } from './hand-back.ts';
import { MAX_MESSAGE_BYTES, MAX_MESSAGE_PIECES, type WsLimits } from './limits.ts';

/** The package is loaded with the first handshake: a server is healthy before anybody has opened a socket. */
const load = createRequire(import.meta.url);

export interface DoorContext {
  readonly core: Pick<Core, 'token' | 'newRequestId'>;
  readonly server: Server;
  readonly allowRemote: boolean;
  readonly limits: Pick<WsLimits, 'maxSockets' | 'closeMs'>;
  readonly log: TransportLog;
  /** Sockets that are open now. */
  readonly count: () => number;
  readonly onSocket: (socket: WebSocket, requestId: string) => void;
}

/** Of `ws`, but not among its published types. */
interface FurtherOptions {
  readonly closeTimeout: number;
  readonly maxPendingAutoPongs: number;
}

export class Door {
  readonly #context: DoorContext;
  #handshakes: WebSocketServer | undefined;
  #closing = false;
  readonly #onUpgrade = (req: IncomingMessage, socket: Duplex, head: Buffer): void => this.#take(req, socket, head);

  constructor(context: DoorContext) {
    this.#context = context;
    context.server.on('upgrade', this.#onUpgrade);
  }

  /** From now on everybody is refused. */
  shut(): void {
    this.#closing = true;
  }

  /** Leaves upgrades to whoever else listens for them; without one, HTTP answers them. */
  remove(): void {
    this.#context.server.off('upgrade', this.#onUpgrade);
    this.#handshakes?.close();
  }

  #take(req: IncomingMessage, socket: Duplex, head: Buffer): void {
    const onError = (): void => void socket.destroy();
    socket.on('error', onError); // U2
    if (openAnswer(socket) !== undefined) {
      // Written now, an answer would be taken for that of the request before.
      socket.destroy();
      return;
    }
    if (req.headers.upgrade?.trim().toLowerCase() !== 'websocket') {
      socket.unshift(Buffer.concat([withoutUpgrade(req), head])); // U4
      // HTTP listens itself; this connection may come back with an offer in every request, and each would leave a listener.
      socket.off('error', onError);
      this.#context.server.emit('connection', socket);
      return;
    }
    try {
      this.#assertWelcome(req);
      this.#handshake.handleUpgrade(req, socket, head, (webSocket) => this.#context.onSocket(webSocket, this.#idOf(req)));
    } catch (error) {
      this.#refuse(req, socket, toBlockhouseError(error));
    }
  }

  /** U1 */
  #assertWelcome(req: IncomingMessage): void {
    const { core, allowRemote, limits, count } = this.#context;
    assertOwnHost(req, { allowRemote });
    const path = targetPath(req);
    if (path !== WS_PATH) throw new BlockhouseError('NOT_FOUND', `There is no WebSocket at ${path.slice(0, 200)}; there is one at ${WS_PATH}.`);
    wrongTokensOf(core).assertRight(core, req, queryToken(req), WS_TOKEN_HINT);
    assertHandshake(req);
    if (this.#closing) throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.');
    if (count() >= limits.maxSockets)
      throw new BlockhouseError('TOO_MANY_CONNECTIONS', `There are ${limits.maxSockets} WebSockets, which is the most; try again later.`);
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
      maxFragments: MAX_MESSAGE_PIECES,
      maxBufferedChunks: MAX_MESSAGE_PIECES,
      handleProtocols: () => false,
      closeTimeout: this.#context.limits.closeMs,
      // Their rate is limited as that of messages; this is for who sends them and reads nothing.
      maxPendingAutoPongs: MAX_MESSAGE_PIECES,
    };
    const { WebSocketServer: Handshakes } = load('ws') as { readonly WebSocketServer: typeof WebSocketServer };
    const handshakes = new Handshakes(options);
    // A fault that `ws` finds is answered as those that are found here.
    handshakes.on('wsClientError', (error, socket, req) => this.#refuse(req, socket, invalidRequest('', `${error.message}.`)));
    return handshakes;
  }

  #idOf(req: IncomingMessage): string {
    return inboundRequestId(req) ?? this.#context.core.newRequestId();
  }

  #refuse(req: IncomingMessage, socket: Duplex, failure: BlockhouseError): void {
    const requestId = this.#idOf(req);
    const path = req.url?.split('?')[0]?.slice(0, 200); // U3
    const fields = { requestId, method: req.method, path, status: failure.status, code: failure.code };
    if (failure.code === 'INTERNAL_ERROR') this.#context.log.error({ ...fields, err: failure.cause ?? failure }, 'request failed');
    else this.#context.log[isRepeated(failure) ? 'debug' : 'info']({ ...fields, error: failure.message }, 'request refused');
    answerRaw(socket, failure, requestId, {
      ...(failure.code === 'METHOD_NOT_ALLOWED' && { allow: 'GET' }),
      ...(failure.code === 'INVALID_REQUEST' && { 'sec-websocket-version': '13' }),
    });
  }
}

/** What `ws` does not see to: it takes version 8, whose origin is in another header, and leaves a body to be read as frames. */
function assertHandshake(req: IncomingMessage): void {
  if (req.method !== 'GET') throw new BlockhouseError('METHOD_NOT_ALLOWED', `${req.method} is not possible here; possible: GET.`);
  if (req.httpVersion !== '1.1') throw invalidRequest('', 'A WebSocket needs HTTP/1.1.');
  if (req.headers['sec-websocket-version'] !== '13') throw invalidRequest('Sec-WebSocket-Version', 'must be 13.');
  if (req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0)
    throw invalidRequest('', 'A request for a WebSocket has no body.');
}
