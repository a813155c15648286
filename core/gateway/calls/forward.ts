// A request in the provider's own protocol that has passed all checks, and one attempt at it: bytes go through, usage is read alongside. Pure: no I/O.
//
// verdict-first: the breaker hears how the attempt went before anything that might throw.
import { tryParseJson } from '../../base/json.ts';
import { BlockhouseError, toBlockhouseError } from '../../errors.ts';
import type { AdapterCall, ForwardedRequest, ForwardSink, ForwardTarget, ReportedUsage } from '../../ports.ts';
import type { Usage } from '../../types.ts';
import type { Permit } from '../breaker.ts';
import { type BodySize, bodySize } from '../media-tokens.ts';
import { type Attempt, type AttemptResult, Call, type CallParts, inputUsage, type Reader } from './call.ts';
import { ForwardedUsage } from './forwarded-usage.ts';

interface ForwardParts extends CallParts {
  readonly request: ForwardedRequest;
  readonly target: ForwardTarget;
}

/** One forwarded request as it was accepted. */
export class Forward extends Call<AttemptResult> {
  readonly kind = 'forward';
  readonly request: ForwardedRequest;
  readonly target: ForwardTarget;
  #size: BodySize | undefined;

  constructor(parts: ForwardParts) {
    super(parts);
    this.request = parts.request;
    this.target = parts.target;
  }

  override get reader(): Reader | undefined {
    return this.target.reader;
  }

  override get tier(): string | undefined {
    return this.adapter.forwardedTier?.(this.request);
  }

  override newAttempt(permit: Permit, now: () => number): ForwardAttempt {
    return new ForwardAttempt(this, permit, now);
  }

  protected override content(): Uint8Array {
    return this.request.body;
  }

  override get choices(): number {
    return this.#measured().choices;
  }

  override asksForHourInCache(): boolean {
    return this.request.body.includes('"1h"');
  }

  override inputTokens(): number {
    return this.#measured().tokens;
  }

  #measured(): BodySize {
    const { body, fields } = this.request;
    this.#size ??= bodySize(fields ?? tryParseJson(body.toString()), body.length);
    return this.#size;
  }
}

/** One call of an adapter for a forwarded request. */
class ForwardAttempt implements Attempt<AttemptResult>, ForwardSink {
  firstTextAt: number | undefined;
  readonly #call: Forward;
  readonly #permit: Permit;
  readonly #now: () => number;
  readonly #usage: ForwardedUsage;
  #isStream = false;
  #failure: BlockhouseError | undefined;

  constructor(call: Forward, permit: Permit, now: () => number) {
    this.#call = call;
    this.#permit = permit;
    this.#now = now;
    this.#usage = new ForwardedUsage(() => call.inputTokens());
  }

  make({ settings, egress, timeouts, signal }: AdapterCall): Promise<AttemptResult> {
    const { adapter, request } = this.#call;
    const fail = (error: unknown): never => {
      this.fail(
        signal.aborted
          ? new BlockhouseError('CANCELLED', 'The client closed the connection or aborted the request.', { mayHaveRun: true })
          : toBlockhouseError(error),
      );
      throw error;
    };
    try {
      const done = adapter.forward?.({ settings, egress, timeouts, signal, request, sink: this }) ?? Promise.resolve();
      return done.then(this.#finish, fail);
    } catch (error) {
      return fail(error);
    }
  }

  readonly #finish = (): AttemptResult => {
    if (this.#failure === undefined) this.#permit.succeed();
    return { usage: this.#usage.complete() };
  };

  fail(failure: BlockhouseError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#permit.fail(failure); // verdict-first
  }

  usageSoFar(wasSent = false): Usage | undefined {
    if (this.#usage.isKnown) return this.#usage.soFar();
    return wasSent ? inputUsage(this.#call.inputTokens()) : undefined;
  }

  head(headers: Readonly<Record<string, string>>, isStream: boolean): void {
    this.#isStream = isStream;
    if (this.#failure === undefined) this.#call.target.head(headers, isStream);
  }

  bytes(bytes: Buffer): boolean {
    if (this.#failure !== undefined) return true;
    if (this.firstTextAt === undefined) {
      this.firstTextAt = this.#now();
      this.#permit.succeed();
    }
    if (this.#isStream) this.#usage.frames(bytes);
    else this.#usage.whole(bytes.length);
    return this.#call.target.bytes(bytes);
  }

  onceWritable(resume: () => void): void {
    this.#call.target.onceWritable(resume);
  }

  usage(reported: ReportedUsage): void {
    this.#usage.report(reported);
  }

  unread(bytes: number): void {
    if (this.#failure === undefined) this.#usage.whole(bytes);
  }
}
