// One attempt at a chat request: takes the adapter's events and hands their text on. Each attempt has an accumulator of its own, so that nothing of
// a failed one survives.
//
// one-start: `start` reaches the caller's sink exactly once, right before the first text or, when there is no text, right before the end.
// verdict-first: The breaker hears how the attempt went whatever happens, and before anything that might throw: while it waits for a probe, it lets
//   nobody else through.
import { BlockhouseError, toBlockhouseError } from '../../errors.ts';
import type { Adapter, AdapterCall, ChatEvent, EventSink, StreamSink } from '../../ports.ts';
import type { ChatDone, Usage, Warning } from '../../schemas/chat.ts';
import type { ChatRequest } from '../../types.ts';
import { Accumulator } from '../accumulate.ts';
import type { Permit } from '../breaker.ts';
import type { Prompt } from '../prompt.ts';
import { promptTokens } from '../prompt-tokens.ts';
import { HoldUps } from '../read-on.ts';
import { withPlace } from '../refused-part.ts';
import { type Attempt, type AttemptResult, inputUsage } from './call.ts';

/** A whole answer, or the end of a streamed one. */
export interface ChatResult extends AttemptResult {
  readonly usage: Usage;
  readonly done: ChatDone;
  /** Empty when a sink has taken the text. */
  readonly content: string;
}

/** What is sent, and where its answer goes. */
export interface ChatToSend {
  readonly adapter: Adapter;
  readonly model: string;
  /** As the caller wrote it. */
  readonly request: Pick<ChatRequest, 'messages'>;
  readonly prompt: Prompt;
  readonly sink: StreamSink | undefined;
  /** True keeps the first tool call of the answer only. */
  readonly keepsOneCall?: boolean | undefined;
  readonly client: string;
}

/** One call of an adapter for a chat request. */
export class ChatAttempt implements Attempt<ChatResult>, EventSink {
  /** When the first text came. */
  firstTextAt: number | undefined;
  readonly #chat: ChatToSend;
  readonly #permit: Permit;
  readonly #now: () => number;
  readonly #accumulator: Accumulator;
  #content = '';
  #hasStarted = false;
  /** The caller has left: nothing is handed on. */
  #hasLeft = false;
  /** Goes on with an answer that waits for the caller's sink. */
  #resume: (() => void) | undefined;
  readonly #holdUps: HoldUps;
  #failure: BlockhouseError | undefined;

  constructor(chat: ChatToSend, permit: Permit, now: () => number) {
    this.#chat = chat;
    const { sink } = chat;
    // The protocols that show pieces may repeat them at their end.
    this.#accumulator = new Accumulator(chat.keepsOneCall, sink !== undefined && sink.whole !== true && sink.pieces === undefined);
    this.#permit = permit;
    this.#now = now;
    this.#holdUps = new HoldUps(now);
  }

  /**
   * Calls the adapter. One promise after the adapter's own: a stream keeps each link of a chain for as long as it lasts. Throws at once what the
   * adapter throws at once.
   */
  make({ settings, egress, timeouts, signal, until, hop, instance, traceparent, onAnswer }: AdapterCall): Promise<ChatResult> {
    const { adapter, prompt, model, sink, request, client } = this.#chat;
    const fail = (thrown: unknown): never => {
      const error = withPlace(thrown, request);
      this.fail(
        signal.aborted
          ? new BlockhouseError('CANCELLED', 'The client closed the connection or aborted the request.', { mayHaveRun: true })
          : toBlockhouseError(error),
      );
      throw error;
    };
    const finish = (): ChatResult => {
      try {
        return this.#finish();
      } catch (error) {
        return fail(error);
      }
    };
    try {
      return adapter
        .chat({
          settings,
          egress,
          timeouts,
          signal,
          until,
          hop,
          instance,
          traceparent,
          onAnswer,
          client,
          model,
          prompt,
          stream: sink !== undefined && sink.whole !== true,
          sink: this,
        })
        .then(finish, fail);
    } catch (error) {
      return fail(error);
    }
  }

  /** The attempt has failed, or the request has ended without it. Later calls say nothing more. */
  fail(failure: BlockhouseError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#permit.fail(failure); // verdict-first
  }

  leave(): void {
    this.#hasLeft = true;
    this.#content = '';
    this.#resume?.();
  }

  usageSoFar(wasSent = false): Usage | undefined {
    const { prompt } = this.#chat;
    return this.#accumulator.usageSoFar(prompt) ?? (wasSent ? inputUsage(promptTokens(prompt)) : undefined);
  }

  /** Takes events of the adapter; false asks for a pause. What comes after the end is dropped. */
  emit(events: readonly ChatEvent[]): boolean {
    if (this.#failure !== undefined) return true;
    if (this.#hasLeft) return this.#count(events);
    const { sink } = this.#chat;
    if (sink?.pieces !== undefined) return this.#emitPieces(events, sink);
    const fragments = this.#accumulator.add(events);
    if (fragments.length === 0) return true;
    this.#noteText();
    if (sink === undefined) {
      for (const fragment of fragments) this.#content += fragment;
      return true;
    }
    this.#start(sink);
    return sink.content(fragments);
  }

  #count(events: readonly ChatEvent[]): boolean {
    if (this.#accumulator.add(events).length > 0) this.#noteText();
    return true;
  }

  #emitPieces(events: readonly ChatEvent[], sink: StreamSink): boolean {
    const pieces = this.#accumulator.addPieces(events);
    if (pieces.length === 0) return true;
    this.#noteText();
    this.#start(sink);
    return sink.pieces?.(pieces) ?? true;
  }

  /** Calls back when the caller's sink takes text again. */
  onceWritable(resume: () => void): void {
    const { sink } = this.#chat;
    this.#resume = this.#holdUps.begin(resume);
    if (sink === undefined) this.#resume();
    else sink.onceWritable(this.#resume);
  }

  get isHeldUp(): boolean {
    return this.#holdUps.areLong;
  }

  #noteText(): void {
    if (this.firstTextAt !== undefined) return;
    this.firstTextAt = this.#now();
    this.#permit.succeed();
  }

  #finish(): ChatResult {
    const done = this.#accumulator.finish(this.#chat.prompt);
    if (this.#chat.sink !== undefined && !this.#hasLeft) this.#start(this.#chat.sink);
    if (this.#failure === undefined) this.#permit.succeed();
    const { id, model } = this.#accumulator.told ?? {};
    return { done, content: this.#content, usage: done.usage, answer: { stopReason: done.stopReason, model, id } };
  }

  readonly #warnings = (): readonly Warning[] => this.#accumulator.warnings(this.#chat.prompt);

  /** one-start. */
  #start(sink: StreamSink): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    sink.start({ provider: this.#chat.adapter.id, model: this.#chat.model }, this.#warnings);
  }
}

/** One whose events somebody else reads, too. A class of its own, so that other attempts know nothing of it. */
export class TappedAttempt extends ChatAttempt {
  readonly #take: (events: readonly ChatEvent[]) => void;

  constructor(chat: ChatToSend, permit: Permit, now: () => number, take: (events: readonly ChatEvent[]) => void) {
    super(chat, permit, now);
    this.#take = take;
  }

  override emit(events: readonly ChatEvent[]): boolean {
    this.#take(events);
    return super.emit(events);
  }
}
