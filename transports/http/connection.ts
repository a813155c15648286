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

interface Open {
  readonly answers: Set<ServerResponse>;
  readonly leaving: AbortController;
}

export class OpenAnswers {
  readonly #bySocket = new WeakMap<Duplex, Open>();

  /**
   * Aborted when the client leaves: one signal for all answers of a connection, which end with it. A signal of its own for each would be the
   * dearest object of a request. Whoever listens stops listening when its work ends.
   */
  add(socket: Duplex, res: ServerResponse): AbortSignal {
    const open = this.#of(socket);
    open.answers.add(res);
    res.on('close', () => open.answers.delete(res));
    if (socket.destroyed) open.leaving.abort();
    return open.leaving.signal;
  }

  /** True when an answer has begun and not ended (C2). */
  hasBegun(socket: Duplex): boolean {
    for (const res of this.#of(socket).answers) if (res.headersSent) return true;
    return false;
  }

  #of(socket: Duplex): Open {
    const known = this.#bySocket.get(socket);
    if (known !== undefined) return known;
    const open: Open = { answers: new Set(), leaving: new AbortController() };
    this.#bySocket.set(socket, open);
    socket.once('close', () => open.leaving.abort()); // C1
    return open;
  }
}

/** What Node's parser refused, by its code. */
export function parserFailure(code: string | undefined): BlockhouseError {
  if (code === 'HPE_HEADER_OVERFLOW') return new BlockhouseError('HEADERS_TOO_LARGE', `The headers are larger than ${MAX_HEADER_BYTES} bytes.`);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new BlockhouseError('REQUEST_TIMEOUT', 'The request did not arrive completely in time.');
  return new BlockhouseError('INVALID_REQUEST', 'The request is not valid HTTP/1.1.');
}
