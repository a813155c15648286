// A request in the provider's own protocol that has passed all checks, and one attempt at it: bytes go through, usage is read alongside. Pure: no I/O.
//
// verdict-first: the breaker hears how the attempt went before anything that might throw.
import { BlockhouseError, toBlockhouseError } from '../errors.ts';
import type { AdapterCall, ForwardedRequest, ForwardSink, ForwardTarget, ReportedUsage } from '../ports.ts';
import type { Usage } from '../types.ts';
import type { Writable } from '../writable.ts';
import { AcceptedCall, type AcceptedParts, type Answered, type CallAttempt, type Reader } from './accepted-call.ts';
import { FURTHER_COUNTS } from './accumulate.ts';
import type { Trial } from './breaker.ts';

interface AcceptedForwardParts extends AcceptedParts {
  readonly request: ForwardedRequest;
  readonly target: ForwardTarget;
}

/** One forwarded request as it was accepted. */
export class AcceptedForward extends AcceptedCall<Answered> {
  readonly request: ForwardedRequest;
  readonly target: ForwardTarget;

  constructor(parts: AcceptedForwardParts) {
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

  override newAttempt(trial: Trial, now: () => number): ForwardAttempt {
    return new ForwardAttempt(this, trial, now);
  }

  protected override content(): Uint8Array {
    return this.request.body;
  }
}

const COUNTS = ['inputTokens', 'outputTokens', ...FURTHER_COUNTS] as const;
/** In an estimate: of JSON in a request, and of a stream with a frame for each token. */
const BYTES_A_TOKEN = 4;
const STREAM_BYTES_A_TOKEN = 250;

/** One call of an adapter for a forwarded request. */
class ForwardAttempt implements CallAttempt<Answered>, ForwardSink {
  firstTextAt: number | undefined;
  readonly #accepted: AcceptedForward;
  readonly #trial: Trial;
  readonly #now: () => number;
  readonly #reported: { -readonly [K in keyof ReportedUsage]: ReportedUsage[K] } = {};
  #answerBytes = 0;
  #isStream = false;
  #failure: BlockhouseError | undefined;

  constructor(accepted: AcceptedForward, trial: Trial, now: () => number) {
    this.#accepted = accepted;
    this.#trial = trial;
    this.#now = now;
  }

  make({ settings, egress, timeouts, signal }: AdapterCall): Promise<Answered> {
    const { adapter, request } = this.#accepted;
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

  readonly #finish = (): Answered => {
    if (this.#failure === undefined) this.#trial.succeed();
    return { usage: this.#usage() };
  };

  fail(failure: BlockhouseError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#trial.fail(failure); // verdict-first
  }

  usageSoFar(): Usage | undefined {
    const isKnown = this.#answerBytes > 0 || Object.values(this.#reported).some((count) => count !== undefined);
    return isKnown ? this.#usage() : undefined;
  }

  head(headers: Readonly<Record<string, string>>, isStream: boolean): void {
    this.#isStream = isStream;
    if (this.#failure === undefined) this.#accepted.target.head(headers, isStream);
  }

  bytes(bytes: Buffer): boolean {
    if (this.#failure !== undefined) return true;
    if (this.firstTextAt === undefined) {
      this.firstTextAt = this.#now();
      this.#trial.succeed();
    }
    this.#answerBytes += bytes.length;
    return this.#accepted.target.bytes(bytes);
  }

  onceWritable(resume: () => void): void {
    this.#accepted.target.onceWritable(resume);
  }

  usage(reported: ReportedUsage): void {
    for (const name of COUNTS) this.#reported[name] = reported[name] ?? this.#reported[name];
    if (reported.unpricedTier === true) this.#reported.unpricedTier = true;
  }

  /** What the provider has not reported is estimated from the length. */
  #usage(): Usage {
    const { inputTokens, outputTokens, unpricedTier } = this.#reported;
    const input = inputTokens ?? Math.ceil(this.#accepted.request.body.length / BYTES_A_TOKEN);
    const output = outputTokens ?? Math.ceil(this.#answerBytes / (this.#isStream ? STREAM_BYTES_A_TOKEN : BYTES_A_TOKEN));
    const usage: Writable<Usage> = { inputTokens: input, outputTokens: output, totalTokens: input + output };
    for (const name of FURTHER_COUNTS) {
      const count = this.#reported[name];
      if (count !== undefined) usage[name] = count;
    }
    if (inputTokens === undefined || outputTokens === undefined) usage.estimated = true;
    if (unpricedTier === true) usage.unpricedTier = true;
    return usage;
  }
}
