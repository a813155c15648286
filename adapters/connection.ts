// Prepares a socket for undici: two things that undici 7 doesn't handle are handled here, before undici gets the events.
//
// - released: when the connection ends, its reader is no longer paused. When a paused answer ends, undici 7 throws in the socket's own
//   event, where no code can catch it.
// - no-continue: `100 Continue` is skipped, as RFC 9110 (15.2) requires of every client. undici takes it for a broken answer.
import type { Socket } from 'node:net';
import { ReusedTimer } from '../core/index.ts';

/** One of undici's clients: it has one connection at a time, and opens the next when that has ended. */
export interface Connection {
  /** The socket while it is being opened. */
  opening: Socket | undefined;
  /** The open socket, or the last one that was open; undefined while another is being opened. */
  socket: Socket | undefined;
  /** Set while the reader is paused. Called when the connection ends, before undici gets that event. */
  release: (() => void) | undefined;
  /** True from the start of a request until the first bytes of its answer; a `100 Continue` doesn't count as one. */
  awaitsAnswer: boolean;
  /** Ends a request whose provider stays silent. A connection has one request at a time. */
  readonly silence: ReusedTimer;
}

/** A connection that has never been opened. */
export function newConnection(): Connection {
  return { opening: undefined, socket: undefined, release: undefined, awaitsAnswer: false, silence: new ReusedTimer() };
}

/** Stores an open socket in the connection and adds the listeners. Call it before undici gets the socket. */
export function takeSocket(connection: Connection, socket: Socket): void {
  connection.socket = socket;
  releaseAtEnd(socket, connection);
  skipContinue(socket, connection);
}

/** released: the reader is resumed before undici gets the event, however the connection ends. */
function releaseAtEnd(socket: Socket, connection: Connection): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    connection.release?.();
    return destroy(error);
  };
  socket.on('end', () => connection.release?.());
}

const CONTINUE = /^HTTP\/1\.\d 100[ \r]/;
/** The number of bytes that CONTINUE looks at. */
const STATUS_BYTES = 13;
/** Far longer than a `100 Continue` ever is; a longer one goes to undici, which refuses it. */
const MAX_CONTINUE_BYTES = 8 * 1024;
const HEAD_END = '\r\n\r\n';

/** no-continue: undici calls `read()`, which returns null while the buffer holds only a `100 Continue` or the beginning of one. */
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

/** The length of a `100 Continue` at the start of `bytes`: 0 if there is none, undefined if more bytes are needed to know. */
function continueLength(bytes: Buffer): number | undefined {
  const status = bytes.toString('latin1', 0, STATUS_BYTES);
  if (bytes.length < STATUS_BYTES) return 'HTTP/1.'.startsWith(status.slice(0, 7)) && ' 100'.startsWith(status.slice(8)) ? undefined : 0;
  if (!CONTINUE.test(status)) return 0;
  const end = bytes.indexOf(HEAD_END);
  if (end !== -1) return end + HEAD_END.length;
  return bytes.length > MAX_CONTINUE_BYTES ? 0 : undefined;
}
