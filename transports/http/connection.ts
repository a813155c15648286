// What belongs to a connection rather than to a request: the answers that are open on it, and what is wrong with
// bytes that never became a request.
//
// C1 A client that leaves aborts all of its open answers, those too that wait behind another one (pipelining):
//    Node tells only the one that is being written.
// C2 Nothing is written into an answer that has begun.
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { BlockhouseError } from '../../core/index.ts';

export const MAX_HEADER_BYTES = 16 * 1024;

export class OpenAnswers {
  readonly #bySocket = new WeakMap<Duplex, Map<ServerResponse, AbortController>>();

  /** The signal of one answer; aborted when the client leaves before it is complete. */
  add(socket: Duplex, res: ServerResponse): AbortSignal {
    const controller = new AbortController();
    this.#of(socket).set(res, controller);
    res.once('close', () => {
      this.#of(socket).delete(res);
      // 'close' also comes after a complete answer; then there is nothing left to abort.
      if (!res.writableFinished) controller.abort();
    });
    if (socket.destroyed) controller.abort();
    return controller.signal;
  }

  /** True when an answer has begun and not ended (C2). */
  hasBegun(socket: Duplex): boolean {
    return [...this.#of(socket).keys()].some((res) => res.headersSent);
  }

  #of(socket: Duplex): Map<ServerResponse, AbortController> {
    const known = this.#bySocket.get(socket);
    if (known !== undefined) return known;
    const open = new Map<ServerResponse, AbortController>();
    this.#bySocket.set(socket, open);
    socket.once('close', () => {
      for (const controller of open.values()) controller.abort(); // C1
    });
    return open;
  }
}

/** What Node's parser refused, by its code. */
export function parserFailure(code: string | undefined): BlockhouseError {
  if (code === 'HPE_HEADER_OVERFLOW') return new BlockhouseError('HEADERS_TOO_LARGE', `The headers are larger than ${MAX_HEADER_BYTES} bytes.`);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new BlockhouseError('REQUEST_TIMEOUT', 'The request did not arrive completely in time.');
  return new BlockhouseError('INVALID_REQUEST', 'The request is not valid HTTP/1.1.');
}
