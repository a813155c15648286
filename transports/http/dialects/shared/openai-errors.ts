// Errors in OpenAI's form. Clients decide by status and type whether to try again. Pure: no I/O.
import type { BlockhouseError, ErrorCode } from '../../../../core/index.ts';
import type { DialectError } from './dialect.ts';

interface Kind {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  /** False tells OpenAI's own clients not to try again. */
  readonly retries?: false;
}

const SERVER = 'server_error';
const INVALID = 'invalid_request_error';
const CONFIGURED = { status: 503, type: SERVER, code: 'provider_not_configured', retries: false } as const;

const KINDS: Partial<Record<ErrorCode, Kind>> = {
  INVALID_REQUEST: { status: 400, type: INVALID, code: null },
  UNAUTHORIZED: { status: 401, type: 'authentication_error', code: 'invalid_api_key' },
  TOO_MANY_ATTEMPTS: { status: 429, type: 'authentication_error', code: 'invalid_api_key' },
  FORBIDDEN_ORIGIN: { status: 403, type: 'permission_error', code: null },
  KEY_FORBIDDEN: { status: 403, type: 'permission_error', code: 'model_not_allowed' },
  PRICE_UNKNOWN: { status: 403, type: 'permission_error', code: 'model_not_allowed' },
  KEY_CAP_REACHED: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota', retries: false },
  MODEL_NOT_FOUND: { status: 404, type: INVALID, code: 'model_not_found' },
  NOT_FOUND: { status: 404, type: INVALID, code: null },
  BODY_TOO_LARGE: { status: 413, type: INVALID, code: null },
  UPSTREAM_RATE_LIMITED: { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  KEY_RATE_LIMITED: { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  QUEUE_FULL: { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  BUDGET_REACHED: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota', retries: false },
  IDEMPOTENCY_KEY_REUSED: { status: 409, type: INVALID, code: 'idempotency_key_reused', retries: false },
  MESSAGE_FAILED: { status: 502, type: SERVER, code: 'message_failed', retries: false },
  BLOCK_NOT_RUNNING: { status: 503, type: SERVER, code: 'block_not_running' },
  STILL_WORKING: { status: 504, type: SERVER, code: 'still_working' },
  LOOP_DETECTED: { status: 508, type: SERVER, code: 'loop_detected', retries: false },
  UPSTREAM_AUTH: { ...CONFIGURED, status: 502 },
  ADAPTER_NOT_CONFIGURED: CONFIGURED,
  WORKSPACE_DAMAGED: CONFIGURED,
  UPSTREAM_FAILED: { status: 503, type: SERVER, code: 'server_is_overloaded' },
  UPSTREAM_TIMEOUT: { status: 504, type: SERVER, code: null },
  UPSTREAM_UNREACHABLE: { status: 502, type: SERVER, code: null },
  UPSTREAM_MALFORMED: { status: 502, type: SERVER, code: null },
};

/** The statuses of a provider that say something of the request itself. */
const PASSED: ReadonlySet<number> = new Set([400, 404, 413, 422]);
const TOO_LONG = /context.{0,20}(?:length|window)|too long|maximum.{0,20}tokens|prompt is too/i;

/** True for a provider's words about a prompt that is too long. */
export function isTooLong(message: string): boolean {
  return TOO_LONG.test(message);
}

/** The error object, as in a body or a stream. */
export function openAiError(failure: BlockhouseError): {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
} {
  const { type, code } = kindOf(failure);
  return {
    message: failure.code === 'INTERNAL_ERROR' ? 'Something went wrong inside the server; its log has the cause.' : failure.message,
    type,
    param: failure.details?.[0]?.path || null,
    code,
  };
}

/** The whole answer. */
export function openAiFault(failure: BlockhouseError): DialectError {
  const { status, retries } = kindOf(failure);
  const headers = {
    ...(failure.retryAfterMs !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(failure.retryAfterMs / 1000))) }),
    ...(retries === false && { 'x-should-retry': 'false' }),
  };
  return { status, body: { error: openAiError(failure) }, headers };
}

function kindOf({ code, status, upstreamStatus, message, retryable, details }: BlockhouseError): Kind {
  if (code === 'KEY_FORBIDDEN' && details !== undefined) return { status, type: 'permission_error', code: 'unsupported_parameter' };
  if (code === 'UPSTREAM_REJECTED') {
    const passed = upstreamStatus !== undefined && PASSED.has(upstreamStatus) ? upstreamStatus : 400;
    return { status: passed, type: INVALID, code: isTooLong(message) ? 'context_length_exceeded' : passed === 404 ? 'model_not_found' : null };
  }
  // A provider's 429 for an exhausted quota is final.
  if (code === 'UPSTREAM_RATE_LIMITED' && !retryable) return { status: 429, type: 'insufficient_quota', code: 'insufficient_quota', retries: false };
  // The model has run, and its answer can't be used: who runs it again pays again.
  if (code === 'UPSTREAM_FAILED' && !retryable) return { status: 502, type: SERVER, code: null, retries: false };
  return KINDS[code] ?? { status, type: status < 500 ? INVALID : SERVER, code: null };
}
