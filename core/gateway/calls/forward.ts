// A request in the provider's own protocol that has passed all checks, and one attempt at it: bytes go through, usage is read alongside. Pure: no I/O.
//
// verdict-first: the breaker hears how the attempt went before anything that might throw.
import { tryParseJson } from '../../base/json.ts';
import type { Writable } from '../../base/writable.ts';
import type { AnswerFacts } from '../../bus.ts';
import { BlockhouseError, toBlockhouseError } from '../../errors.ts';
import type { AdapterCall, ContentTap, ForwardedAnswer, ForwardedRequest, ForwardSink, ForwardTarget, ReportedUsage } from '../../ports.ts';
import type { Usage } from '../../types.ts';
import { ANSWER_LIMITS } from '../answer-limits.ts';
import type { Permit } from '../breaker.ts';
import { bodyTokens } from '../media-tokens.ts';
import { HoldUps } from '../read-on.ts';
import { type Attempt, type AttemptResult, Call, type CallParts, inputUsage, type Reader } from './call.ts';
import { ForwardedUsage } from './forwarded-usage.ts';

interface ForwardParts extends CallParts {
  readonly request: ForwardedRequest;
  readonly target: ForwardTarget;
  /** Undefined unless somebody reads what is asked and answered. */
  readonly tap?: ContentTap | undefined;
}

/** Of a longer request, what it was parsed to is not kept while it waits and runs: that may take twenty times the memory of its bytes, and room is counted for the bytes alone. */
const LONG_BODY_BYTES = 64 * 1024;
/** Stands for an object or a list that a member at the top had. */
const THERE = {};
/** What asks for an hour in the cache, escaped or not. */
const HOURS = ['"1h"', '"\\u0031h"', '"1\\u0068"', '"\\u0031\\u0068"'];

/** One forwarded request as it was accepted. */
export class Forward extends Call<AttemptResult> {
  readonly kind = 'forward';
  readonly request: ForwardedRequest;
  readonly target: ForwardTarget;
  readonly #answer: ForwardedAnswer;
  readonly #tap: ContentTap | undefined;
  #tokens: number | undefined;

  constructor(parts: ForwardParts) {
    super(parts);
    this.request = parts.request;
    this.target = parts.target;
    this.#tap = parts.tap;
    this.#answer = this.adapter.forwardedAnswer?.(this.request) ?? {};
    if (this.request.body.length > LONG_BODY_BYTES && this.#tap === undefined) this.#keepPlainFields();
  }

  /** Its tokens and its conversation are known from then on. */
  #keepPlainFields(): void {
    const { fields } = this.request;
    if (fields === undefined) return;
    this.inputTokens();
    this.conversation();
    const plain: Record<string, unknown> = {};
    for (const name in fields) plain[name] = typeof fields[name] === 'object' && fields[name] !== null ? THERE : fields[name];
    (this.request as Writable<ForwardedRequest>).fields = plain;
  }

  override get reader(): Reader | undefined {
    return this.target.reader;
  }

  override get tier(): string | undefined {
    return this.adapter.forwardedTier?.(this.request);
  }

  override newAttempt(permit: Permit, now: () => number): ForwardAttempt {
    const { number: call, traceparent, caller, request } = this;
    const { path, body, fields } = request;
    return new ForwardAttempt(this, permit, now, this.#tap?.beginForward?.({ call, traceparent, caller, path, body, fields }));
  }

  protected override conversationParts(): Readonly<Record<string, unknown>> {
    return this.request.fields ?? {};
  }

  protected override content(): Uint8Array {
    return this.request.body;
  }

  override get choices(): number {
    return this.#answer.choices ?? 1;
  }

  override asksForHourInCache(): boolean {
    const { body } = this.request;
    return HOURS.some((hour) => body.includes(hour));
  }

  protected override get outputLimit(): number | undefined {
    return this.#answer.limit;
  }

  /** Its tokens are known from then on. */
  override forgetRequest(): void {
    this.inputTokens();
    const request = this.request as Writable<ForwardedRequest>;
    request.body = Buffer.alloc(0);
    request.fields = { stream: request.fields?.['stream'] };
  }

  override inputTokens(): number {
    const { body, fields } = this.request;
    this.#tokens ??= bodyTokens(fields ?? tryParseJson(body.toString()), body.length);
    return this.#tokens;
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
  /** What has come since the caller left, in bytes; undefined while there is one. */
  #readOn: number | undefined;
  /** Goes on with an answer that waits for the caller's sink. */
  #resume: (() => void) | undefined;
  readonly #holdUps: HoldUps;
  #answer: AnswerFacts | undefined;
  #failure: BlockhouseError | undefined;
  readonly #take: ((bytes: Buffer) => void) | undefined;

  constructor(call: Forward, permit: Permit, now: () => number, take: ((bytes: Buffer) => void) | undefined) {
    this.#call = call;
    this.#take = take;
    this.#permit = permit;
    this.#now = now;
    this.#holdUps = new HoldUps(now);
    this.#usage = new ForwardedUsage(() => call.inputTokens());
  }

  make({ settings, egress, timeouts, signal, until, hop, traceparent, onAnswer }: AdapterCall): Promise<AttemptResult> {
    const { adapter, request, client } = this.#call;
    const fail = (error: unknown): never => {
      this.fail(
        signal.aborted
          ? new BlockhouseError('CANCELLED', 'The client closed the connection or aborted the request.', { mayHaveRun: true })
          : toBlockhouseError(error),
      );
      throw error;
    };
    try {
      const done =
        adapter.forward?.({ settings, egress, timeouts, signal, until, hop, traceparent, onAnswer, client, request, sink: this }) ?? Promise.resolve();
      return done.then(this.#finish, fail);
    } catch (error) {
      return fail(error);
    }
  }

  readonly #finish = (): AttemptResult => {
    if (this.#failure === undefined) this.#permit.succeed();
    return { usage: this.#usage.complete(), answer: this.#answer };
  };

  fail(failure: BlockhouseError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#permit.fail(failure); // verdict-first
  }

  leave(): void {
    this.#readOn = 0;
    this.#resume?.();
  }

  usageSoFar(wasSent = false): Usage | undefined {
    if (this.#usage.isKnown) return this.#usage.soFar();
    return wasSent ? inputUsage(this.#call.inputTokens()) : undefined;
  }

  head(headers: Readonly<Record<string, string>>, isStream: boolean): void {
    this.#isStream = isStream;
    if (this.#failure === undefined && this.#readOn === undefined) this.#call.target.head(headers, isStream);
  }

  bytes(bytes: Buffer): boolean {
    if (this.#failure !== undefined) return true;
    if (this.firstTextAt === undefined) {
      this.firstTextAt = this.#now();
      this.#permit.succeed();
    }
    this.#take?.(bytes);
    if (this.#isStream) this.#usage.frames(bytes);
    else this.#usage.whole(bytes.length);
    return this.#readOn === undefined ? this.#call.target.bytes(bytes) : this.#discard(this.#readOn + bytes.length);
  }

  /** bounded (read-on.ts). */
  #discard(readOn: number): boolean {
    this.#readOn = readOn;
    if (readOn > ANSWER_LIMITS.stream)
      throw new BlockhouseError('UPSTREAM_MALFORMED', `The provider sent more than ${ANSWER_LIMITS.stream} bytes after the client had left.`, {
        mayHaveRun: true,
      });
    return true;
  }

  onceWritable(resume: () => void): void {
    this.#resume = this.#holdUps.begin(resume);
    this.#call.target.onceWritable(this.#resume);
  }

  get isHeldUp(): boolean {
    return this.#holdUps.areLong;
  }

  answered(facts: AnswerFacts): void {
    this.#answer = this.#answer === undefined ? facts : { ...this.#answer, ...facts };
  }

  usage(reported: ReportedUsage): void {
    this.#usage.report(reported);
  }

  unread(bytes: number): void {
    if (this.#failure === undefined) this.#usage.whole(bytes);
  }
}
