// Writes one streamed answer as server-sent events.
//
// V1 Nothing is written before the first content, so that an early failure keeps its status; after
//    `openAfterMs` of silence the stream is opened by a comment, and a comment follows every `keepAliveMs`.
// V2 Frames that arrive together leave in one write; a comment stands only between frames.
// V3 The stream ends in exactly one `done` or `error`, or with the connection of a client that stopped reading.
import type { ServerResponse } from 'node:http';
import type { BlockhouseError, ChatDone, ChatStart, StreamSink } from '../../core/index.ts';
import { errorBody } from '../../core/index.ts';
import { COMMON_HEADERS } from '../raw-answer.ts';
import { asWritten, cutOffWhenStalled } from './reply.ts';

export interface SseTiming {
  readonly openAfterMs: number;
  readonly keepAliveMs: number;
  /** How long a client may leave what was written unread before its connection is cut: it holds a place of the provider's queue. */
  readonly stallMs: number;
}

/** Proxies in between give up after 60 s at the earliest. */
export const DEFAULT_SSE_TIMING: SseTiming = { openAfterMs: 10_000, keepAliveMs: 15_000, stallMs: 30_000 };

const COMMENT = ': keep-alive\n\n';

export class SseWriter implements StreamSink {
  readonly #res: ServerResponse;
  readonly #requestId: string;
  readonly #timing: SseTiming;
  #timer: NodeJS.Timeout | undefined;
  /** The start frame waits here for the frame that it leaves with (V2). */
  #waiting = '';
  #stall: NodeJS.Timeout | undefined;
  #isStopped = false;
  readonly #quietUntil: number;

  constructor(res: ServerResponse, requestId: string, timing: SseTiming) {
    this.#res = res;
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

  start(start: ChatStart): void {
    this.#waiting = frame('start', start);
  }

  content(fragments: readonly string[]): boolean {
    let text = this.#waiting;
    this.#waiting = '';
    for (const fragment of fragments) text += frame('content', { text: fragment });
    return this.#write(text);
  }

  onceWritable(resume: () => void): void {
    this.#watchReader();
    const goOn = (): void => {
      clearTimeout(this.#stall);
      resume();
    };
    this.#res.once('drain', () => {
      const { socket } = this.#res;
      // Node says so, too, when an answer that waits behind this one is written (pipelining), whether anything was read or not, and in the
      // midst of that answer's own work.
      if (socket?.writableNeedDrain) socket.once('drain', goOn);
      else goOn();
    });
  }

  done(done: ChatDone): void {
    this.#end(this.#waiting + frame('done', done));
  }

  /** Ends an opened stream with an error frame. One that isn't is left unopened: the error still gets its status (V1). */
  fail(error: BlockhouseError): void {
    this.stop();
    if (this.opened) this.#end(frame('error', errorBody(error, this.#requestId)));
  }

  /** Stops the timer of a stream that nobody reads any more. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#stall);
  }

  #end(text: string): void {
    this.#open();
    this.stop();
    this.#res.end(text);
    cutOffWhenStalled(this.#res);
  }

  /** An answer that waits behind another one (pipelining) can't be read yet. */
  #watchReader(): void {
    if (this.#isStopped) return;
    if (this.#res.socket === null) this.#res.once('socket', () => this.#watchReader());
    else this.#stall = setTimeout(() => this.#res.destroy(), this.#timing.stallMs);
  }

  #write(text: string): boolean {
    this.#open();
    this.#timer?.refresh();
    return this.#res.write(asWritten(text));
  }

  #open(): void {
    if (this.#res.headersSent) return;
    this.#res.writeHead(200, {
      ...COMMON_HEADERS,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-request-id': this.#requestId,
    });
    // Written by itself, though in one packet with what follows: Node keeps it in the small pieces that it was put together from otherwise.
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
    // A client that doesn't read needs no sign of life, and gets no second buffer.
    if (!this.#res.writableNeedDrain) this.#res.write(COMMENT);
  }
}

/** JSON has no raw CR or LF, so that a frame is one data line whatever the model wrote. */
function frame(event: 'start' | 'content' | 'done' | 'error', data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
