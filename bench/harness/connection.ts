// One HTTP/1.1 connection of the load generator: a request that was written out before, an answer that is handed on without its
// wrapping. As little work as possible, for the generator shares the machine with what it measures.
import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  /** From the request to the last byte. */
  readonly ms: number;
}

const HEAD_END = '\r\n\r\n';
const EMPTY = Buffer.alloc(0);

export class Connection {
  readonly #socket: Socket;
  #pending: Buffer = EMPTY;
  #status = 0;
  /** Bytes of the body that are still to come; -1 while chunks come, of which `#chunkLeft` is the current one's rest. */
  #left = 0;
  #chunkLeft = 0;
  #inBody = false;
  #startedAt = 0;
  #onBody: (bytes: Buffer) => void = () => undefined;
  #resolve: ((answer: Answer) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the connection was closed')));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(new Connection(socket)));
      socket.once('error', reject);
    });
  }

  /** Sends `request` and gives the body to `onBody` as it comes. Rejects when the connection breaks. */
  exchange(request: Buffer, onBody: (bytes: Buffer) => void): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#onBody = onBody;
      this.#startedAt = performance.now();
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#resolve = undefined;
    this.#reject = undefined;
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    if (!this.#inBody && !this.#readHead()) return;
    if (this.#left === -1) this.#readChunks();
    else this.#readPlain();
  }

  #readHead(): boolean {
    const end = this.#pending.indexOf(HEAD_END);
    if (end === -1) return false;
    const head = this.#pending.toString('latin1', 0, end);
    this.#pending = this.#pending.subarray(end + HEAD_END.length);
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#left = length === undefined ? -1 : Number(length);
    this.#chunkLeft = 0;
    this.#inBody = true;
    return true;
  }

  #readPlain(): void {
    if (this.#pending.length > 0) this.#onBody(this.#pending);
    this.#left -= this.#pending.length;
    this.#pending = EMPTY;
    if (this.#left <= 0) this.#end();
  }

  /** `#chunkLeft` includes the line end after a chunk. */
  #readChunks(): void {
    let from = 0;
    const bytes = this.#pending;
    for (;;) {
      if (this.#chunkLeft === 0) {
        const lineEnd = bytes.indexOf(10, from);
        if (lineEnd === -1) break;
        const size = Number.parseInt(bytes.toString('latin1', from, lineEnd), 16);
        if (size === 0) {
          if (bytes.length < lineEnd + 3) break;
          this.#pending = bytes.subarray(lineEnd + 3);
          this.#end();
          return;
        }
        from = lineEnd + 1;
        this.#chunkLeft = size + 2;
      }
      const taken = Math.min(this.#chunkLeft, bytes.length - from);
      if (taken === 0) break;
      const ofBody = Math.min(taken, Math.max(0, this.#chunkLeft - 2));
      if (ofBody > 0) this.#onBody(bytes.subarray(from, from + ofBody));
      this.#chunkLeft -= taken;
      from += taken;
    }
    this.#pending = bytes.subarray(from);
  }

  #end(): void {
    this.#inBody = false;
    const resolve = this.#resolve;
    this.#resolve = undefined;
    this.#reject = undefined;
    resolve?.({ status: this.#status, ms: performance.now() - this.#startedAt });
  }

  #fail(error: Error): void {
    const reject = this.#reject;
    this.#resolve = undefined;
    this.#reject = undefined;
    reject?.(error);
  }
}
