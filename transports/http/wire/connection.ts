// What belongs to a connection rather than to a request: its open answers, and the errors of bytes that never became a request.
//
// abort-all: when a client leaves, all of its open answers are aborted, also those that wait behind another one
// (pipelining). Node reports the end only to the answer that is being written.
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LinkedList } from '../../../core/base/linked-list.ts';
import { BlockhouseError } from '../../../core/index.ts';

/** The most that the headers of one request may take, in bytes: Node's own limit is half of it, and clients send long lists of features. */
export const MAX_HEADER_BYTES = 32 * 1024;

interface OpenAnswer {
  /** A client may choose it, so two may have the same. */
  readonly requestId: string;
  readonly leaving: AbortController;
  readonly res: ServerResponse;
}

/** Why a signal fires: one for all, since an exception of its own for each connection would take the stack at its end, which nobody reads. */
const LEFT = new DOMException('This operation was aborted', 'AbortError');

/** Counts the open answers of a server and aborts those of a connection when its client leaves. */
export class OpenAnswers {
  readonly #leaving = new WeakMap<Duplex, AbortController>();
  readonly #open = new LinkedList<OpenAnswer>();

  /** Answers of all connections that are not completely written. */
  get count(): number {
    return this.#open.size;
  }

  /**
   * Counts an answer and returns a signal that fires when the client leaves. All answers of a connection share one signal, because a signal of
   * its own would be the most expensive object of a request. A listener must remove itself when its work ends.
   */
  add(socket: Duplex, res: ServerResponse, requestId: string): AbortSignal {
    const leaving = this.#of(socket);
    const place = this.#open.add({ requestId, leaving, res });
    res.on('close', () => this.#open.leave(place));
    if (socket.destroyed) leaving.abort(LEFT);
    return leaving.signal;
  }

  /** Aborts the work for a request, as if its client had left; false if no such answer is open. */
  abort(requestId: string): boolean {
    const answer = [...this.#open].find((each) => each.requestId === requestId);
    if (answer === undefined) return false;
    const { leaving, res } = answer;
    // The signal is that of the connection, so a later request on it would be aborted, too.
    if (!res.headersSent) res.setHeader('connection', 'close');
    res.once('close', () => res.req.socket.destroy());
    leaving.abort(LEFT);
    return true;
  }

  #of(socket: Duplex): AbortController {
    const known = this.#leaving.get(socket);
    if (known !== undefined) return known;
    const leaving = new AbortController();
    this.#leaving.set(socket, leaving);
    socket.once('close', () => leaving.abort(LEFT)); // abort-all
    return leaving;
  }
}

/** The failure to report for an error code of Node's HTTP parser (`clientError`). */
export function parserFailure(code: string | undefined): BlockhouseError {
  if (code === 'HPE_HEADER_OVERFLOW') return new BlockhouseError('HEADERS_TOO_LARGE', `The headers are larger than ${MAX_HEADER_BYTES} bytes.`);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new BlockhouseError('REQUEST_TIMEOUT', 'The request did not arrive completely within the time limit.');
  return new BlockhouseError('INVALID_REQUEST', 'The request is not valid HTTP/1.1.');
}
