// Gemini's errors: Google's `{"error": {code, message, status, details}}`, as a body (sometimes in an array) or
// as a record of a stream. Pure: no I/O.
import { clampRetryAfter } from '../../core/index.ts';
import { type ErrorAnswer, fallbackMessage, kindOfStatus, type ProviderError, type ProviderErrorKind } from '../shared/provider-errors.ts';
import { asArray, asObject, asString } from '../shared/read.ts';

/** HTTP statuses of Google's status names, for a record that has no code. Source: google/rpc/code.proto. */
const CODES = new Map([
  ['INVALID_ARGUMENT', 400],
  ['FAILED_PRECONDITION', 400],
  ['OUT_OF_RANGE', 400],
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['NOT_FOUND', 404],
  ['RESOURCE_EXHAUSTED', 429],
  ['CANCELLED', 499],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
]);

/** Reads an answer with an error status. */
export function readError(answer: ErrorAnswer): ProviderError {
  return toProviderError(answer.status, errorOf(answer.json), fallbackMessage(answer));
}

/** An error after HTTP 200: the record's own code replaces the status. */
export function recordError(record: unknown): ProviderError {
  const error = errorOf(record);
  const code = typeof error['code'] === 'number' && error['code'] >= 400 ? error['code'] : CODES.get(asString(error['status']) ?? '');
  return toProviderError(code ?? 500, error, 'it reported an error without a message');
}

function errorOf(json: unknown): Record<string, unknown> {
  return asObject(asObject(Array.isArray(json) ? json[0] : json)['error']);
}

function toProviderError(status: number, error: Record<string, unknown>, fallback: string): ProviderError {
  const message = asString(error['message']) ?? fallback;
  const details = asArray(error['details']).map(asObject);
  const kind = kindOf(status, error, message, details);
  const retryAfterMs = retryDelay(details);
  return {
    kind,
    message,
    ...(kind === 'rateLimited' && isDaily(message, details) && { retryable: false }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** A bad key is a 400 here. A 400 FAILED_PRECONDITION is about region or billing, even if its text mentions keys. */
function kindOf(status: number, error: Record<string, unknown>, message: string, details: readonly Record<string, unknown>[]): ProviderErrorKind {
  if (status !== 400 || error['status'] === 'FAILED_PRECONDITION') return kindOfStatus(status);
  const blamesKey = details.some((detail) => detail['reason'] === 'API_KEY_INVALID') || /\bAPI key\b/i.test(message);
  return blamesKey ? 'auth' : 'rejected';
}

/** A daily quota stays exhausted after the wait that the same answer suggests. Its id is like `GenerateRequestsPerDayPerProject…`. */
function isDaily(message: string, details: readonly Record<string, unknown>[]): boolean {
  const violations = details.flatMap((detail) => asArray(detail['violations'])).flatMap((violation) => Object.values(asObject(violation)));
  return [message, ...violations].some((text) => asString(text)?.includes('PerDay'));
}

/** RetryInfo's protobuf duration, as in "34s" or "34.07s". */
function retryDelay(details: readonly Record<string, unknown>[]): number | undefined {
  const info = details.find((detail) => asString(detail['@type'])?.endsWith('RetryInfo'));
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(asString(info?.['retryDelay']) ?? '')?.[1];
  return seconds === undefined ? undefined : clampRetryAfter(Math.round(Number(seconds) * 1000));
}
