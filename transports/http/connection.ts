// What belongs to connections rather than to a request: the answers that are open on them, and what is wrong with
// bytes that never became a request.
//
// C1 A client that leaves aborts all of its open answers, those too that wait behind another one (pipelining):
//    Node tells only the one that is being written.
// C2 What is no request is not answered behind a request whose answer is open: its own would be taken for that.
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { BlockhouseError } from '../../core/index.ts';

export const MAX_HEADER_BYTES = 16 * 1024;

export class OpenAnswers {
  readonly #leaving = new WeakMap<Duplex, AbortController>();
  #count = 0;

  /** Answers that are not written to their end yet, of all connections. */
  get count(): number {
    return this.#count;
  }

  /**
   * Aborted when the client leaves: one signal for all answers of a connection, which end with it. A signal of its own for each would be the
   * dearest object of a request. Whoever listens stops listening when its work ends.
   */
  add(socket: Duplex, res: ServerResponse): AbortSignal {
    this.#count += 1;
    res.on('close', () => {
      this.#count -= 1;
    });
    const leaving = this.#of(socket);
    if (socket.destroyed) leaving.abort();
    return leaving.signal;
  }

  #of(socket: Duplex): AbortController {
    const known = this.#leaving.get(socket);
    if (known !== undefined) return known;
    const leaving = new AbortController();
    this.#leaving.set(socket, leaving);
    socket.once('close', () => leaving.abort()); // C1
    return leaving;
  }
}

/** What Node's parser refused, by its code. */
export function parserFailure(code: string | undefined): BlockhouseError {
  if (code === 'HPE_HEADER_OVERFLOW') return new BlockhouseError('HEADERS_TOO_LARGE', `The headers are larger than ${MAX_HEADER_BYTES} bytes.`);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new BlockhouseError('REQUEST_TIMEOUT', 'The request did not arrive completely in time.');
  return new BlockhouseError('INVALID_REQUEST', 'The request is not valid HTTP/1.1.');
}
