// Errors in Anthropic's form. Clients decide by status and type whether to try again. Pure: no I/O.
import type { BlockhouseError, ErrorCode } from '../../../../core/index.ts';
import type { DialectError } from '../shared/dialect.ts';
import { isTooLong } from '../shared/openai-errors.ts';
import { THREAD_REFUSED } from './request.ts';

interface Kind {
  readonly status: number;
  readonly type: string;
  /** False tells Anthropic's own clients not to try again. */
  readonly retries?: false;
}

const API = 'api_error';
const INVALID = 'invalid_request_error';
const CONFIGURED = { status: 503, type: API, retries: false } as const;

const KINDS: Partial<Record<ErrorCode, Kind>> = {
  INVALID_REQUEST: { status: 400, type: INVALID },
  UNAUTHORIZED: { status: 401, type: 'authentication_error', retries: false }, // some agents try a refused key again for minutes
  TOO_MANY_ATTEMPTS: { status: 429, type: 'rate_limit_error' },
  FORBIDDEN_ORIGIN: { status: 403, type: 'permission_error' },
  KEY_FORBIDDEN: { status: 403, type: 'permission_error' },
  PRICE_UNKNOWN: { status: 403, type: 'permission_error' },
  KEY_CAP_REACHED: { status: 429, type: 'rate_limit_error', retries: false },
  MODEL_NOT_FOUND: { status: 404, type: 'not_found_error' },
  NOT_FOUND: { status: 404, type: 'not_found_error' },
  BODY_TOO_LARGE: { status: 413, type: 'request_too_large' },
  UPSTREAM_RATE_LIMITED: { status: 429, type: 'rate_limit_error' },
  KEY_RATE_LIMITED: { status: 429, type: 'rate_limit_error' },
  QUEUE_FULL: { status: 429, type: 'rate_limit_error' },
  BUDGET_REACHED: { status: 429, type: 'rate_limit_error', retries: false },
  IDEMPOTENCY_KEY_REUSED: { status: 409, type: INVALID, retries: false },
  MESSAGE_FAILED: { status: 502, type: API, retries: false },
  STILL_WORKING: { status: 504, type: 'timeout_error' },
  LOOP_DETECTED: { status: 508, type: API, retries: false },
  UPSTREAM_AUTH: { ...CONFIGURED, status: 502 },
  ADAPTER_NOT_CONFIGURED: CONFIGURED,
  WORKSPACE_DAMAGED: CONFIGURED,
  UPSTREAM_FAILED: { status: 529, type: 'overloaded_error' },
  UPSTREAM_TIMEOUT: { status: 504, type: 'timeout_error' },
  UPSTREAM_UNREACHABLE: { status: 502, type: API },
  UPSTREAM_MALFORMED: { status: 502, type: API },
};

/** The statuses of a provider that say something of the request itself. */
const PASSED: Readonly<Record<number, string>> = { 400: INVALID, 404: 'not_found_error', 413: 'request_too_large', 422: INVALID };

/** The error object, as in a body or a stream. */
export function anthropicError(failure: BlockhouseError): { readonly type: string; readonly message: string; readonly details?: object } {
  const { type } = kindOf(failure);
  if (failure.code === 'INTERNAL_ERROR') return { type, message: 'Something went wrong inside the server; its log has the cause.' };
  if (failure.details?.[0]?.path === 'thread') return { type, ...THREAD };
  const isLong = failure.code === 'UPSTREAM_REJECTED' && isTooLong(failure.message) && !failure.message.startsWith('prompt is too long');
  return { type, message: isLong ? `prompt is too long: ${failure.message}` : failure.message };
}

/** In these words the client understands that it must send the whole conversation. */
const THREAD = {
  message: `capability_rejected: beta_header:message-threads-2026-08-12: ${THREAD_REFUSED}.`,
  details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
};

/** Clients look for the id in Anthropic's own header. Both names have the id that our log has. */
export function requestIds(requestId: string): Readonly<Record<string, string>> {
  return { 'request-id': requestId, 'x-request-id': requestId };
}

/** The whole answer. */
export function anthropicFault(failure: BlockhouseError, requestId: string): DialectError {
  const { status, retries } = kindOf(failure);
  const headers = {
    ...requestIds(requestId),
    ...(failure.retryAfterMs !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(failure.retryAfterMs / 1000))) }),
    ...(retries === false && { 'x-should-retry': 'false' }),
  };
  return { status, body: { type: 'error', error: anthropicError(failure), request_id: requestId }, headers };
}

function kindOf({ code, status, upstreamStatus, retryable }: BlockhouseError): Kind {
  if (code === 'UPSTREAM_REJECTED') {
    const type = upstreamStatus === undefined ? undefined : PASSED[upstreamStatus];
    return type === undefined ? { status: 400, type: INVALID } : { status: upstreamStatus ?? 400, type };
  }
  // A provider's 429 for an exhausted quota is final.
  if (code === 'UPSTREAM_RATE_LIMITED' && !retryable) return { status: 429, type: 'rate_limit_error', retries: false };
  // The model has run, and its answer can't be used: who runs it again pays again.
  if (code === 'UPSTREAM_FAILED' && !retryable) return { status: 502, type: API, retries: false };
  return KINDS[code] ?? { status, type: status < 500 ? INVALID : API };
}
