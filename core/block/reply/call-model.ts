// A call of a model on behalf of a block.
//
// billed-first: every call that has, or may have, cost something is in the ledger before its caller gets the outcome, or was handed to it where its caller settles the
//   answer next. If the provider
//   reported no usage (it broke off, was ended, or may have worked on the request without an answer), the gateway estimates it.
// bounded-calls: all monitors together make only so many calls at a time, so that a thousand waiting blocks don't start at once.
// no-shut-out: providers take turns, and the last free place is kept for one that has none (waiting-room.ts), so that answers without an end keep only the blocks of
//   their own provider waiting.
// room-for-others: messages that came with one key have three quarters of the places at most. Else an application that sends long questions to many blocks would keep all
//   others from their answers.
// one-attempt: one call is one attempt. The monitor repeats it, where people see that it waits; the gateway does not.
// own-account: the call has its account with its block, not with the gateway. So its line is in the ledger of blocks alone.
// still-ours: while it is not sure that its block is still this server's, no call begins, since another server may make it, too.
// asked-last: the caps are checked when the call has its place in every queue, and then the kill switch.
// counts-for-its-key: a call for a message that was sent with a key which refuses unknown prices has a known one; else its caps would not count what they pay. The first call of a
//   message is made only while the key has not reached a cap, since any number of its messages may have waited by then. A run that has begun goes on.
// cut-answer: an answer that does not fit into its AnswerText is cut there. The part that fits is the answer, with the stop reason `max_tokens`.
import { randomUUID } from 'node:crypto';
import type { CoreEvents } from '../../bus.ts';
import { BlockhouseError, toBlockhouseError } from '../../errors.ts';
import type { CallAccounts, Hold } from '../../gateway/account.ts';
import type { CallOptions } from '../../gateway/call-options.ts';
import type { PricedModel } from '../../gateway/pricing.ts';
import { AttemptQueue } from '../../gateway/queue.ts';
import type { StreamSink } from '../../ports.ts';
import type { CallPurpose } from '../../schemas/block-costs.ts';
import type { ChatDone, Message, StopReason } from '../../schemas/chat.ts';
import type { HaltState } from '../../schemas/workspace-api.ts';
import type { AssistantMessage, ContentPart, EntryStep, Taint, Tool } from '../../types.ts';
import { CallRefused, haltPause } from '../actor/call-refused.ts';
import type { Candidate } from '../status/candidates.ts';
import { faultReason } from '../status/reasons.ts';
import { AnswerText } from './answer-text.ts';
import { type Bill, Billing, type BillingOptions } from './billing.ts';

/** Until a call is tried again that was not made because the database did not answer. */
const AWAY_WAIT_MS = 1000;

/** A call to make. */
export interface ModelCall {
  readonly block: string;
  readonly candidate: Candidate;
  readonly messages: readonly Message[];
  readonly purpose: CallPurpose;
  readonly messageId: string | null;
  /** The key with which the message was sent: what the call costs counts for it, too. */
  readonly key?: string | undefined;
  /** True if the caller settles the answer next. */
  readonly isSettledNext?: boolean;
  /** Of a run with tools: which call of the model this is, and the tools that it may call. */
  readonly step?: number;
  readonly tools?: readonly Tool[];
  readonly toolChoice?: 'none';
  readonly signal: AbortSignal;
  /** Holds the answer while it grows. Left out if only the whole answer matters. */
  readonly text?: AnswerText;
  /** Called when the call has its place, with the id that its line will have. May wait. Throws CallRefused where a cap forbids the call. */
  reserve?(id: string): Promise<void>;
  /** Called with each fragment once it is in `text`. */
  onText?(fragment: string): void;
}

/** An answer and its bill. */
export interface ModelAnswer {
  /** What the model has said, and called, with the state of its provider: as a later prompt may have it. */
  readonly message: AssistantMessage & { readonly content: readonly ContentPart[] };
  readonly stopReason: StopReason;
  readonly bill: Bill;
  /** True when the model had more to say. */
  readonly isCut: boolean;
  /** What a run with tools has done. Its bill is the sum of its calls, each of which is recorded. */
  readonly run?: { readonly run: number; readonly steps: readonly EntryStep[]; readonly taint: readonly Taint[] };
}

/** The collaborators of `ModelCalls`, and the limit of calls at a time. */
export interface ModelCallsOptions extends BillingOptions {
  halted(): HaltState;
  /** False once another server may have our blocks. */
  isSure(): boolean;
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

const unbilled = new WeakMap<object, ModelAnswer>();

/** A fault that kept the bill of an answer from being written; the ledger writes its line later. Returns the fault. */
function faultWithAnswer(fault: object, answer: ModelAnswer): object {
  unbilled.set(fault, answer);
  return fault;
}

/** The answer to a call that has failed with this fault alone. */
export function answerBehind(fault: unknown): ModelAnswer | undefined {
  return typeof fault === 'object' && fault !== null ? unbilled.get(fault) : undefined;
}

/** The calls of all blocks of a workspace. */
export class ModelCalls {
  readonly billing: Billing;
  readonly #options: ModelCallsOptions;
  /** Its callers are the providers (no-shut-out). */
  readonly #queue: AttemptQueue;
  /** By key, while its messages are answered. room-for-others. */
  readonly #ofKeys = new Map<string, AttemptQueue>();
  readonly #underWay = new Set<Promise<ModelAnswer>>();

  constructor(options: ModelCallsOptions) {
    this.billing = new Billing(options);
    this.#options = options;
    this.#queue = new AttemptQueue({ concurrency: options.concurrency, waiting: Number.POSITIVE_INFINITY }); // bounded-calls
  }

  /** Rejects with a ModelCallFailure, with CallRefused, or with STORAGE_FULL or STORAGE_FAILED where the bill could not be written. */
  async make(call: ModelCall): Promise<ModelAnswer> {
    const made = this.#makeInTurn(call);
    this.#underWay.add(made);
    try {
      return await made;
    } finally {
      this.#underWay.delete(made);
    }
  }

  /** Resolves when no call is under way and all bills are written. */
  async ended(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #makeInTurn(call: ModelCall): Promise<ModelAnswer> {
    // The signal must end only the wait for a place: the queue would not wait for the bill of a running call whose signal has fired.
    const waiting = new AbortController();
    const leave = (): void => waiting.abort();
    call.signal.addEventListener('abort', leave, { once: true });
    if (call.signal.aborted) leave();
    let hasBegun = false;
    const begin = (): Promise<ModelAnswer> => {
      hasBegun = true;
      call.signal.removeEventListener('abort', leave);
      return this.#make(call);
    };
    try {
      return await this.#runInTurn(call, begin, waiting.signal);
    } catch (error) {
      if (hasBegun && (error instanceof ModelCallFailure || error instanceof CallRefused || error instanceof BlockhouseError)) throw error;
      const failure =
        !hasBegun && call.signal.aborted
          ? new BlockhouseError('CANCELLED', 'The call was cancelled while it was waiting.', { cause: error })
          : toBlockhouseError(error);
      throw new ModelCallFailure(failure, undefined);
    } finally {
      call.signal.removeEventListener('abort', leave);
    }
  }

  /** room-for-others: a call has its place among those of its key before it waits for one of all. */
  async #runInTurn({ key, candidate: { provider } }: ModelCall, begin: () => Promise<ModelAnswer>, signal: AbortSignal): Promise<ModelAnswer> {
    const amongAll = (): Promise<ModelAnswer> => this.#queue.run(begin, provider, signal);
    if (key === undefined) return amongAll();
    const { concurrency } = this.#options;
    const most = Math.max(1, concurrency - Math.max(1, Math.floor(concurrency / 4)));
    const line = this.#ofKeys.get(key) ?? new AttemptQueue({ concurrency: most, waiting: Number.POSITIVE_INFINITY });
    this.#ofKeys.set(key, line);
    try {
      return await line.run(amongAll, provider, signal);
    } finally {
      if (line.callers === 0) this.#ofKeys.delete(key);
    }
  }

  async #make(call: ModelCall): Promise<ModelAnswer> {
    const running = new RunningCall(call, this.#options, this.billing);
    try {
      return await this.#ask(call, running);
    } finally {
      await running.refusal; // the reservation may still be under way
      this.#options.ledger.release({ block: call.block, id: running.id });
    }
  }

  async #ask(call: ModelCall, running: RunningCall): Promise<ModelAnswer> {
    const { provider, model, config } = call.candidate;
    const { tools = [], toolChoice } = call;
    const withTools = tools.length === 0 ? {} : { tools, ...(toolChoice !== undefined && { toolChoice }) };
    const request = { adapter: provider, model, messages: [...call.messages], stream: true, config, ...withTools };
    const { text } = running;
    let done: ChatDone | undefined;
    try {
      done = await this.#options.gateway.pipe(request, running.sink, running.options);
    } catch (error) {
      const refusal = await running.refusal;
      if (refusal !== undefined) throw refusal;
      if (!text.isCut) throw new ModelCallFailure(toBlockhouseError(error), await running.bill);
    }
    const { toolCalls, providerMetadata, stopReason = 'max_tokens' } = done ?? {};
    const state = { ...(toolCalls !== undefined && { toolCalls }), ...(providerMetadata !== undefined && { providerMetadata }) };
    const message = { role: 'assistant', content: text.toParts(), ...state } as const;
    const answered = (bill: Bill): ModelAnswer => ({ message, stopReason: text.isCut ? 'max_tokens' : stopReason, bill, isCut: text.isCut }); // cut-answer
    try {
      return answered((await running.bill) as Bill); // billed-first
    } catch (error) {
      const bill = this.billing.unwritten(error);
      throw bill === undefined ? error : faultWithAnswer(error as object, answered(bill));
    }
  }
}

/** A call under way: its text, its account and its abort signal. */
class RunningCall implements CallAccounts, Hold {
  /** That of its line. */
  readonly id = randomUUID();
  readonly readsOn = false;
  readonly countsSilence = true; // else a question that a model reasons about for too long would cost nothing, again and again
  readonly text: AnswerText;
  /** Resolves with what kept the call from being made, once that is known; never rejects. */
  refusal: Promise<unknown> = Promise.resolve();
  /** Set once the call has ended, unless it has cost nothing. */
  bill: Promise<Bill> | undefined;
  readonly #call: ModelCall;
  readonly #options: Pick<ModelCallsOptions, 'halted' | 'isSure' | 'now'>;
  readonly #billing: Billing;
  readonly #pricedAs: PricedModel | undefined;
  readonly #cut = new AbortController();

  constructor(call: ModelCall, options: Pick<ModelCallsOptions, 'halted' | 'isSure' | 'now'>, billing: Billing) {
    this.text = call.text ?? new AnswerText();
    this.#call = call;
    this.#options = options;
    this.#billing = billing;
    this.#pricedAs = billing.pricedAs(call.candidate);
  }

  get options(): CallOptions {
    const { signal, block, messageId, key } = this.#call;
    return { signal: AbortSignal.any([signal, this.#cut.signal]), caller: block, sentWith: key, messageId: messageId ?? undefined, accounts: this };
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

  accept(): Hold {
    return this;
  }

  /** To the gateway, a call that must not be made is one that its caller has left. */
  async reserve(): Promise<void> {
    this.refusal = this.#refusal();
    const refusal = await this.refusal;
    if (refusal !== undefined) throw new BlockhouseError('CANCELLED', 'The call was not made.', { cause: refusal });
  }

  /** asked-last. */
  async #refusal(): Promise<unknown> {
    try {
      await this.#billing.ready();
      const refusal = await this.#refusalOfKey();
      if (refusal !== undefined) return refusal;
      await this.#call.reserve?.(this.id);
    } catch (error) {
      return error instanceof BlockhouseError && error.code === 'STORE_UNREACHABLE' ? this.#later(error) : error;
    }
    const pause = haltPause(this.#options.halted());
    if (pause !== undefined) return new CallRefused(pause);
    return this.#options.isSure() ? undefined : this.#later(new BlockhouseError('STORE_UNREACHABLE', 'The database does not answer, so no model is called.')); // still-ours
  }

  /** counts-for-its-key. Rejects with STORE_UNREACHABLE. */
  async #refusalOfKey(): Promise<ModelCallFailure | undefined> {
    const { key, candidate, step = 1 } = this.#call;
    if (key === undefined) return undefined;
    const { provider, model } = candidate;
    try {
      await this.#billing.assertForKey({ key, provider, model, pricedAs: this.#pricedAs, isFirst: step === 1 });
      return undefined;
    } catch (error) {
      if (!(error instanceof BlockhouseError) || error.code === 'STORE_UNREACHABLE') throw error;
      return new ModelCallFailure(error, undefined); // the message fails, and the next one is answered
    }
  }

  /** A database that is away is no failure of the message, whose attempts it must not use up. */
  #later(fault: BlockhouseError): CallRefused {
    return new CallRefused({ kind: 'wait', until: this.#options.now() + AWAY_WAIT_MS, reason: faultReason(this.#call.block, fault) });
  }

  /** billed-first. */
  settle(end: CoreEvents['call.finished']): void {
    const { call, usage, code, durationMs, firstTextMs, credential } = end;
    if (usage === undefined) return;
    const { block, candidate, purpose, messageId, key, step, isSettledNext } = this.#call;
    const isEndedByUs = code !== undefined && this.text.isCut; // cut-answer
    this.bill = this.#billing.write({
      id: this.id,
      call,
      block,
      candidate,
      purpose,
      messageId,
      key,
      step,
      isSettledNext,
      credential,
      pricedAs: this.#pricedAs,
      usage: isEndedByUs ? { ...usage, estimated: true } : usage,
      latencyMs: Math.round(durationMs),
      ttftMs: firstTextMs === undefined ? null : Math.round(firstTextMs),
      failed: code !== undefined && !isEndedByUs,
    });
    this.bill.catch(() => undefined); // the caller gets the failure
  }

  #take(fragment: string): void {
    const taken = this.text.append(fragment);
    if (taken !== '') this.#call.onText?.(taken);
    if (this.text.isCut) this.#cut.abort(); // cut-answer
  }
}
