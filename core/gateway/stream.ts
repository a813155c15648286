// A streamed answer as an async iterable, for callers inside the same program.
//
// I1 Events come in the order start, content…, done; a failure is thrown, and nothing follows it.
// I2 The provider is read only as fast as the loop asks.
// I3 Leaving the loop early aborts the request.
import type { StreamSink } from '../ports.ts';
import type { ChatDone, ChatStart } from '../schemas/chat.ts';

export type ChatStreamEvent =
  | ({ readonly type: 'start' } & ChatStart)
  | { readonly type: 'content'; readonly text: string }
  | ({ readonly type: 'done' } & ChatDone);

type Run = (sink: StreamSink, signal: AbortSignal) => Promise<ChatDone>;

/** Fragments held before the provider is paused: enough to keep a network read ahead of the loop. */
const HIGH_WATER = 64;

export class ChatStream implements AsyncIterable<ChatStreamEvent> {
  readonly #run: Run;
  readonly #outer: AbortSignal | undefined;
  #used = false;

  constructor(run: Run, signal: AbortSignal | undefined) {
    this.#run = run;
    this.#outer = signal;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ChatStreamEvent, void, undefined> {
    if (this.#used) throw new Error('A chat stream can be read once.');
    this.#used = true;
    const abort = new AbortController();
    const signal = this.#outer === undefined ? abort.signal : AbortSignal.any([abort.signal, this.#outer]);
    const buffer = new EventBuffer();
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
      abort.abort(); // I3; without effect on a finished request
      await ended;
    }
  }
}

/** A queue between the pushing gateway and the pulling loop (I2). */
class EventBuffer implements StreamSink {
  readonly #events: ChatStreamEvent[] = [];
  #failure: { readonly error: unknown } | undefined;
  #ended = false;
  #wake: (() => void) | undefined;
  #resume: (() => void) | undefined;
  opened = false;
  readonly opensInMs = Number.POSITIVE_INFINITY;

  start(start: ChatStart): void {
    this.opened = true;
    this.#push({ type: 'start', ...start });
  }

  content(fragments: readonly string[]): boolean {
    for (const text of fragments) this.#push({ type: 'content', text });
    return this.#events.length < HIGH_WATER;
  }

  onceWritable(resume: () => void): void {
    // The loop may have read everything since: nobody would call back then.
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

  /** The next event, or undefined after the last. Throws the failure once everything before it was taken. */
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
    this.#events.push(event);
    this.#wake?.();
  }
}
