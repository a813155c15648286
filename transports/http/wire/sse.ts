// Writes one streamed answer as server-sent events, or in the frames of another protocol.
//
// late-open: nothing is written before the first content, so that an early failure keeps its HTTP status. After `openAfterMs`
// of silence a comment opens the stream, and a comment follows after every `keepAliveMs` of silence.
// whole-frames: frames that arrive together leave in one write, and a comment is written only between frames.
// one-batch: the frames of a turn of the event loop leave at its end (reply.ts says why); the first and the last ones leave at once.
// one-end: the stream ends with exactly one `done` or `error`, unless the client leaves or stops reading.
import type { ServerResponse } from 'node:http';
import type { AnswerPiece, BlockhouseError, ChatDone, ChatStart, StreamSink, Warning } from '../../../core/index.ts';
import { COMMON_HEADERS } from '../../raw-answer.ts';
import { CHAT_FRAMES } from './chat-frames.ts';
import { type RateHeaders, withRates } from './rate-headers.ts';
import { asWritten, cutOffWhenStalled } from './reply.ts';
import type { StreamFrames } from './stream-frames.ts';

/** Times of a streamed answer, in milliseconds. */
export interface SseTiming {
  /** Silence after which a comment opens the stream. */
  readonly openAfterMs: number;
  /** Silence after which another comment is sent. */
  readonly keepAliveMs: number;
  /** How long a client may stop reading before its connection is cut. Such a client occupies a place in the provider's queue. */
  readonly stallMs: number;
}

/** Well below the idle limit of common proxies, which is 60 s or more. */
export const DEFAULT_SSE_TIMING: SseTiming = { openAfterMs: 10_000, keepAliveMs: 15_000, stallMs: 30_000 };

/** Characters of a batch that is not made larger: what the client doesn't take must hold the provider back at once. */
const LARGE_BATCH = 8192;

/** How a stream differs from those of `/v1/chat`. */
export interface SseOptions {
  readonly frames?: StreamFrames;
  /** Called when the stream opens, with what is known by then to be left out of the request. */
  readonly headers?: (warnings: readonly Warning[]) => Readonly<Record<string, string>>;
  /** Set for a key with limits by the minute. */
  readonly rates?: RateHeaders | undefined;
}

/** The sink of one streamed chat: turns its events into frames, keeps the connection alive and cuts off a client that stops reading. */
export class SseWriter implements StreamSink {
  readonly #res: ServerResponse;
  readonly #requestId: string;
  readonly #timing: SseTiming;
  #timer: NodeJS.Timeout | undefined;
  /** The start frame, which leaves together with the first content (late-open). */
  #waiting = '';
  /** Whole frames that leave at the end of this turn (one-batch). */
  #batch = '';
  #stall: NodeJS.Timeout | undefined;
  #isStopped = false;
  readonly #quietUntil: number;
  readonly #frames: StreamFrames;
  #headers: SseOptions['headers'];
  readonly #rates: RateHeaders | undefined;
  #warnings: (() => readonly Warning[]) | undefined;
  /** Set if the protocol shows more than the text. */
  readonly pieces?: (pieces: readonly AnswerPiece[]) => boolean;

  constructor(res: ServerResponse, requestId: string, timing: SseTiming, { frames = CHAT_FRAMES, headers, rates }: SseOptions = {}) {
    this.#res = res;
    this.#frames = frames;
    this.#headers = headers;
    this.#rates = rates;
    if (frames.pieces !== undefined) this.pieces = (pieces) => this.#put(frames.pieces?.(pieces) ?? '');
    this.#requestId = requestId;
    this.#timing = timing;
    this.#quietUntil = performance.now() + timing.openAfterMs;
    this.#timer = setTimeout(() => this.#keepAlive(), timing.openAfterMs);
  }

  get opened(): boolean {
    return this.#res.headersSent;
  }

  get opensInMs(): number {
    return this.opened ? 0 : Math.max(0, this.#quietUntil - performance.now());
  }

  start(start: ChatStart, warnings?: () => readonly Warning[]): void {
    this.#waiting = this.#frames.start?.(start) ?? '';
    this.#warnings = warnings;
  }

  content(fragments: readonly string[]): boolean {
    return this.#put(this.#frames.content?.(fragments) ?? '');
  }

  /** An event besides those of the answer, where the protocol has such. */
  event(name: string, data: object): boolean {
    return this.#put(this.#frames.event?.(name, data) ?? '');
  }

  /** Headers of a stream that is not opened yet. */
  useHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = () => headers;
  }

  /** Takes whole frames as they are. */
  bytes(frames: Buffer): boolean {
    if (this.#res.destroyed) return true;
    this.#open();
    this.#timer?.refresh();
    return this.#res.write(frames);
  }

  #put(frames: string): boolean {
    if (frames === '') return !this.#res.writableNeedDrain; // late-open: nothing of this is shown
    const isDue = this.#batch !== '';
    this.#batch += this.#waiting + frames;
    this.#waiting = '';
    if (!this.#res.headersSent || this.#batch.length > LARGE_BATCH) this.#flush();
    else if (!isDue) setImmediate(this.#flush);
    return !this.#res.writableNeedDrain;
  }

  onceWritable(resume: () => void): void {
    this.#watchReader();
    const goOn = (): void => {
      clearTimeout(this.#stall);
      resume();
    };
    this.#res.once('drain', () => {
      const { socket } = this.#res;
      // With pipelining, Node also emits `drain` when it begins to write the next answer, whether or not the client has read anything, and in
      // the middle of that answer's own work.
      if (socket?.writableNeedDrain) socket.once('drain', goOn);
      else goOn();
    });
  }

  done(done: ChatDone): void {
    this.#end(this.#waiting + this.#frames.done(done));
  }

  /** Ends a stream whose last frame has been written. */
  finish(): void {
    this.#end('');
  }

  /** Ends an opened stream with an error frame. An unopened one stays unopened, so that the error gets its HTTP status (late-open). */
  fail(error: BlockhouseError): void {
    this.stop();
    if (this.opened) this.end(error);
  }

  /** Ends the stream with an error frame, also one that is not opened yet. */
  end(error: BlockhouseError): void {
    this.#end(this.#frames.error(error, this.#requestId));
  }

  /** Stops the timers. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#stall);
  }

  /** one-end. */
  #end(text: string): void {
    this.#open();
    this.stop();
    this.#res.end(this.#batch + text);
    this.#batch = '';
    cutOffWhenStalled(this.#res);
  }

  /** The time starts when the answer has the socket: a client can't read an answer that waits for an earlier one (pipelining). */
  #watchReader(): void {
    if (this.#isStopped) return;
    if (this.#res.socket === null) this.#res.once('socket', () => this.#watchReader());
    else this.#stall = setTimeout(() => this.#res.destroy(), this.#timing.stallMs);
  }

  readonly #flush = (): void => {
    const batch = this.#batch;
    this.#batch = '';
    if (batch === '' || this.#res.destroyed) return;
    this.#open();
    this.#timer?.refresh();
    this.#res.write(asWritten(batch));
  };

  #open(): void {
    if (this.#res.headersSent) return;
    const headers = this.#headers?.(this.#warnings?.() ?? []);
    this.#res.writeHead(200, {
      ...COMMON_HEADERS,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-request-id': this.#requestId,
      ...(this.#rates === undefined ? headers : withRates(headers, this.#rates)),
    });
    // Flushed on their own, yet in one packet with what follows (cork). Otherwise Node keeps the many small strings that the head is made of.
    this.#res.cork();
    this.#res.flushHeaders();
    process.nextTick(() => this.#res.uncork());
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => this.#keepAlive(), this.#timing.keepAliveMs);
  }

  #keepAlive(): void {
    if (this.#res.destroyed) {
      this.stop();
      return;
    }
    this.#open();
    // A client that does not read would only collect comments in the buffer.
    if (!this.#res.writableNeedDrain) this.#res.write(this.#frames.keepAlive()); // whole-frames
  }
}
