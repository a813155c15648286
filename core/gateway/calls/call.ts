// A call that has passed all checks: what attempts at it need to know, whatever it asks for. Pure: no I/O.
import { createHash } from 'node:crypto';
import { prefixed } from '../../base/kept-text.ts';
import { newCallNumber } from '../../base/request-id.ts';
import { traceparentIn } from '../../base/traceparent.ts';
import type { AnswerFacts, CallKind } from '../../bus.ts';
import type { BlockhouseError } from '../../errors.ts';
import type { Adapter, AdapterCall, StreamSink } from '../../ports.ts';
import type { ChatConfig, Usage } from '../../types.ts';
import type { CallAccounts, Hold } from '../account.ts';
import type { Permit, Sourced } from '../breaker.ts';
import type { CallOptions } from '../call-options.ts';
import { conversationOf } from '../conversation.ts';
import { hopsIn } from '../hops.ts';
import { LARGEST_LIMIT, LARGEST_OUTPUT } from '../read-on.ts';
import { NOBODY } from '../tally.ts';

/** Hashing tens of megabytes would hold up others, each time when a call fails. */
const HASHED_BYTES = 1024 * 1024;

function digestOf(content: string | Uint8Array): string {
  const hash = createHash('sha256');
  if (typeof content === 'string' || content.length <= HASHED_BYTES) return hash.update(content).digest('base64');
  const half = HASHED_BYTES / 2;
  return hash.update(`${content.length}`).update(content.subarray(0, half)).update(content.subarray(-half)).digest('base64');
}

/** Of a longer text, the length, the beginning and the end are hashed. */
const HASHED_LENGTH = 1024;

/** For JSON.stringify: long texts by what is hashed of them. */
export function shortened(_name: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= HASHED_LENGTH) return value;
  return [value.length, value.slice(0, HASHED_LENGTH / 2), value.slice(-HASHED_LENGTH / 2)];
}

/** What every attempt that succeeds has. */
export interface AttemptResult {
  readonly usage: Usage | undefined;
  /** What the provider says of its answer. */
  readonly answer?: AnswerFacts | undefined;
}

/** One attempt at a call. */
export interface Attempt<T extends AttemptResult> {
  /** When the first part of the answer came. */
  readonly firstTextAt: number | undefined;
  /** Calls the adapter. Throws at once what the adapter throws at once. */
  make(call: AdapterCall): Promise<T>;
  /** The caller has left, and the answer is read on: from now on it is counted, and handed to nobody. */
  leave(): void;
  /** The attempt has failed, or the request has ended without it. Later calls say nothing more. */
  fail(failure: BlockhouseError): void;
  /** True if its caller has read so slowly that the provider had to wait (held-up). */
  readonly isHeldUp: boolean;
  /** What the attempt has surely used so far; undefined when nothing is known of it. With `wasSent`, a request of whose answer nothing is known counts, too. */
  usageSoFar(wasSent?: boolean): Usage | undefined;
}

/** What a provider bills for a request of which no answer is known: its input, by estimate. */
export function inputUsage(inputTokens: number): Usage {
  return { inputTokens, outputTokens: 0, totalTokens: inputTokens, estimated: true };
}

/** The caller's side of an answer that goes out while it comes. */
export type Reader = Pick<StreamSink, 'opened' | 'opensInMs'>;

/** A key among the callers of a destination. */
export const keyCaller = prefixed('key ');

/** An application that asks itself and through blocks is one client: what it asks in vain must pause nothing for others. */
function clientOf({ caller, sentWith, key = sentWith }: CallOptions): string {
  if (key !== undefined) return keyCaller(key);
  return caller === undefined ? 'token' : `block ${caller}`;
}

/** What is known of a call before its first attempt. */
export interface CallParts {
  readonly adapter: Adapter;
  readonly model: string;
  /** Settings of this call alone. */
  readonly config?: ChatConfig | undefined;
  readonly signal: AbortSignal;
  readonly requestId: string;
  readonly options: CallOptions;
}

/** One call. `Attempts` makes its attempts. */
export abstract class Call<T extends AttemptResult> implements Sourced {
  abstract readonly kind: CallKind;
  /** Which no other call of this server has. */
  readonly number = newCallNumber();
  readonly adapter: Adapter;
  readonly model: string;
  readonly config: ChatConfig | undefined;
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** False for a call that is answered without output. */
  readonly hasOutput: boolean = true;
  /** Who has to share places and is paused for its own failures: a key, a block, or all programs with the token. */
  readonly client: string;
  /** The span that it belongs to, if its request names one. */
  readonly traceparent: string | undefined;
  readonly #options: CallOptions;
  #promptHash: string | undefined;
  #conversation: string | undefined;

  constructor({ adapter, model, config, signal, requestId, options }: CallParts) {
    this.adapter = adapter;
    this.model = model;
    this.config = config;
    this.signal = signal;
    this.requestId = requestId;
    this.client = clientOf(options);
    this.#options = options;
    this.traceparent = traceparentIn(options.headers);
  }

  /** What may say which conversation the call belongs to: the request, and the headers besides; undefined for a call that is none. */
  protected abstract conversationParts(): Readonly<Record<string, unknown>> | undefined;

  /** Which conversation of its client the call belongs to; undefined for none. A block has one. Worked out once, and only where it makes a difference. */
  conversation(): string | undefined {
    const { conversation, caller, headers } = this.#options;
    if (conversation !== undefined) return conversation;
    if (caller !== undefined) return caller;
    if (this.#conversation !== undefined) return this.#conversation;
    const parts = this.conversationParts();
    this.#conversation = parts && conversationOf(headers, parts);
    return this.#conversation;
  }

  /** Undefined if the caller wants the whole answer. */
  abstract get reader(): Reader | undefined;

  /** True if the answer comes in one. */
  get isWhole(): boolean {
    return this.reader === undefined;
  }

  abstract newAttempt(permit: Permit, now: () => number): Attempt<T>;

  /** What tells this request from others. Of long bytes, the length, the beginning and the end count. */
  protected abstract content(): string | Uint8Array;

  /** The tokens of the input, by estimate. */
  abstract inputTokens(): number;

  /** The most output that the request allows one answer to have; undefined if it sets no limit. */
  protected abstract get outputLimit(): number | undefined;

  /** The most output tokens that may have been generated of an answer that broke off, without a trace of them in it (never-told). */
  get mostUnseen(): number {
    return !this.isWhole && this.adapter.openModels?.test(this.model) === true ? 0 : this.largestOutput;
  }

  /** The most output tokens that the request allows. */
  get largestOutput(): number {
    return this.hasOutput ? Math.min(this.outputLimit ?? LARGEST_OUTPUT, LARGEST_LIMIT) * this.choices : 0;
  }

  /** Lets go of what was sent, which may be large: the caller has left, and only the rest of the answer is of interest. */
  forgetRequest(): void {}

  /** What its account lets it be sent with, if anything limits it. A call that goes out in parts asks it before each further part. */
  accepted(_hold: Hold | undefined): void {}

  /** As `AccountedCall` says. */
  asksForHourInCache(): boolean {
    return false;
  }

  /** How many servers the request has passed with this one. */
  get hop(): number {
    return hopsIn(this.#options.headers) + 1;
  }

  /** Who makes the call, if the caller says so. */
  get caller(): string | undefined {
    return this.#options.caller;
  }

  /** The message of the block that makes the call. */
  get messageId(): string | undefined {
    return this.#options.messageId;
  }

  /** How many answers it asks for. */
  get choices(): number {
    return 1;
  }

  /** The processing tier that it asks for. */
  get tier(): string | undefined {
    return this.config?.serviceTier;
  }

  /** The name of the client's key. */
  get key(): string | undefined {
    return this.#options.key;
  }

  /** The name by which the client has asked for the model. */
  get askedAs(): string | undefined {
    return this.#options.askedAs;
  }

  /** The path that the client has called. */
  get path(): string | undefined {
    return this.#options.path;
  }

  /** The same for all models that are asked for one request. */
  get ofRequest(): object | undefined {
    return this.#options.ofRequest;
  }

  /** True if a failed attempt may be followed by another. */
  get repeats(): boolean {
    return this.#options.repeats ?? true;
  }

  /** Undefined if the gateway keeps the account of the call. */
  get accounts(): CallAccounts | undefined {
    return this.#options.accounts;
  }

  /**
   * A hash of the request where programs share one identity, and nothing otherwise. Worked out when something fails: a hash costs more than the rest of a
   * small request.
   */
  get promptHash(): string {
    if (this.key !== undefined || this.caller !== undefined) return NOBODY;
    this.#promptHash ??= digestOf(this.content());
    return this.#promptHash;
  }
}
