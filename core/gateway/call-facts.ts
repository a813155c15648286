// What is told of a call: how far it has come, and at its end all of it. Nothing of what was asked or answered. Pure: no I/O.
import { keptText } from '../base/kept-text.ts';
import type { CoreEvents, FailedAttempt } from '../bus.ts';
import type { BlockhouseError } from '../errors.ts';
import type { Usage } from '../types.ts';
import type { AttemptResult, Call } from './calls/call.ts';
import type { CallState } from './live.ts';

/** What a call has behind it. Moments of the monotonic clock. */
export interface CallPast {
  readonly startedAt: number;
  /** When it first got its place. */
  readonly placedAt: number | undefined;
  /** When the last attempt was sent. */
  readonly sentAt: number | undefined;
  readonly firstTextAt: number | undefined;
  /** How many were made. */
  readonly attempts: number;
  readonly failed: readonly FailedAttempt[] | undefined;
  readonly credential: string | undefined;
  /** Of the last attempt, where providers get the trace. */
  readonly spanId?: string | undefined;
}

/** A call that may ask so many keys of a connection tells of the first ones. */
const MAX_TOLD = 20;

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
  { kind, requestId, adapter, model, tier, caller, key, askedAs, path, reader, traceparent, messageId }: Call<AttemptResult>,
  { startedAt, placedAt, sentAt, firstTextAt, attempts, failed, credential, spanId }: CallPast,
  end: Pick<CoreEvents['call.finished'], 'address' | 'usage' | 'code'> & { readonly now: number },
): CoreEvents['call.finished'] {
  return {
    kind,
    requestId,
    adapter: adapter.id,
    model: keptText(model),
    asked: askedAs === undefined ? undefined : keptText(askedAs),
    path,
    stream: reader !== undefined,
    caller,
    key,
    traceparent,
    address: end.address,
    tier: tier === undefined ? undefined : keptText(tier),
    usage: end.usage,
    costUsd: undefined,
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
