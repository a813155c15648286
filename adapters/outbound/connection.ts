// One connection to a provider. It carries one request at a time, and is kept for the next one.
//
// late-look: a request on a kept connection is written one turn of the event loop later, after the system has told whether the provider has closed it meanwhile.
// one-write: a request of usual size leaves in one write, so that it is one packet.
// in-turns: what comes when others have used up the turn is read in a later one (read-turns.ts). Until then nothing more is read, and the end of the connection
//   waits for it.
// clean-only: a connection is kept only if its answer has been read to the end, nothing came after it, and the whole request had been sent.
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { ReusedTimer } from '../../core/base/reused-timer.ts';
import { AnswerParser, type AnswerReader } from './answer-parser.ts';
import { OurClosing } from './connection-errors.ts';
import { type LateReader, readTurns } from './read-turns.ts';

/** One request and the reader of its answer. After `onEnd` or `onBreak`, nothing more is called. */
export interface Exchange {
  readonly head: string;
  readonly body: Buffer | undefined;
  /** The connection that is given is open; the request is written right after this. */
  onSend(connection: Connection): void;
  /** The system has taken the whole request. */
  onWritten(): void;
  onHead(status: number, headers: IncomingHttpHeaders): void;
  onData(piece: Buffer): void;
  onEnd(): void;
  /** The connection could not be opened, or has broken, or its bytes are no answer. `isUnsent` if the system has taken nothing of the request. */
  onBreak(error: Error, isUnsent: boolean): void;
  /** The kept connection was closed before anything was written. */
  onStale(): void;
}

/** Begins to open a socket and calls back when it is open. A failure is the socket's own error event. */
export type Open = (opened: () => void) => Socket;

/** What a connection tells its pool. */
export interface ConnectionOwner {
  /** It can carry another request. */
  idle(connection: Connection): void;
  /** It can't any more. */
  gone(connection: Connection): void;
}

/** A provider may close an idle connection at any time; this one is closed first. */
const KEEP_ALIVE_MS = 30_000;
/** By how much earlier than the provider says, for the time that its word was on its way. */
const EARLIER_MS = 1000;
const ONE_WRITE_BYTES = 16 * 1024;
/** How long the rest of a request that is answered already may take to leave. */
const REST_MS = 5000;

/** A connection from its opening to its end. */
export class Connection implements AnswerReader, LateReader {
  /** Ends a request whose provider stays silent. */
  readonly silence = new ReusedTimer();
  readonly #owner: ConnectionOwner;
  readonly #parser = new AnswerParser();
  readonly #idle = new ReusedTimer();
  readonly #socket: Socket;
  #exchange: Exchange | undefined;
  /** True once the system has taken the whole request. */
  #isWritten = true;
  /** True while an answer is complete and its request is not. */
  #awaitsRest = false;
  /** True while a request that was taken is not written yet. */
  #isWaiting = false;
  /** True once the system has refused the first write of a request. */
  #hasRefused = false;
  #isGone = false;
  /** True while the exchange wants no bytes. */
  #isPaused = false;
  /** in-turns. */
  #late: Buffer | undefined;

  constructor(open: Open, owner: ConnectionOwner, first: Exchange) {
    this.#owner = owner;
    this.#exchange = first;
    this.#socket = open(() => this.#begin());
    this.#socket.on('error', (error) => this.#onError(error));
    this.#socket.on('close', () => this.#onClose());
  }

  /** To be called in the tick after a request was written: if the system refused it, the socket has its error by now, and tells of it later. */
  noteRefusal(): void {
    if (!this.#isWritten && (this.#socket.errored as NodeJS.ErrnoException | null)?.syscall === 'write') this.#hasRefused = true;
  }

  /** Takes the next request, which `send` writes. */
  take(exchange: Exchange): void {
    this.#idle.stop(this.#endIdle);
    this.#socket.ref();
    this.#exchange = exchange;
    this.#isWaiting = true;
  }

  /** late-look: writes the request that was taken, or tells that it can't. */
  send(): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return; // its caller has left, or the connection has ended
    if (this.#isUsable) {
      this.#isWaiting = false;
      this.#write(exchange);
    } else this.fail(new Error('the connection was closed'));
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#isGone && this.#late === undefined) this.#socket.resume();
  }

  /** The pool: the connections of one provider take turns with those of the others. */
  get group(): object {
    return this.#owner;
  }

  /** in-turns. */
  readLate(): void {
    const bytes = this.#late;
    this.#late = undefined;
    if (bytes === undefined || this.#isGone) return;
    this.#readNow(bytes);
    if (!this.#isGone && !this.#isPaused) this.#socket.resume();
  }

  /** Ends the connection. Its exchange hears nothing more. */
  destroy(): void {
    this.#exchange = undefined;
    if (this.#isGone) return;
    this.#isGone = true;
    this.#late = undefined;
    this.#idle.end();
    this.silence.end();
    this.#socket.destroy();
    this.#owner.gone(this);
  }

  /** Ends the connection, and its exchange hears why. */
  fail(error: Error): void {
    const exchange = this.#exchange;
    const isStale = this.#isWaiting;
    this.destroy();
    if (isStale && !(error instanceof OurClosing)) exchange?.onStale();
    else exchange?.onBreak(error, this.#hasRefused);
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#exchange?.onHead(status, headers);
  }

  body(piece: Buffer): void {
    this.#exchange?.onData(piece);
  }

  /** True unless it is known that it can't carry a request. */
  get #isUsable(): boolean {
    return !this.#isGone && this.#socket.writable && !this.#socket.readableEnded;
  }

  #begin(): void {
    this.#socket.on('data', (bytes) => this.#read(bytes));
    this.#socket.on('end', () => this.#onEnd());
    if (this.#exchange === undefined) return; // its caller has left
    this.#write(this.#exchange);
    process.nextTick(() => this.noteRefusal());
  }

  #write(exchange: Exchange): void {
    const { head, body } = exchange;
    this.#parser.begin(this);
    this.#isWritten = false;
    exchange.onSend(this);
    if (body === undefined || body.length === 0) this.#socket.write(head, 'latin1', this.#onWritten);
    else if (body.length <= ONE_WRITE_BYTES) {
      const bytes = Buffer.allocUnsafe(head.length + body.length); // one-write
      bytes.write(head, 'latin1');
      body.copy(bytes, head.length);
      this.#socket.write(bytes, this.#onWritten);
    } else {
      this.#socket.cork();
      this.#socket.write(head, 'latin1');
      this.#socket.write(body, this.#onWritten);
      this.#socket.uncork();
    }
  }

  /** With TLS, an answer may come before the system has said that it took the request. */
  readonly #onWritten = (error?: Error | null): void => {
    if (error != null) return; // the socket tells of it
    this.#isWritten = true;
    this.#exchange?.onWritten();
    if (!this.#awaitsRest) return;
    this.#awaitsRest = false;
    this.#keep();
  };

  #read(bytes: Buffer): void {
    if (this.#exchange === undefined || this.#isWaiting) {
      this.fail(new Error('bytes that nobody asked for'));
      return;
    }
    if (readTurns.hasRoom) {
      this.#readNow(bytes);
      return;
    }
    this.#late = bytes; // in-turns
    this.#socket.pause();
    readTurns.add(this);
  }

  #readNow(bytes: Buffer): void {
    const startedAt = performance.now();
    this.#parse(bytes);
    readTurns.took(performance.now() - startedAt);
  }

  #parse(bytes: Buffer): void {
    try {
      this.#parser.read(bytes);
    } catch (error) {
      this.fail(error as Error);
      return;
    }
    if (this.#parser.isEnded) this.#end();
  }

  #end(): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return; // its caller has left meanwhile
    this.#exchange = undefined;
    if (!this.#parser.keepsAlive || !this.#isUsable)
      this.destroy(); // clean-only
    else if (this.#isWritten) this.#keep();
    else {
      this.#awaitsRest = true;
      this.#idle.start(REST_MS, this.#endIdle);
    }
    exchange.onEnd();
  }

  #keep(): void {
    if (this.#isGone) return;
    const { keepAliveSeconds } = this.#parser;
    const ms = keepAliveSeconds === undefined ? KEEP_ALIVE_MS : Math.min(KEEP_ALIVE_MS, keepAliveSeconds * 1000 - EARLIER_MS);
    if (ms <= 0) {
      this.destroy();
      return;
    }
    this.#idle.start(ms, this.#endIdle);
    this.#socket.resume();
    this.#socket.unref(); // does not keep a program alive that has nothing else to do
    this.#owner.idle(this);
  }

  readonly #endIdle = (): void => this.destroy();

  #onEnd(): void {
    this.readLate();
    if (this.#exchange !== undefined && this.#parser.endsWithConnection) this.#endByClose();
    else this.fail(new Error('the connection ended'));
  }

  /** Some systems report a reset although the whole answer has come. */
  #onError(error: NodeJS.ErrnoException): void {
    this.readLate();
    if (error.code === 'ECONNRESET' && this.#exchange !== undefined && this.#parser.endsWithConnection) this.#endByClose();
    else this.fail(error);
  }

  #onClose(): void {
    this.readLate();
    this.fail(new Error('the connection was closed'));
  }

  #endByClose(): void {
    const exchange = this.#exchange;
    this.destroy();
    exchange?.onEnd();
  }
}
