// The one error table and the one error class. Every failure that a caller sees is a BlockhouseError; `toBlockhouseError` turns all other errors into one.
// A code is never reused for another meaning. Pure: no I/O.
import type { Usage } from './types.ts';

interface ErrorKind {
  readonly status: number;
  readonly retryable: boolean;
  readonly meaning: string;
}

/** Every error code. docs/errors.md lists the same rows, and a test compares the two. */
export const ERROR_TABLE = {
  INVALID_REQUEST: { status: 400, retryable: false, meaning: 'The request is malformed; the text names the field and the cure.' },
  UNAUTHORIZED: { status: 401, retryable: false, meaning: 'The bearer token is missing or wrong.' },
  FORBIDDEN_ORIGIN: { status: 403, retryable: false, meaning: 'The Host or Origin header names an address that this server does not serve.' },
  KEY_FORBIDDEN: { status: 403, retryable: false, meaning: 'The key may not do this: it is for `/v1` only, or for other models.' },
  ADAPTER_NOT_FOUND: { status: 404, retryable: false, meaning: 'The URL names no registered adapter.' },
  BLOCK_NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no block of this name.' },
  MESSAGE_NOT_FOUND: {
    status: 404,
    retryable: false,
    meaning: 'The block has no message, or no fact, of this id; only active messages can be cancelled or queued again.',
  },
  KEY_NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no key of this name.' },
  MODEL_NOT_FOUND: { status: 404, retryable: false, meaning: 'No alias, provider or list has a model of this name; the text says how to name one.' },
  ARCHIVE_NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no archived block of this name.' },
  NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no such route.' },
  METHOD_NOT_ALLOWED: { status: 405, retryable: false, meaning: 'The route exists, but not for this method; the Allow header lists its methods.' },
  REQUEST_TIMEOUT: { status: 408, retryable: true, meaning: 'The request did not arrive completely in time.' },
  NAME_TAKEN: { status: 409, retryable: false, meaning: 'A block of this name exists already.' },
  AMBIGUOUS_ARCHIVE: { status: 409, retryable: false, meaning: 'Several archived blocks had this name; the text lists their archive names.' },
  BLOCK_DAMAGED: {
    status: 409,
    retryable: false,
    meaning: "A file of the block can't be used; the text names the file, what is wrong with it and the cure. The file was not replaced.",
  },
  WORKSPACE_DAMAGED: {
    status: 409,
    retryable: false,
    meaning: "A file of the workspace itself can't be used; the text names it, what is wrong with it and the cure.",
  },
  WRONG_STATE: { status: 409, retryable: false, meaning: 'The request makes no sense in the present state; the text says why.' },
  REVISION_MISMATCH: {
    status: 412,
    retryable: false,
    meaning: 'If-Match names another revision than the configuration has; read the configuration again and repeat the change.',
  },
  BODY_TOO_LARGE: { status: 413, retryable: false, meaning: 'The request body is larger than the route takes.' },
  URI_TOO_LONG: { status: 414, retryable: false, meaning: 'The request target is longer than 8 KiB.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, retryable: false, meaning: 'The body is not plain UTF-8 application/json.' },
  EXPECTATION_FAILED: { status: 417, retryable: false, meaning: 'The Expect header asks for something other than 100-continue.' },
  QUEUE_FULL: {
    status: 429,
    retryable: true,
    meaning: 'The waiting room in front of the provider, the queue of the block or the line of imports is full; Retry-After says when to come back.',
  },
  TOO_MANY_ATTEMPTS: {
    status: 429,
    retryable: false,
    meaning: 'More than 20 wrong tokens came from this address within a minute. The right token is always accepted.',
  },
  KEY_CAP_REACHED: { status: 429, retryable: false, meaning: 'The key has spent what it may spend in a day; Retry-After says when the next one begins.' },
  UPSTREAM_RATE_LIMITED: { status: 429, retryable: true, meaning: "The provider limits the rate; Retry-After is the provider's, when it gave one." },
  HEADERS_TOO_LARGE: { status: 431, retryable: false, meaning: 'The request headers are larger than 16 KiB.' },
  CANCELLED: { status: 499, retryable: false, meaning: 'The caller left or aborted. Never sent on the wire; seen in logs and by library callers.' },
  INTERNAL_ERROR: { status: 500, retryable: false, meaning: 'A defect of this server; the log has the cause under the request id.' },
  UPSTREAM_UNREACHABLE: { status: 502, retryable: true, meaning: 'No connection to the provider, or it broke before an answer came.' },
  UPSTREAM_TIMEOUT: { status: 502, retryable: true, meaning: 'The provider was silent for longer than the limit.' },
  UPSTREAM_REJECTED: {
    status: 502,
    retryable: false,
    meaning: 'The provider refused the request as it is (unknown model, bad parameter, too long, no permission).',
  },
  UPSTREAM_AUTH: { status: 502, retryable: false, meaning: 'The provider refused the credential.' },
  UPSTREAM_FAILED: { status: 502, retryable: true, meaning: 'The provider failed or is overloaded.' },
  UPSTREAM_MALFORMED: { status: 502, retryable: true, meaning: "The provider's answer could not be read, or was cut short." },
  ADAPTER_NOT_CONFIGURED: { status: 503, retryable: false, meaning: 'The adapter lacks credentials; the text names each way to give them.' },
  SHUTTING_DOWN: { status: 503, retryable: true, meaning: 'The server is shutting down.' },
  TOO_MANY_CONNECTIONS: {
    status: 503,
    retryable: true,
    meaning: 'The server has as many open WebSockets as it may have, or the machine has no connection left for a call.',
  },
  WORKSPACE_BUSY: {
    status: 503,
    retryable: false,
    meaning: 'Another server holds the workspace; the text names its process and address. Never sent on the wire, since this server does not start then.',
  },
  STORAGE_FAILED: {
    status: 500,
    retryable: true,
    meaning: 'The disk refused to read or write, though it is not full; nothing was changed unless the text says otherwise.',
  },
  STORAGE_FULL: { status: 507, retryable: true, meaning: 'The disk is full; nothing was changed.' },
} as const satisfies Record<string, ErrorKind>;

/** A code of the table. */
export type ErrorCode = keyof typeof ERROR_TABLE;

/** One fault of a request. `path` is written as in JavaScript (`messages[0].role`), and empty for the whole body. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** The optional parts of an error, besides code and text. */
export interface ErrorExtras {
  readonly cause?: unknown;
  readonly details?: readonly ErrorDetail[];
  /** Milliseconds after which it makes sense to try again. */
  readonly retryAfterMs?: number;
  /** The HTTP status that the provider answered with. */
  readonly upstreamStatus?: number;
  /** Overrides the table. For instance, a provider's 429 for an exhausted quota is final. */
  readonly retryable?: boolean;
  /** What a call used before it failed; the provider bills it anyway. */
  readonly usage?: Usage;
  /** True if the provider may have begun to work on the request, so that a retry may cost twice. */
  readonly mayHaveRun?: boolean;
}

/** The body of every error answer, and the data of an SSE `error` frame. */
export interface ErrorBody {
  error: string;
  status: number;
  code: ErrorCode;
  requestId?: string;
  details?: readonly ErrorDetail[];
  upstreamStatus?: number;
  retryable?: boolean;
}

/** Every failure that a caller sees. `status` and `retryable` follow from the code, unless the provider's answer says more. */
export class BlockhouseError extends Error {
  override readonly name = 'BlockhouseError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly upstreamStatus: number | undefined;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly mayHaveRun: boolean;
  readonly usage: Usage | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    const kind: ErrorKind = ERROR_TABLE[code];
    this.code = code;
    this.status = kind.status;
    this.mayHaveRun = extras.mayHaveRun ?? false;
    // A connection that broke after the request was sent: the provider may have done the work already.
    this.retryable = extras.retryable ?? (kind.retryable && !(code === 'UPSTREAM_UNREACHABLE' && this.mayHaveRun));
    this.retryAfterMs = extras.retryAfterMs;
    this.upstreamStatus = extras.upstreamStatus;
    this.details = extras.details;
    this.usage = extras.usage;
  }
}

/** A 400 for one field. The text reads "<path> <message>.", with one full stop. */
export function invalidRequest(path: string, message: string): BlockhouseError {
  const text = path === '' ? message : `${path} ${message}${message.endsWith('.') ? '' : '.'}`;
  return new BlockhouseError('INVALID_REQUEST', text, { details: [{ path, message }] });
}

const INTERNAL_TEXT = 'Something went wrong inside the server; its log has the cause.';

/** Codes of the operating system for a temporary shortage or fault of the machine or the disk. They are not a defect of this program. */
const PASSING = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EAGAIN', 'EBUSY', 'EINTR', 'EIO', 'ESTALE', 'ETIMEDOUT']);

/** The code of a temporary fault of the operating system, for instance EMFILE; undefined for any other error. */
export function passingFault(error: unknown): string | undefined {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return code !== undefined && syscall !== undefined && PASSING.has(code) ? code : undefined;
}

/**
 * Turns any error into a BlockhouseError that keeps it as the cause: STORAGE_FAILED for a temporary fault of the operating system, otherwise
 * INTERNAL_ERROR. A BlockhouseError is returned as it is.
 */
export function toBlockhouseError(error: unknown): BlockhouseError {
  if (error instanceof BlockhouseError) return error;
  const fault = passingFault(error);
  if (fault !== undefined) return new BlockhouseError('STORAGE_FAILED', `The system refused to read or write (${fault}). Try again.`, { cause: error });
  return internalError(error);
}

/** An INTERNAL_ERROR whose text hides the cause from the caller; the log shows the cause. */
export function internalError(cause: unknown): BlockhouseError {
  return new BlockhouseError('INTERNAL_ERROR', INTERNAL_TEXT, { cause });
}

/** A copy of the error with the usage of its call; the error itself if `usage` is undefined. */
export function withUsage(error: BlockhouseError, usage: Usage | undefined): BlockhouseError {
  if (usage === undefined) return error;
  const { code, message, cause, details, retryAfterMs, upstreamStatus, retryable, mayHaveRun } = error;
  return new BlockhouseError(code, message, {
    ...(cause !== undefined && { cause }),
    ...(details !== undefined && { details }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(upstreamStatus !== undefined && { upstreamStatus }),
    retryable,
    mayHaveRun,
    usage,
  });
}

/** The wire form of an error, the same on every surface. */
export function errorBody(error: BlockhouseError, requestId?: string): ErrorBody {
  return {
    error: error.code === 'INTERNAL_ERROR' ? INTERNAL_TEXT : error.message, // its own text may contain anything, so only the log shows it
    status: error.status,
    code: error.code,
    ...(requestId !== undefined && { requestId }),
    ...(error.details !== undefined && { details: error.details }),
    ...(error.upstreamStatus !== undefined && { upstreamStatus: error.upstreamStatus }),
    ...(error.code.startsWith('UPSTREAM_') && { retryable: error.retryable }),
  };
}
