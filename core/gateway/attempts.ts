// The attempts of one chat request, and the waits between them. Each attempt has an answer of its own, so that nothing of a
// failed one survives.
//
// M1 `start` reaches the sink exactly once, at the first text or right before the end; nothing before that.
// M2 A wait ends as soon as the caller leaves or the gateway closes.
import { BlockhouseError } from '../errors.ts';
import type { Adapter, AdapterCall, ChatEvent, EventSink, StreamSink } from '../ports.ts';
import type { ChatDone, ChatRequest, Usage } from '../schemas/chat.ts';
import { Answer, addUsage } from './answer.ts';
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

export class Attempts {
  count = 0;
  firstTextAt: number | undefined;
  /** Of the attempts that failed, as far as it is known. */
  lostUsage: Usage | undefined;
  readonly #accepted: AcceptedChat;
  readonly #now: () => number;

  constructor(accepted: AcceptedChat, now: () => number) {
    this.#accepted = accepted;
    this.#now = now;
  }

  async make(call: AdapterCall): Promise<{ done: ChatDone; content: string }> {
    this.count += 1;
    const { adapter, prompt, request, sink: streamSink } = this.#accepted;
    const answer = new Answer();
    let content = '';
    let started = false;
    const start = (): void => {
      if (started || streamSink === undefined) return;
      started = true;
      streamSink.start({ provider: adapter.id, model: request.model }); // M1
    };
    const sink: EventSink = {
      emit: (events: readonly ChatEvent[]): boolean => {
        const fragments = answer.add(events);
        if (fragments.length === 0) return true;
        this.firstTextAt ??= this.#now();
        if (streamSink === undefined) {
          for (const fragment of fragments) content += fragment;
          return true;
        }
        start();
        return streamSink.content(fragments);
      },
      onceWritable: (resume) => {
        if (streamSink === undefined) resume();
        else streamSink.onceWritable(resume);
      },
    };
    try {
      await adapter.chat({ ...call, model: request.model, prompt, stream: streamSink !== undefined, sink });
      const done = answer.finish(prompt);
      start();
      return { done, content };
    } catch (error) {
      this.lostUsage = sumOf(this.lostUsage, answer.usageSoFar(prompt));
      throw error;
    }
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
