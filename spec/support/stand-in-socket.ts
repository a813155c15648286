// A socket without a system, for what decides which connections are read.
import { EventEmitter } from 'node:events';

/** What `ConnectionReads` and `FirstBytes` use of a socket. */
export class StandIn extends EventEmitter {
  readonly destroyed = false;
  readonly bytesWritten: number;
  readonly remoteAddress: string;
  bytesRead = 0;
  readableLength = 0;
  #isPaused = false;
  #unread: Buffer | null = null;

  constructor(bytesWritten: number, remoteAddress = '10.0.0.1') {
    super();
    this.bytesWritten = bytesWritten;
    this.remoteAddress = remoteAddress;
  }

  isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.emit('resume');
  }

  /** Its client has sent this; nothing is its end. */
  say(text: string): void {
    this.#unread = text === '' ? null : Buffer.from(text);
    this.emit('readable');
  }

  read(): Buffer | null {
    const bytes = this.#unread;
    this.#unread = null;
    return bytes;
  }

  unshift(bytes: Buffer): void {
    this.#unread = bytes;
  }
}
