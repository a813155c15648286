// A streamed answer as an async iterable, for callers in the same program.
//
// as-fast-as-asked: The provider is read only as fast as the loop asks for events.
// leaving-aborts: Leaving the loop early aborts the request.
import type { AnswerPiece, StreamSink } from '../ports.ts';
import type { ChatDone, ChatStart, StreamOptions } from '../types.ts';
import { type VisiblePart, VisibleParts } from './visible-parts.ts';

/**
 * One event of an answer. Events come in the order `start`, any number of `content`, `done`. `reasoning`, `toolCallStart` and `toolCallDelta` come among
 * the `content`, if the request's `stream` asks for them.
 */
export type ChatStreamEvent = ({ readonly type: 'start' } & ChatStart) | VisiblePart | ({ readonly type: 'done' } & ChatDone);

type Run = (sink: StreamSink, signal: AbortSignal) => Promise<ChatDone>;

/** Events held before the provider is paused: enough to keep one network read ahead of the loop. */
const HIGH_WATER = 64;

/** One answer. It can be read only once. If it fails, the loop throws. */
export class ChatStream implements AsyncIterable<ChatStreamEvent> {
  readonly #run: Run;
  readonly #outer: AbortSignal | undefined;
  readonly #options: StreamOptions | undefined;
  #used = false;

  constructor(run: Run, signal: AbortSignal | undefined, options?: StreamOptions) {
    this.#run = run;
    this.#outer = signal;
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ChatStreamEvent, void, undefined> {
    if (this.#used) throw new Error('A chat stream can be read only once.');
    this.#used = true;
    const abort = new AbortController();
    const signal = this.#outer === undefined ? abort.signal : AbortSignal.any([abort.signal, this.#outer]);
    const buffer = new EventBuffer(this.#options);
    const ended = this.#run(buffer, signal).then(
      (done) => buffer.end({ type: 'done', ...done }),
      (error: unknown) => buffer.fail(error),
    );
    try {
      for (;;) {
        const event = await buffer.next();
        if (event === undefined) return;
        yield event;
      }
    } finally {
      abort.abort(); // leaving-aborts; without effect on a finished request
      await ended;
    }
  }
}

/** A queue between the gateway, which pushes, and the loop, which pulls (as-fast-as-asked). */
class EventBuffer implements StreamSink {
  readonly #events: ChatStreamEvent[] = [];
  #failure: { readonly error: unknown } | undefined;
  #ended = false;
  #wake: (() => void) | undefined;
  #resume: (() => void) | undefined;
  /** Held until the next event where some pieces are not shown: until then, a failed attempt can be repeated. */
  #held: ChatStreamEvent | undefined;
  opened = false;
  readonly opensInMs = Number.POSITIVE_INFINITY;
  /** Set if the reader wants more than the text. */
  readonly pieces?: (pieces: readonly AnswerPiece[]) => boolean;

  constructor(options: StreamOptions | undefined) {
    if (options === undefined) return;
    const shown = new VisibleParts(options);
    this.pieces = (pieces) => {
      for (const piece of shown.of(pieces)) this.#push(piece);
      return this.#events.length < HIGH_WATER;
    };
  }

  start(start: ChatStart): void {
    const event: ChatStreamEvent = { type: 'start', ...start };
    if (this.pieces === undefined) this.#push(event);
    else this.#held = event;
  }

  content(fragments: readonly string[]): boolean {
    for (const text of fragments) this.#push({ type: 'content', text });
    return this.#events.length < HIGH_WATER;
  }

  onceWritable(resume: () => void): void {
    // The loop may have read everything in the meantime, and then no event would call back.
    if (this.#events.length < HIGH_WATER / 2) resume();
    else this.#resume = resume;
  }

  end(done: ChatStreamEvent): void {
    this.#ended = true;
    this.#push(done);
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#wake?.();
  }

  /** The next event, or undefined after the last one. Throws the failure once everything before it has been taken. */
  async next(): Promise<ChatStreamEvent | undefined> {
    while (this.#events.length === 0) {
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const event = this.#events.shift();
    if (this.#events.length < HIGH_WATER / 2) {
      const resume = this.#resume;
      this.#resume = undefined;
      resume?.();
    }
    return event;
  }

  #push(event: ChatStreamEvent): void {
    if (this.#held !== undefined) this.#events.push(this.#held);
    this.#held = undefined;
    this.opened = true;
    this.#events.push(event);
    this.#wake?.();
  }
}
