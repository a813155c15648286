// Anthropic's errors: `{"type":"error","error":{"type","message"}}`, as a body or as an event. Pure: no I/O.
import { type ErrorAnswer, fallbackMessage, kindOfCode, kindOfStatus, type ProviderError, type ProviderErrorKind } from '../shared/provider-errors.ts';
import { asObject, asString, lookUp } from '../shared/read.ts';

const KINDS: Record<string, ProviderErrorKind> = {
  authentication_error: 'auth',
  permission_error: 'rejected',
  billing_error: 'rejected',
  invalid_request_error: 'rejected',
  not_found_error: 'rejected',
  request_too_large: 'rejected',
  conflict_error: 'failed',
  rate_limit_error: 'rateLimited',
  api_error: 'failed',
  timeout_error: 'timedOut',
  overloaded_error: 'failed',
};

/** Reads an answer with an error status; the `type` in its body wins over the status. */
export function readError(answer: ErrorAnswer): ProviderError {
  const error = asObject(asObject(answer.json)['error']);
  // The status decides when a proxy in between answers with a body of its own.
  const kind = lookUp(KINDS, error['type']) ?? kindOfStatus(answer.status);
  return { kind, message: asString(error['message']) ?? fallbackMessage(answer), retryable: retryHint(answer) };
}

/** An error after HTTP 200. Compatible servers also write it as text, and an HTTP status as `code`. */
export function readErrorObject(value: unknown): ProviderError {
  const error = typeof value === 'string' ? { message: value } : asObject(value);
  const type = asString(error['type']) ?? '';
  const message = asString(error['message']) ?? (type || 'it reported an error without a message');
  return { kind: lookUp(KINDS, type) ?? kindOfCode(error['code']) ?? 'failed', message };
}

/** `x-should-retry: false` overrules what the status suggests. */
function retryHint(answer: ErrorAnswer): boolean | undefined {
  return answer.headers['x-should-retry'] === 'false' ? false : undefined;
}
