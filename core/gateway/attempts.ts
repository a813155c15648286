// The attempts at one call: each waits for its place in the queue, and between two of them none is held.
//
// no-late-wait: A wait for the next attempt never outlasts the time until the stream opens by itself, so that the failure still gets its status.
// opened-is-final: After the reader has begun to get the answer, no further attempt is made.
// made-only: Only the failure of an attempt that was made leads to another one. A full queue, an open breaker and a closing gateway end the request.
// reserve-send-settle: An attempt is sent only after its account has admitted it, which is when it has its place. However the call ends, it is
//   settled once, before its caller gets the outcome: what was sent is paid for. A caller who leaves a call that is read on (read-on.ts) gets it at once.
// next-key: A failure that says something of the key alone is followed by an attempt with another key at once, in the same place, whatever else allows repetitions; only
//   while the caller has got nothing. Where no other key can be used, the call ends.
// fresh-settings: Settings are resolved for each attempt, so that a rotated key serves the next one.
import type { ResolvedSettings } from '../auth/settings.ts';
import { assertOpen, callerLeft, sleep } from '../base/abort.ts';
import type { LinkedList, Place } from '../base/linked-list.ts';
import type { AnswerFacts, CoreBus, FailedAttempt } from '../bus.ts';
import { BlockhouseError, toBlockhouseError, withUsage } from '../errors.ts';
import type { ChatConfig, Usage } from '../schemas/chat.ts';
import type { AccountedCall, CallAccounts, Hold } from './account.ts';
import { sumUsage } from './accumulate.ts';
import { addTrace, callFact, failedAttempt, finishedFact, hearsAttempts, stateOf, tellAttempt, tellAttemptEnd } from './call-facts.ts';
import type { CallSettings, ConfiguredCall } from './call-settings.ts';
import type { Attempt, AttemptResult, Call } from './calls/call.ts';
import type { EntryKeys } from './connections/key-rings.ts';
import { keyFaultOf } from './connections/key-state.ts';
import type { Destination } from './destinations.ts';
import { KeyTurns } from './connections/key-turns.ts';
import type { CallState, LiveCall } from './live.ts';
import { generatedIn, ReadOn, withUnseen } from './read-on.ts';
import { mayHaveRun, retryDelayMs } from './retry.ts';

/** What all requests of a gateway share. */
export interface AttemptsOptions {
  readonly settings: CallSettings;
  readonly bus: CoreBus;
  /** Repetitions of a failed attempt at most; 0 for none. */
  readonly retries: number;
  /** True if providers get the trace of a request. */
  readonly tracesProviders?: boolean | undefined;
  /** What calls for messages of blocks carry. */
  readonly instance?: string | undefined;
  /** Fires when the gateway closes. */
  readonly closing: AbortSignal;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly random: () => number;
  /** The calls under way. */
  readonly live: LinkedList<LiveCall>;
  /** For calls that bring none. */
  readonly accounts: CallAccounts | undefined;
}

/** One call from its acceptance to its end. */
export class Attempts<T extends AttemptResult> implements LiveCall, AccountedCall {
  readonly #call: Call<T>;
  readonly #destination: Destination;
  readonly #options: AttemptsOptions;
  readonly startedAt: number;
  /** Among the calls under way. */
  #place: Place<LiveCall> | undefined;
  #count = 0; // attempts made so far
  #failed: FailedAttempt[] | undefined;
  #firstTextAt: number | undefined;
  /** When it first got its place. */
  #placedAt: number | undefined;
  /** When the last attempt was sent. */
  #sentAt = 0;
  #firstByte: { readonly at: number | undefined } | undefined; // of its answer; known where somebody listens
  /** What the failed attempts are known to have used. */
  #lostUsage: Usage | undefined;
  /** The attempt that is being made. */
  #attempt: Attempt<T> | undefined;
  #wasMade = false; // an attempt was made since the call last asked for a place
  /** Of the last attempt, where providers get the trace. */
  #spanId: string | undefined;
  /** Set where its connection has several keys. */
  #turns: KeyTurns | undefined;
  /** Undefined if nothing limits the call. */
  #hold: Hold | undefined;
  #isNew = true; // it was accepted in this turn of the event loop
  /** Undefined if the call ends when its caller leaves. */
  #readOn: ReadOn | undefined;
  #hasEnded = false;

  constructor(call: Call<T>, destination: Destination, options: AttemptsOptions) {
    this.#call = call;
    this.#destination = destination;
    this.#options = options;
    this.startedAt = options.now();
  }

  get requestId(): string {
    return this.#call.requestId;
  }

  get adapterId(): string {
    return this.#call.adapter.id;
  }

  get model(): string {
    return this.#call.model;
  }

  get config(): ChatConfig | undefined {
    return this.#call.config;
  }

  get address(): string | undefined {
    return this.#destination.address;
  }

  get tier(): string | undefined {
    return this.#call.tier;
  }

  get key(): string | undefined {
    return this.#call.key;
  }

  get askedAs(): string | undefined {
    return this.#call.askedAs;
  }

  get request(): object | undefined {
    return this.#call.ofRequest;
  }

  get hasOutput(): boolean {
    return this.#call.hasOutput;
  }

  get choices(): number {
    return this.#call.choices;
  }

  asksForHourInCache(): boolean {
    return this.#call.asksForHourInCache();
  }

  inputTokens(): number {
    return this.#call.inputTokens();
  }

  usageSoFar(): Usage | undefined {
    return sumUsage(this.#lostUsage, this.#attempt?.usageSoFar());
  }

  get #accounts(): CallAccounts | undefined {
    return this.#call.accounts ?? this.#options.accounts;
  }

  /** Makes attempts until one succeeds or none may follow. Rejects with a BlockhouseError that has the usage of all of them. Throws what `CallAccounts.accept` throws. */
  run<R>(resultOf: (answered: T) => R): Promise<R> {
    const { bus, live } = this.#options;
    try {
      this.#hold = this.#accounts?.accept(this);
    } catch (error) {
      this.#destination.leave();
      throw error;
    }
    if (bus.hears('call.started')) bus.emit('call.started', { ...callFact(this.#call), stream: this.#call.reader !== undefined });
    this.#place = live.add(this);
    if (this.#hold?.readsOn === true) this.#readOn = ReadOn.lend();
    this.#call.accepted(this.#hold);
    const result = this.#next(0, resultOf);
    this.#isNew = false;
    return result;
  }

  /** still-under-way: the call goes on when its caller has left. */
  readonly #goOn = (rest: Promise<T>): AbortSignal | undefined => {
    rest.then(
      ({ usage }) => this.#end(sumUsage(this.#lostUsage, usage), 'CANCELLED'),
      (error: unknown) => void this.#fail(this.#settle(error)),
    );
    if (this.#hasEnded) return undefined; // it was abandoned
    this.#readOn?.begin();
    if (this.#attempt === undefined) return this.#readOn?.until; // nothing is under way, so the call ends by itself
    this.#attempt.leave();
    this.#call.forgetRequest();
    return this.#readOn?.until;
  };

  state(): CallState {
    return stateOf(this.#call, this.#past(), { now: this.#options.now(), isMade: this.#attempt !== undefined, usage: this.usageSoFar() });
  }

  #past() {
    return {
      startedAt: this.startedAt,
      placedAt: this.#placedAt,
      sentAt: this.#count === 0 ? undefined : this.#sentAt,
      firstByteAt: this.#firstByte?.at,
      firstTextAt: this.#firstTextAt ?? this.#attempt?.firstTextAt,
      address: this.#destination.address,
      attempts: this.#count,
      failed: this.#failed,
      credential: this.#turns?.label,
      spanId: this.#spanId,
    };
  }

  stopReading(closing?: BlockhouseError): boolean {
    if (closing === undefined && !this.#call.signal.aborted) return false;
    if (!this.#hasEnded) this.#readOn?.stop(closing);
    return this.#readOn !== undefined;
  }

  /** Settles a call that is still open after the gateway has closed, because its adapter ignores the abort. */
  abandon(): void {
    const usage = sumUsage(this.#lostUsage, this.#attempt === undefined ? undefined : this.#usedBy(this.#attempt, true, false));
    this.#end(usage, 'SHUTTING_DOWN');
  }

  /** Calls itself and does not loop: a function that waits costs a stream more memory than a promise does. */
  #next<R>(retry: number, resultOf: (answered: T) => R): Promise<R> {
    return this.#enqueue().then(
      (answered) => {
        this.#end(sumUsage(this.#lostUsage, answered.usage), undefined, answered.answer);
        return resultOf(answered);
      },
      async (error: unknown) => {
        if (this.#readOn?.hasLeft === true) throw error; // still-under-way
        await this.#untilNext(error, retry);
        return this.#next(retry + 1, resultOf);
      },
    );
  }

  /** Checks at once what need not wait for a place. */
  #enqueue(): Promise<T> {
    this.#wasMade = false;
    try {
      assertOpen(this.#options.closing);
      this.#destination.breaker.assertAdmits(this.#call);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#destination.queue.run(this.#make, this.#call.client, this.#call.signal, this.#readOn && this.#goOn, this.#hold?.places);
  }

  readonly #make = (): Promise<T> => {
    if (this.#count === 0) {
      this.#destination.budget.deposit();
      this.#placedAt = this.#options.now();
    }
    return this.#whenReady(this.#reserve);
  };

  /** What has waited for the key of a program reserves after that, since much may have changed meanwhile. */
  #whenReady(next: () => Promise<T>): Promise<T> {
    return this.#options.settings.ready(this.#call.adapter)?.then(this.#reserve) ?? next();
  }

  /** reserve-send-settle. */
  readonly #reserve = (): Promise<T> => this.#hold?.reserve(this.#isNew)?.then(this.#send) ?? this.#sendNow();
  readonly #send = (): Promise<T> => this.#whenReady(this.#sendNow);

  readonly #sendNow = (): Promise<T> => {
    const { adapter, config, signal } = this.#call;
    const { settings, closing } = this.#options;
    if (signal.aborted) throw callerLeft(signal.reason);
    assertOpen(closing);
    const prepared = settings.configured(adapter, config, signal, this.#readOn?.until); // fresh-settings
    return prepared.keys === undefined ? this.#makeWith(prepared) : this.#makeKeyed(prepared, prepared.keys);
  };

  #makeWith(prepared: ConfiguredCall): Promise<T> {
    const attempt = this.#call.newAttempt(this.#destination.breaker.admit(this.#call), this.#options.now);
    this.#count += 1;
    this.#destination.counts.calls += 1;
    this.#wasMade = true;
    this.#sentAt = this.#options.now();
    this.#attempt = attempt;
    if (hearsAttempts(this.#options.bus)) this.#firstByte = tellAttempt(this.#options, this.#call, this.#past(), prepared);
    if (prepared.countsHops) {
      prepared.hop = this.#call.hop;
      if (this.#call.messageId !== undefined) prepared.instance = this.#options.instance;
    }
    if (this.#options.tracesProviders === true) this.#spanId = addTrace(prepared, this.#call.traceparent) ?? this.#spanId;
    return attempt.make(prepared);
  }

  #makeKeyed(prepared: ConfiguredCall, keys: EntryKeys): Promise<T> {
    this.#turns ??= new KeyTurns(this.#call, this.#options.now);
    const makeWith = (settings: ResolvedSettings): Promise<T> => {
      prepared.settings = settings;
      return this.#makeWith(prepared);
    };
    return this.#turns.make(keys, makeWith, this.#keyFailed) ?? this.#turns.afterWait(keys, [this.#call.signal, this.#options.closing], this.#reserve);
  }

  /** next-key. */
  readonly #keyFailed = (error: unknown): Promise<T> => {
    const { signal, reader } = this.#call;
    const failure = this.#settle(error);
    const next = this.#turns?.failed(failure);
    if (next === undefined || signal.aborted || reader?.opened || this.#destination.breaker.isOpenFor(this.#call)) return Promise.reject(failure);
    if (next !== 'another') return Promise.reject(next);
    this.#tellRetry(failure, this.#count, 0, 'key');
    return this.#make();
  };

  /** Resolves when the time for another attempt has come. When none may follow, the call ends and this rejects with its failure. */
  async #untilNext(error: unknown, retry: number): Promise<void> {
    try {
      await this.#pause(error, retry);
    } catch (final) {
      throw this.#fail(toBlockhouseError(final));
    }
  }

  /** Ends the call with its last failure, which gets the usage of all attempts. */
  #fail(last: BlockhouseError): BlockhouseError {
    const failure = withUsage(last, this.#lostUsage);
    this.#end(failure.usage, failure.code);
    return failure;
  }

  /** Rejects with the failure when no further attempt may follow. */
  async #pause(error: unknown, retry: number): Promise<void> {
    const { signal, reader } = this.#call;
    const failure = this.#settle(error);
    const delayMs = this.#wasMade ? this.#delayMs(failure, retry) : undefined; // made-only
    if (delayMs === undefined) throw failure;
    this.#tellRetry(failure, retry + 1, delayMs);
    this.#hold?.pause?.();
    await sleep(delayMs, signal, this.#options.closing);
    if (reader?.opened) throw failure; // opened-is-final: a keep-alive comment may have opened the stream meanwhile
  }

  #tellRetry({ code, message }: BlockhouseError, attempt: number, delayMs: number, next: FailedAttempt['next'] = 'repeat'): void {
    Object.assign(this.#failed?.at(-1) ?? {}, { next, delayMs });
    this.#options.bus.emit('call.retried', { ...callFact(this.#call), attempt, delayMs, code, error: message });
  }

  /** Milliseconds before the next attempt; undefined if there is no next attempt. */
  #delayMs(failure: BlockhouseError, retry: number): number | undefined {
    const { reader } = this.#call;
    const { breaker, budget } = this.#destination;
    const { retries, random } = this.#options;
    if (reader?.opened || retry >= retries || !this.#call.repeats || breaker.isOpenFor(this.#call)) return undefined; // opened-is-final
    if (this.#turns !== undefined && keyFaultOf(failure) !== undefined) return undefined; // next-key
    const delayMs = retryDelayMs(failure, retry, random);
    if (delayMs === undefined || delayMs >= (reader?.opensInMs ?? Number.POSITIVE_INFINITY)) return undefined; // no-late-wait
    return budget.withdraw(this.#call.client) ? delayMs : undefined;
  }

  /** Ends the attempt that was being made, if there was one, and says what has failed. */
  #settle(error: unknown): BlockhouseError {
    const attempt = this.#attempt;
    const { signal } = this.#call;
    const wasSent = attempt !== undefined && mayHaveRun(error);
    const failure = signal.aborted ? callerLeft(error, wasSent) : toBlockhouseError(error);
    if (attempt === undefined) return this.#wasMade && error instanceof BlockhouseError ? error : failure; // it may have been settled already
    this.#attempt = undefined;
    if (failure.code === 'UPSTREAM_AUTH' && this.#call.config?.apiKey === undefined) this.#options.settings.keyRefused(this.#call.adapter);
    attempt.fail(failure); // its adapter may not have noticed that the caller left
    this.#failed ??= [];
    this.#failed.push(failedAttempt(failure, attempt.firstTextAt, this.#past(), this.#options.now()));
    this.#firstTextAt ??= attempt.firstTextAt;
    this.#tellAttemptEnd(attempt, failure);
    this.#lostUsage = sumUsage(this.#lostUsage, this.#usedBy(attempt, wasSent, failure.isTimeout));
    return failure;
  }

  #tellAttemptEnd({ firstTextAt }: Attempt<T>, failure: Parameters<typeof tellAttemptEnd>[3]): void {
    if (hearsAttempts(this.#options.bus)) tellAttemptEnd(this.#options, this.#call, { ...this.#past(), firstTextAt }, failure);
  }

  /** never-told, timed-out, held-up (read-on.ts). */
  #usedBy(attempt: Attempt<T>, wasSent: boolean, hasTimedOut: boolean): Usage | undefined {
    const used = attempt.usageSoFar(wasSent);
    const { mostUnseen, largestOutput, signal, choices } = this.#call;
    const { isHeldUp } = attempt;
    const counts = this.#readOn !== undefined || (hasTimedOut && this.#hold?.countsSilence === true);
    if (!counts || !wasSent || !(hasTimedOut || isHeldUp || signal.aborted)) return used;
    const most = isHeldUp ? largestOutput : mostUnseen;
    return withUnseen(used, signal.aborted ? most : Math.min(most, generatedIn(this.#options.now() - this.#sentAt) * choices));
  }

  #end(usage: Usage | undefined, code: BlockhouseError['code'] | undefined, answer?: AnswerFacts): void {
    if (this.#hasEnded) return; // it was abandoned
    this.#hasEnded = true;
    this.#readOn?.end();
    this.#destination.leave();
    if (this.#place !== undefined) this.#options.live.leave(this.#place);
    if (usage !== undefined) this.#countUsage(usage);
    if (this.#attempt !== undefined) this.#tellAttemptEnd(this.#attempt, { code });
    const fact = finishedFact(this.#call, this.#past(), { usage, code, answer, now: this.#options.now() });
    this.#options.bus.emit('call.finished', fact);
    this.#accounts?.settle(fact, this, this.#hold); // reserve-send-settle
  }

  #countUsage(usage: Usage): void {
    const { counts } = this.#destination;
    counts.inputTokens += usage.inputTokens;
    counts.cachedTokens += usage.cacheReadTokens ?? 0;
    this.#turns?.count(usage);
  }
}
