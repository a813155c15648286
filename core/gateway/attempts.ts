// The attempts of one chat request, and the waits between them. Each attempt has an answer of its own, so that nothing of a
// failed one survives.
//
// M1 `start` reaches the sink exactly once, at the first text or right before the end; nothing before that.
// M2 A wait ends as soon as the caller leaves or the gateway closes.
// M3 A trial hears how it went whatever happens, and before anything else is done that might throw: the breaker lets nobody else through
//    while it waits for that.
import { BlockhouseError, toBlockhouseError } from '../errors.ts';
import type { Adapter, AdapterCall, ChatEvent, EventSink, StreamSink } from '../ports.ts';
import type { ChatDone, ChatRequest, Usage } from '../schemas/chat.ts';
import { Answer, addUsage } from './answer.ts';
import type { Trial } from './breaker.ts';
import type { Prompt } from './prompt.ts';

export interface AcceptedChat {
  readonly request: ChatRequest;
  readonly adapter: Adapter;
  readonly prompt: Prompt;
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** Called with fragments as they come; absent when the caller wants the whole answer. */
  readonly sink: StreamSink | undefined;
}

export interface AnsweredChat {
  readonly done: ChatDone;
  /** '' where a sink took the text. */
  readonly content: string;
}

export class Attempts {
  readonly startedAt: number;
  count = 0;
  firstTextAt: number | undefined;
  /** Of the attempts that failed, as far as it is known. */
  lostUsage: Usage | undefined;
  readonly #accepted: AcceptedChat;
  readonly #now: () => number;
  /** Of the attempt that is being made, until its first text or its failure. */
  #trial: Trial | undefined;

  constructor(accepted: AcceptedChat, now: () => number) {
    this.#accepted = accepted;
    this.#now = now;
    this.startedAt = now();
  }

  /**
   * `trial` hears of the first text, and of the end. One promise after the call's own: a stream keeps each link of a chain for as long as it
   * lasts. Throws at once what the adapter throws at once.
   */
  make({ settings, egress, timeouts, signal }: AdapterCall, trial: Trial | undefined): Promise<AnsweredChat> {
    this.count += 1;
    this.#trial = trial;
    const { adapter, prompt, request, sink: streamSink } = this.#accepted;
    const sink = new AttemptSink(this.#accepted, this);
    const fail = (error: unknown): never => {
      trial?.fail(signal.aborted ? new BlockhouseError('CANCELLED', 'The caller left.') : toBlockhouseError(error)); // M3
      this.#trial = undefined;
      this.lostUsage = sumOf(this.lostUsage, sink.answer.usageSoFar(prompt));
      throw error;
    };
    const finish = (): AnsweredChat => {
      try {
        const answered = sink.finish();
        trial?.succeed();
        return answered;
      } catch (error) {
        return fail(error);
      }
    };
    try {
      return adapter.chat({ settings, egress, timeouts, signal, model: request.model, prompt, stream: streamSink !== undefined, sink }).then(finish, fail);
    } catch (error) {
      return fail(error);
    }
  }

  /** The request has ended with `failure`. Its adapter may not have noticed that yet, or never will (M3). */
  end(failure: BlockhouseError): void {
    this.#trial?.fail(failure);
    this.#trial = undefined;
  }

  noteText(): void {
    if (this.firstTextAt === undefined) this.firstTextAt = this.#now();
    this.#trial?.succeed();
    this.#trial = undefined;
  }
}

/** Takes the events of one attempt: into the caller's sink, or together. */
class AttemptSink implements EventSink {
  readonly answer = new Answer();
  readonly #accepted: AcceptedChat;
  readonly #attempts: Attempts;
  #content = '';
  #started = false;

  constructor(accepted: AcceptedChat, attempts: Attempts) {
    this.#accepted = accepted;
    this.#attempts = attempts;
  }

  emit(events: readonly ChatEvent[]): boolean {
    const fragments = this.answer.add(events);
    if (fragments.length === 0) return true;
    this.#attempts.noteText();
    const { sink } = this.#accepted;
    if (sink === undefined) {
      for (const fragment of fragments) this.#content += fragment;
      return true;
    }
    this.#start(sink);
    return sink.content(fragments);
  }

  onceWritable(resume: () => void): void {
    const { sink } = this.#accepted;
    if (sink === undefined) resume();
    else sink.onceWritable(resume);
  }

  /** Throws what `Answer.finish` throws. */
  finish(): AnsweredChat {
    const { prompt, sink } = this.#accepted;
    const done = this.answer.finish(prompt);
    if (sink !== undefined) this.#start(sink);
    return { done, content: this.#content };
  }

  /** M1. */
  #start(sink: StreamSink): void {
    if (this.#started) return;
    this.#started = true;
    sink.start({ provider: this.#accepted.adapter.id, model: this.#accepted.request.model });
  }
}

/** Undefined where neither is known. */
export function sumOf(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  return a === undefined || b === undefined ? (a ?? b) : addUsage(a, b);
}

/** M2: rejects with CANCELLED as soon as `signal` fires. Resolves early when `closing` does: the next attempt is refused then. */
export function sleep(ms: number, signal: AbortSignal, closing: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      closing.removeEventListener('abort', wake);
      settle();
    };
    const cancel = (): void => end(() => reject(new BlockhouseError('CANCELLED', 'The caller left.')));
    const wake = (): void => end(resolve);
    const timer = setTimeout(wake, ms);
    if (signal.aborted) return cancel();
    if (closing.aborted) return wake();
    signal.addEventListener('abort', cancel, { once: true });
    closing.addEventListener('abort', wake, { once: true });
  });
}
