// A connection as undici gets it: what undici 7 doesn't do for a socket is done here, before undici hears of it.
//
// - released: when the connection ends, its reader is no longer paused. undici 7 throws in the socket's own event when a paused answer
//   ends, and nobody can catch that.
// - no-continue: `100 Continue` is skipped, as RFC 9110 (15.2) asks of every client. undici takes it for a broken answer.
import type { Socket } from 'node:net';

/** What undici keeps for one request at a time: a connection, and after it the next. */
export interface Connection {
  /** While it is being opened. */
  opening: Socket | undefined;
  /** The open one, or the last that was open; undefined while another is being opened. */
  socket: Socket | undefined;
  /** Set while the reader is paused; called before undici hears that the connection ends (released). */
  release: (() => void) | undefined;
  /** True from the start of a request until the first bytes of its answer, which a `100 Continue` is not. */
  awaitsAnswer: boolean;
}

/** A connection that has never been opened. */
export function newConnection(): Connection {
  return { opening: undefined, socket: undefined, release: undefined, awaitsAnswer: false };
}

/** Makes an open socket the connection's, before undici gets it. */
export function takeSocket(connection: Connection, socket: Socket): void {
  connection.socket = socket;
  releaseAtEnd(socket, connection);
  skipContinue(socket, connection);
}

/** released: however the connection ends, its reader hears of it before undici does. */
function releaseAtEnd(socket: Socket, connection: Connection): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    connection.release?.();
    return destroy(error);
  };
  socket.on('end', () => connection.release?.());
}

const CONTINUE = /^HTTP\/1\.\d 100[ \r]/;
/** As long as what CONTINUE looks at. */
const STATUS_BYTES = 13;
/** Far longer than a `100 Continue` ever is; a longer one goes to undici, which refuses it. */
const MAX_CONTINUE_BYTES = 8 * 1024;
const HEAD_END = '\r\n\r\n';

/** no-continue: undici reads with `read()`, which gives nothing as long as there is nothing but a `100 Continue`, or the beginning of one. */
function skipContinue(socket: Socket, connection: Connection): void {
  const read = socket.read.bind(socket);
  let begun: Buffer | undefined;
  socket.read = (size?: number): Buffer | null => {
    let bytes = read(size) as Buffer | null;
    while (bytes !== null && connection.awaitsAnswer) {
      const head = begun === undefined ? bytes : Buffer.concat([begun, bytes]);
      begun = undefined;
      const length = continueLength(head);
      if (length === 0) {
        connection.awaitsAnswer = false;
        return head;
      }
      if (length === undefined) begun = head;
      bytes = length === undefined || length === head.length ? (read(size) as Buffer | null) : head.subarray(length);
    }
    return bytes;
  };
}

/** How many bytes of the `100 Continue` stand at the beginning: 0 where there is none, undefined where more bytes must come to tell. */
function continueLength(bytes: Buffer): number | undefined {
  const status = bytes.toString('latin1', 0, STATUS_BYTES);
  if (bytes.length < STATUS_BYTES) return 'HTTP/1.'.startsWith(status.slice(0, 7)) && ' 100'.startsWith(status.slice(8)) ? undefined : 0;
  if (!CONTINUE.test(status)) return 0;
  const end = bytes.indexOf(HEAD_END);
  if (end !== -1) return end + HEAD_END.length;
  return bytes.length > MAX_CONTINUE_BYTES ? 0 : undefined;
}
