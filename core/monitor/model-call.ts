// A call of a model on behalf of a block, and its bill.
//
// B1 Every call that cost something is in the ledger before anything else is told of it; a call that failed, too, when usage is known.
//    Of one that was ended, what came of it is estimated: the provider bills that as well.
// B2 Monitors together make so many calls at a time: a start with a thousand waiting blocks is no herd.
// B3 One call is one attempt. The monitor repeats it, where people see that it waits; the gateway does not.
// B4 An answer whose bill can't be written is not given: it would lift the caps. No model failed then, and another one would fare no better.
//    Until the ledger takes it, no further call is made.
// B5 The kill switch is asked when the call has its place everywhere and is about to be made, the caps right before that.
import PQueue from 'p-queue';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError, toBlockhouseError } from '../errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Prices } from '../gateway/pricing.ts';
import type { StreamSink } from '../ports.ts';
import type { BlockConfig, CallPurpose } from '../schemas/block.ts';
import type { HaltState } from '../schemas/block-api.ts';
import type { ChatConfig, ChatDone, Message, Usage } from '../schemas/chat.ts';
import type { Ledger } from '../workspace/ledger.ts';
import type { Reservation } from '../workspace/reservations.ts';
import type { ReplyOutcome } from '../block/machine-setup.ts';
import { haltReason } from './reasons.ts';
import { estimateTokens } from './window.ts';

/** Who may answer: `adapter` or one of `fallbacks` of a configuration. */
export interface Candidate {
  readonly provider: string;
  readonly model: string;
  readonly config: ChatConfig;
}

/** The first, and the fallbacks in their order. What is set for the first one's place does not hold for another's. */
export function candidatesOf({ adapter, fallbacks }: BlockConfig): Candidate[] {
  if (adapter === null) return [];
  const { provider, model, maxTokens, temperature, cacheControl, baseURL, region } = adapter;
  const common = {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(cacheControl === true && { cacheControl }),
  };
  const place = { ...(baseURL !== undefined && { baseURL }), ...(region !== undefined && { region }) };
  return [{ provider, model, config: { ...common, ...place } }, ...fallbacks.map((other) => ({ ...other, config: common }))];
}

export interface ModelCall {
  readonly block: string;
  readonly candidate: Candidate;
  readonly messages: readonly Message[];
  readonly purpose: CallPurpose;
  readonly messageId: string | null;
  readonly signal: AbortSignal;
  /** Called when the call has its turn, and may wait. Throws CallRefused where a cap forbids the call. */
  reserve?(): Promise<Reservation | undefined>;
  onText?(text: string): void;
}

export interface ModelAnswer {
  readonly content: string;
  readonly done: ChatDone;
  readonly bill: Bill;
}

export interface Bill {
  readonly at: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage | null;
  /** USD; null when the price is not known. */
  readonly costUsd: number | null;
  readonly latencyMs: number;
  /** Milliseconds to the first text; null when there was none. */
  readonly ttftMs: number | null;
  readonly failed: boolean;
}

interface BillFacts extends Pick<Bill, 'latencyMs' | 'ttftMs' | 'failed'> {
  readonly pricesAs: string | undefined;
}

export interface ModelCallsOptions {
  readonly gateway: Gateway;
  readonly ledger: Ledger;
  readonly prices: Prices;
  readonly bus: CoreBus;
  /** Epoch milliseconds. */
  now(): number;
  halted(): HaltState;
  readonly concurrency: number;
}

/** A call that failed; `bill` where it cost something. */
export class ModelCallFailure extends Error {
  readonly failure: BlockhouseError;
  readonly bill: Bill | undefined;

  constructor(failure: BlockhouseError, bill: Bill | undefined) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.bill = bill;
  }
}

export type Pause = Extract<ReplyOutcome, { readonly kind: 'pause' }>;

/** No model was called: the kill switch, or a cap, forbids it. */
export class CallRefused extends Error {
  readonly pause: Pause;

  constructor(pause: Pause) {
    super(pause.reason.message);
    this.pause = pause;
  }
}

/** What the kill switch demands. */
export function haltPause(halt: HaltState): Pause | undefined {
  return halt.halted ? { kind: 'pause', until: null, reason: haltReason(halt), actor: 'user' } : undefined;
}

export class ModelCalls {
  readonly #options: ModelCallsOptions;
  readonly #queue: PQueue;

  constructor(options: ModelCallsOptions) {
    this.#options = options;
    this.#queue = new PQueue({ concurrency: options.concurrency }); // B2
  }

  /**
   * Rejects with a ModelCallFailure, with CallRefused (B5), or with STORAGE_FULL or STORAGE_FAILED where a bill could not be written (B4).
   * What `onText` was told of a call that fails is void.
   */
  async make(call: ModelCall): Promise<ModelAnswer> {
    // The queue would not wait for the end, and the bill, of a call that is ended while it runs.
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
      const failure = call.signal.aborted ? new BlockhouseError('CANCELLED', 'It was ended while it waited.', { cause: error }) : toBlockhouseError(error);
      throw new ModelCallFailure(failure, undefined);
    } finally {
      call.signal.removeEventListener('abort', leave);
    }
  }

  /** Rejects with STORAGE_FULL or STORAGE_FAILED while a bill can't be written (B4). */
  async ready(): Promise<void> {
    await this.#options.ledger.ready().catch(ledgerFault);
  }

  /** Resolves when no call is under way, and each has its bill. */
  ended(): Promise<void> {
    return this.#queue.onIdle();
  }

  /** What a call of this size would cost at most; null when the price is not known. */
  async worstCase(candidate: Candidate, inputTokens: number): Promise<{ usd: number | null; tokens: number }> {
    const outputTokens = candidate.config.maxTokens ?? DEFAULT_MAX_TOKENS;
    const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
    return { usd: await this.#price(this.#pricesAs(candidate), candidate.model, usage), tokens: usage.totalTokens };
  }

  /** B4, B5. */
  async #make(call: ModelCall): Promise<ModelAnswer> {
    await this.ready();
    const reservation = await call.reserve?.();
    try {
      return await this.#ask(call, reservation);
    } finally {
      reservation?.release();
    }
  }

  async #ask(call: ModelCall, reservation: Reservation | undefined): Promise<ModelAnswer> {
    const { gateway, now } = this.#options;
    const { provider, model, config } = call.candidate;
    // As it is when the call begins: by its end the credentials may be others.
    const pricesAs = this.#pricesAs(call.candidate);
    const startedAt = now();
    let firstTextAt: number | undefined;
    let content = '';
    const sink = collect((text) => {
      firstTextAt ??= now();
      content += text;
      call.onText?.(text);
    });
    const facts = () => ({
      pricesAs,
      latencyMs: Math.max(0, now() - startedAt),
      ttftMs: firstTextAt === undefined ? null : Math.max(0, firstTextAt - startedAt),
    });
    let done: ChatDone;
    let halt: Pause | undefined;
    const assertWanted = (): void => {
      halt = haltPause(this.#options.halted());
      if (halt !== undefined) throw new BlockhouseError('CANCELLED', halt.reason.message);
    };
    try {
      const request = { adapter: provider, model, messages: [...call.messages], stream: true, config };
      done = await gateway.pipe(request, sink, { signal: call.signal, onTurn: assertWanted });
    } catch (error) {
      if (halt !== undefined) throw new CallRefused(halt);
      const failure = toBlockhouseError(error);
      const usage = failure.usage ?? (content === '' ? undefined : estimate(call.messages, content)); // B1
      throw new ModelCallFailure(failure, usage === undefined ? undefined : await this.#bill(call, usage, { ...facts(), failed: true }, reservation));
    }
    return { content, done, bill: await this.#bill(call, done.usage, { ...facts(), failed: false }, reservation) };
  }

  /** B1. */
  async #bill(call: ModelCall, usage: Usage, { pricesAs, ...facts }: BillFacts, reservation: Reservation | undefined): Promise<Bill> {
    const { ledger, bus, now } = this.#options;
    const { block, purpose, messageId, candidate } = call;
    const { provider, model } = candidate;
    const costUsd = await this.#price(pricesAs, model, usage);
    const at = new Date(now()).toISOString();
    const line = { at, block, provider, model, purpose, usage, costUsd, messageId, ...(facts.failed && { failed: true as const }) };
    await ledger.append(line, reservation).catch(ledgerFault);
    bus.emit('call.billed', { block, provider, model, purpose, usage, costUsd });
    return { at, provider, model, usage, costUsd, ...facts };
  }

  async #price(pricesAs: string | undefined, model: string, usage: Usage): Promise<number | null> {
    return pricesAs === undefined ? null : this.#options.prices.price({ provider: pricesAs, model, usage });
  }

  /** The name of a provider in the price data; undefined for one that there is not, and for another server under its adapter. */
  #pricesAs({ provider, config }: Candidate): string | undefined {
    const { gateway } = this.#options;
    try {
      return gateway.stand(provider, config, 'adapter').isOwnHost ? gateway.adapter(provider).pricesAs : undefined;
    } catch (error) {
      // Written by hand: its call fails, and says why.
      if (toBlockhouseError(error).code === 'INVALID_REQUEST') return undefined;
      throw error;
    }
  }
}

/** B4. */
function ledgerFault(error: unknown): never {
  if (error instanceof BlockhouseError) throw error;
  const { code, message } = error as NodeJS.ErrnoException;
  throw new BlockhouseError('STORAGE_FAILED', `ledger.jsonl can't be written (${code ?? message}).`, { cause: error });
}

function estimate(messages: readonly Message[], content: string): Usage {
  const inputTokens = messages.reduce((sum, message) => sum + estimateTokens(message.content ?? ''), 0);
  const outputTokens = estimateTokens(content);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, estimated: true };
}

const DEFAULT_MAX_TOKENS = 4096;

/** A reader that takes everything at once. It opens by itself at once, which leaves the gateway no time to repeat anything (B3). */
function collect(onText: (text: string) => void): StreamSink {
  let opened = false;
  return {
    start: () => undefined,
    content: (fragments) => {
      opened = true;
      onText(fragments.join(''));
      return true;
    },
    onceWritable: (resume) => resume(),
    get opened() {
      return opened;
    },
    opensInMs: 0,
  };
}
