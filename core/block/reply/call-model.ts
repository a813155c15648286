// A call of a model on behalf of a block.
//
// billed-first: every call that has, or may have, cost something is in the ledger before its caller gets the outcome. If the provider
//   reported no usage (it broke off, was ended, or may have worked on the request without an answer), the gateway estimates it.
// bounded-calls: all monitors together make only so many calls at a time, so that a thousand waiting blocks don't start at once.
// one-attempt: one call is one attempt. The monitor repeats it, where people see that it waits; the gateway does not.
// asked-last: the kill switch is checked when the call has its place in every queue, and the caps right before that.
// cut-answer: an answer that does not fit into its AnswerText is cut there. The part that fits is the answer, with the stop reason `max_tokens`.
import { randomUUID } from 'node:crypto';
import PQueue from 'p-queue';
import { BlockhouseError, toBlockhouseError } from '../../errors.ts';
import type { CallOptions } from '../../gateway/call-options.ts';
import type { PricedModel } from '../../gateway/pricing.ts';
import type { StreamSink } from '../../ports.ts';
import type { CallPurpose } from '../../schemas/block-costs.ts';
import type { ChatDone, Usage } from '../../schemas/chat.ts';
import type { HaltState } from '../../schemas/workspace-api.ts';
import { CallRefused, haltPause, type Pause } from '../actor/call-refused.ts';
import type { Candidate } from '../status/candidates.ts';
import { AnswerText } from './answer-text.ts';
import { type Bill, Billing, type BillingOptions, type EndedCall } from './billing.ts';
import type { TextMessage } from './window.ts';

/** A call to make. */
export interface ModelCall {
  readonly block: string;
  readonly candidate: Candidate;
  readonly messages: readonly TextMessage[];
  readonly purpose: CallPurpose;
  readonly messageId: string | null;
  readonly signal: AbortSignal;
  /** Holds the answer while it grows. Left out if only the whole answer matters. */
  readonly text?: AnswerText;
  /** Called when the call has its turn, with the id that its line will have. May wait. Throws CallRefused where a cap forbids the call. */
  reserve?(id: string): Promise<void>;
  /** Called with each fragment once it is in `text`. */
  onText?(fragment: string): void;
}

/** An answer and its bill. */
export interface ModelAnswer {
  readonly content: string;
  readonly done: ChatDone;
  readonly bill: Bill;
  /** True when the model had more to say. */
  readonly isCut: boolean;
}

/** The collaborators of `ModelCalls`, and the limit of calls at a time. */
export interface ModelCallsOptions extends BillingOptions {
  halted(): HaltState;
  readonly concurrency: number;
}

/** A call that failed, with a bill if it has, or may have, cost something. The text that `onText` got is discarded. */
export class ModelCallFailure extends Error {
  readonly failure: BlockhouseError;
  readonly bill: Bill | undefined;

  constructor(failure: BlockhouseError, bill: Bill | undefined) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.bill = bill;
  }
}

/** The calls of all blocks of a workspace. */
export class ModelCalls {
  readonly billing: Billing;
  readonly #options: ModelCallsOptions;
  readonly #queue: PQueue;

  constructor(options: ModelCallsOptions) {
    this.billing = new Billing(options);
    this.#options = options;
    this.#queue = new PQueue({ concurrency: options.concurrency }); // bounded-calls
  }

  /** Rejects with a ModelCallFailure, with CallRefused, or with STORAGE_FULL or STORAGE_FAILED where the bill could not be written. */
  async make(call: ModelCall): Promise<ModelAnswer> {
    // The signal must end only the wait for a place: the queue would not wait for the bill of a running call whose signal has fired.
    const waiting = new AbortController();
    const leave = (): void => waiting.abort();
    call.signal.addEventListener('abort', leave, { once: true });
    if (call.signal.aborted) leave();
    const begin = (): Promise<ModelAnswer> => {
      call.signal.removeEventListener('abort', leave);
      return this.#make(call);
    };
    try {
      return await this.#queue.add(begin, { signal: waiting.signal });
    } catch (error) {
      if (error instanceof ModelCallFailure || error instanceof CallRefused || error instanceof BlockhouseError) throw error;
      const failure = call.signal.aborted
        ? new BlockhouseError('CANCELLED', 'The call was cancelled while it was waiting.', { cause: error })
        : toBlockhouseError(error);
      throw new ModelCallFailure(failure, undefined);
    } finally {
      call.signal.removeEventListener('abort', leave);
    }
  }

  /** Resolves when no call is under way and all bills are written. */
  ended(): Promise<void> {
    return this.#queue.onIdle();
  }

  async #make(call: ModelCall): Promise<ModelAnswer> {
    await this.billing.ready();
    const id = randomUUID();
    await call.reserve?.(id);
    try {
      return await this.#ask(call, id);
    } finally {
      this.#options.ledger.release({ block: call.block, id });
    }
  }

  async #ask(call: ModelCall, id: string): Promise<ModelAnswer> {
    const { provider, model, config } = call.candidate;
    const running = new RunningCall(call, this.#options, this.billing.pricedAs(call.candidate));
    const request = { adapter: provider, model, messages: [...call.messages], stream: true, config };
    const bill = (usage: Usage, failed: boolean) => this.billing.write({ id, ...running.end(usage, failed) }); // billed-first
    let done: ChatDone;
    try {
      done = await this.#options.gateway.pipe(request, running.sink, running.options);
    } catch (error) {
      if (running.refusal !== undefined) throw new CallRefused(running.refusal);
      const failure = toBlockhouseError(error);
      if (!running.text.isCut) {
        throw new ModelCallFailure(failure, failure.usage && (await bill(failure.usage, true)));
      }
      done = { usage: { ...(failure.usage as Usage), estimated: true }, stopReason: 'max_tokens' };
    }
    const { text } = running;
    if (text.isCut) done = { ...done, stopReason: 'max_tokens' }; // cut-answer
    return { content: text.toString(), done, bill: await bill(done.usage, false), isCut: text.isCut };
  }
}

/** A call under way: its text, its times and its abort signal. */
class RunningCall {
  readonly text: AnswerText;
  /** Set when the kill switch kept the call from being made. */
  refusal: Pause | undefined;
  readonly #call: ModelCall;
  readonly #options: Pick<ModelCallsOptions, 'now' | 'halted'>;
  readonly #pricedAs: PricedModel | undefined;
  readonly #startedAt: number;
  #firstTextAt: number | undefined;
  readonly #cut = new AbortController();

  constructor(call: ModelCall, options: Pick<ModelCallsOptions, 'now' | 'halted'>, pricedAs: PricedModel | undefined) {
    this.text = call.text ?? new AnswerText();
    this.#call = call;
    this.#options = options;
    this.#pricedAs = pricedAs;
    this.#startedAt = options.now();
  }

  get options(): CallOptions {
    const { signal, block, messageId } = this.#call;
    return {
      signal: AbortSignal.any([signal, this.#cut.signal]),
      onTurn: () => this.#assertWanted(),
      caller: block,
      messageId: messageId ?? undefined,
      isBilled: true,
    };
  }

  /** Never makes the gateway wait. `opensInMs: 0` leaves the gateway no time for a retry (one-attempt). */
  get sink(): StreamSink {
    const { text } = this;
    return {
      start: () => undefined,
      content: (fragments) => {
        this.#take(fragments.join(''));
        return true;
      },
      onceWritable: (resume) => resume(),
      get opened() {
        return text.length > 0;
      },
      opensInMs: 0,
    };
  }

  end(usage: Usage, failed: boolean): Omit<EndedCall, 'id'> {
    const { block, candidate, purpose, messageId } = this.#call;
    const since = (at: number): number => Math.max(0, at - this.#startedAt);
    const latencyMs = since(this.#options.now());
    const ttftMs = this.#firstTextAt === undefined ? null : since(this.#firstTextAt);
    return { block, candidate, purpose, messageId, pricedAs: this.#pricedAs, usage, failed, latencyMs, ttftMs };
  }

  #take(fragment: string): void {
    this.#firstTextAt ??= this.#options.now();
    const taken = this.text.append(fragment);
    if (taken !== '') this.#call.onText?.(taken);
    if (this.text.isCut) this.#cut.abort(); // cut-answer
  }

  /** asked-last. */
  #assertWanted(): void {
    this.refusal = haltPause(this.#options.halted());
    if (this.refusal !== undefined) throw new BlockhouseError('CANCELLED', this.refusal.reason.message);
  }
}
