// What is told of a call: how far it has come, and at its end all of it. Nothing of what was asked or answered. Pure: no I/O.
import { keptText } from '../base/kept-text.ts';
import { spanWithin } from '../base/traceparent.ts';
import type { CoreBus, CoreEvents, FailedAttempt } from '../bus.ts';
import type { BlockhouseError } from '../errors.ts';
import type { Usage } from '../types.ts';
import type { ConfiguredCall } from './call-settings.ts';
import type { AttemptResult, Call } from './calls/call.ts';
import type { CallState } from './live.ts';

/** What a call has behind it. Moments of the monotonic clock. */
export interface CallPast {
  readonly startedAt: number;
  /** When it first got its place. */
  readonly placedAt: number | undefined;
  /** When the last attempt was sent. */
  readonly sentAt: number | undefined;
  /** When its provider began to answer, if somebody wants to know that. */
  readonly firstByteAt?: number | undefined;
  readonly firstTextAt: number | undefined;
  /** Set if the call names another address than the configured one. */
  readonly address?: string | undefined;
  /** How many were made. */
  readonly attempts: number;
  readonly failed: readonly FailedAttempt[] | undefined;
  readonly credential: string | undefined;
  /** Of the last attempt, where providers get the trace. */
  readonly spanId?: string | undefined;
}

/** A call that may ask so many keys of a connection tells of the first ones. */
const MAX_TOLD = 20;

/** What every fact of a call begins with. */
export function callFact({ kind, number, requestId, adapter, model, caller, key, traceparent }: Call<AttemptResult>) {
  return { kind, call: number, requestId, adapter: adapter.id, model: keptText(model), caller, key, traceparent };
}

/** Whom facts are told to, and the monotonic clock. */
interface Teller {
  readonly bus: CoreBus;
  now(): number;
}

/** True if somebody wants to know of single attempts: else nothing is made of them. */
export function hearsAttempts(bus: CoreBus): boolean {
  return bus.hears('attempt.started') || bus.hears('attempt.ended');
}

/** Tells that an attempt is sent now. Returns when the first byte of its answer has come, which is known later. */
export function tellAttempt(
  { bus, now }: Teller,
  call: Call<AttemptResult>,
  past: CallPast,
  prepared: Pick<ConfiguredCall, 'onAnswer'>,
): { at: number | undefined } {
  const { attempts: attempt, failed, address, credential } = past;
  const { code, next, delayMs } = failed?.at(-1) ?? {};
  bus.emit('attempt.started', { ...callFact(call), attempt, address, credential, ...(code !== undefined && { after: code, next, delayMs }) });
  const firstByte: { at: number | undefined } = { at: undefined };
  prepared.onAnswer = () => {
    firstByte.at ??= now();
  };
  return firstByte;
}

/** Tells that an attempt has ended now; `firstTextAt` is its own. */
export function tellAttemptEnd(
  { bus, now }: Teller,
  call: Call<AttemptResult>,
  { attempts: attempt, sentAt, firstByteAt, firstTextAt, address, credential }: CallPast,
  { code, upstreamStatus }: Pick<CoreEvents['attempt.ended'], 'code' | 'upstreamStatus'>,
): void {
  const end = now();
  const from = sentAt ?? end;
  const times = { durationMs: end - from, firstByteMs: since(from, firstByteAt), firstTextMs: since(from, firstTextAt) };
  bus.emit('attempt.ended', { ...callFact(call), attempt, address, credential, ...times, code, upstreamStatus });
}

/** One that has just failed. */
export function failedAttempt(failure: BlockhouseError, firstTextAt: number | undefined, past: CallPast, now: number): FailedAttempt {
  const { startedAt, sentAt = now, credential, spanId } = past;
  const { code, upstreamStatus } = failure;
  const firstTextMs = since(startedAt, firstTextAt);
  return { sentMs: sentAt - startedAt, endedMs: now - startedAt, firstTextMs, credential, code, upstreamStatus, ...(spanId !== undefined && { spanId }) };
}

/** How far a call has come. */
export function stateOf(
  { kind, requestId, adapter, model, caller, key, messageId, askedAs, path }: Call<AttemptResult>,
  { startedAt, placedAt, sentAt, firstTextAt, attempts, failed, credential }: CallPast,
  { now, isMade, usage }: { readonly now: number; readonly isMade: boolean; readonly usage: Usage | undefined },
): CallState {
  return {
    kind,
    requestId,
    adapter: adapter.id,
    model,
    asked: askedAs,
    path,
    caller,
    key,
    credential,
    messageId,
    phase: isMade ? (firstTextAt === undefined ? 'sent' : 'streaming') : 'waiting',
    attempts,
    failed: told(failed),
    queuedMs: since(startedAt, placedAt),
    sentMs: since(startedAt, sentAt),
    firstTextMs: since(startedAt, firstTextAt),
    durationMs: now - startedAt,
    usage,
  };
}

/** All of a call that has ended. */
export function finishedFact(
  { kind, number, requestId, adapter, model, tier, caller, key, askedAs, path, reader, traceparent, messageId }: Call<AttemptResult>,
  { startedAt, placedAt, sentAt, firstTextAt, attempts, failed, address, credential, spanId }: CallPast,
  end: Pick<CoreEvents['call.finished'], 'usage' | 'code' | 'answer'> & { readonly now: number },
): CoreEvents['call.finished'] {
  return {
    kind,
    call: number,
    requestId,
    adapter: adapter.id,
    model: keptText(model),
    asked: askedAs === undefined ? undefined : keptText(askedAs),
    path,
    stream: reader !== undefined,
    caller,
    key,
    traceparent,
    address,
    tier: tier === undefined ? undefined : keptText(tier),
    usage: end.usage,
    answer: end.answer,
    code: end.code,
    attempts,
    failed: told(failed),
    durationMs: end.now - startedAt,
    queuedMs: since(startedAt, placedAt),
    sentMs: since(startedAt, sentAt),
    firstTextMs: since(startedAt, firstTextAt),
    credential,
    messageId,
    spanId,
  };
}

function told(failed: CallPast['failed']): CallPast['failed'] {
  return failed === undefined || failed.length <= MAX_TOLD ? failed : failed.slice(0, MAX_TOLD);
}

function since(startedAt: number, at: number | undefined): number | undefined {
  return at === undefined ? undefined : at - startedAt;
}

/** Names an attempt as a span of the trace that its request belongs to, and returns the id of that span; undefined without a trace. */
export function addTrace(prepared: ConfiguredCall, traceparent: string | undefined): string | undefined {
  if (traceparent === undefined) return undefined;
  const span = spanWithin(traceparent);
  prepared.traceparent = span.traceparent;
  return span.spanId;
}
