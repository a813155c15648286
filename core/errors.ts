// The one error table and the one error class. Every failure that a caller sees is a
// BlockhouseError; `toBlockhouseError` is the only door for foreign ones. Pure: no I/O.
//
// E1 A code is never reused for another meaning.
// E2 `status` and `retryable` follow from the code, unless the provider's answer says more.
// E3 The text of an INTERNAL_ERROR never leaves the process; its cause is for the log.

import type { Usage } from './schemas/chat.ts';

interface ErrorKind {
  readonly status: number;
  readonly retryable: boolean;
  readonly meaning: string;
}

/** docs/errors.md lists the same rows; a test holds both directions. */
export const ERROR_TABLE = {
  INVALID_REQUEST: { status: 400, retryable: false, meaning: 'The request is malformed: the text names the field and the cure.' },
  UNAUTHORIZED: { status: 401, retryable: false, meaning: 'The bearer token is missing or wrong.' },
  FORBIDDEN_ORIGIN: { status: 403, retryable: false, meaning: 'The Host or Origin header names a place that this server does not serve.' },
  ADAPTER_NOT_FOUND: { status: 404, retryable: false, meaning: 'The URL names no registered adapter.' },
  BLOCK_NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no block of this name.' },
  MESSAGE_NOT_FOUND: { status: 404, retryable: false, meaning: 'The block has no active message, or no fact, of this id.' },
  ARCHIVE_NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no archived block of this name.' },
  NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no such route.' },
  METHOD_NOT_ALLOWED: { status: 405, retryable: false, meaning: 'The route exists, but not for this method; the Allow header lists those it has.' },
  REQUEST_TIMEOUT: { status: 408, retryable: true, meaning: 'The request did not arrive completely in time.' },
  NAME_TAKEN: { status: 409, retryable: false, meaning: 'A block of this name exists already.' },
  AMBIGUOUS_ARCHIVE: { status: 409, retryable: false, meaning: 'Several archived blocks have this original name; the text lists their archive names.' },
  BLOCK_DAMAGED: {
    status: 409,
    retryable: false,
    meaning: "A file of the block can't be used; the text names it, what is wrong with it and the cure. Nothing of it was replaced.",
  },
  WRONG_STATE: { status: 409, retryable: false, meaning: 'What was asked for makes no sense in the present state; the text says why.' },
  REVISION_MISMATCH: {
    status: 412,
    retryable: false,
    meaning: 'The configuration has another revision than If-Match names: read it again and repeat the change.',
  },
  BODY_TOO_LARGE: { status: 413, retryable: false, meaning: 'The request body is larger than the route takes.' },
  URI_TOO_LONG: { status: 414, retryable: false, meaning: 'The request target is longer than 8 KiB.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, retryable: false, meaning: 'The body is not plain UTF-8 application/json.' },
  EXPECTATION_FAILED: { status: 417, retryable: false, meaning: 'The Expect header asks for something other than 100-continue.' },
  QUEUE_FULL: { status: 429, retryable: true, meaning: "The adapter's waiting room, or the queue of the block, is full; Retry-After says when to come back." },
  TOO_MANY_ATTEMPTS: {
    status: 429,
    retryable: false,
    meaning: 'More than 20 wrong tokens came from this address within a minute. The right one is always taken.',
  },
  UPSTREAM_RATE_LIMITED: { status: 429, retryable: true, meaning: "The provider limits the rate; Retry-After is the provider's, where it gave one." },
  HEADERS_TOO_LARGE: { status: 431, retryable: false, meaning: 'The request headers are larger than 16 KiB.' },
  CANCELLED: { status: 499, retryable: false, meaning: 'The caller left or aborted. Never sent on the wire; seen in logs and by library callers.' },
  INTERNAL_ERROR: { status: 500, retryable: false, meaning: 'A defect of this server; its log has the cause under the request id.' },
  UPSTREAM_UNREACHABLE: { status: 502, retryable: true, meaning: 'No connection to the provider, or it broke before an answer came.' },
  UPSTREAM_TIMEOUT: { status: 502, retryable: true, meaning: 'The provider stayed silent for longer than the limit.' },
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
    meaning: 'The server holds as many open WebSockets as it may, or the machine has no connection left for a call.',
  },
  WORKSPACE_BUSY: {
    status: 503,
    retryable: false,
    meaning: 'Another server holds the workspace; the text names its process and address. Never sent on the wire: a server that meets it does not start.',
  },
  STORAGE_FAILED: {
    status: 500,
    retryable: true,
    meaning: 'The disk refused for another reason than want of space; nothing was changed, unless the message says otherwise.',
  },
  STORAGE_FULL: { status: 507, retryable: true, meaning: 'The disk is full; nothing was changed.' },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** One fault of a request: `path` as in JavaScript (`messages[0].role`), '' for the whole body. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

export interface ErrorExtras {
  readonly cause?: unknown;
  readonly details?: readonly ErrorDetail[];
  /** Milliseconds after which a repetition makes sense. */
  readonly retryAfterMs?: number;
  /** HTTP status that the provider answered with. */
  readonly upstreamStatus?: number;
  /** Overrides the table: a provider's 429 for an exhausted quota is final, its 408 is not. */
  readonly retryable?: boolean;
  /** What the provider reported of a call that failed later: it is billed all the same. */
  readonly usage?: Usage;
  /** True when the provider may have begun to work on the request, so that sending it again may bill twice. */
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
    this.retryable = extras.retryable ?? kind.retryable;
    this.retryAfterMs = extras.retryAfterMs;
    this.upstreamStatus = extras.upstreamStatus;
    this.details = extras.details;
    this.mayHaveRun = extras.mayHaveRun ?? false;
    this.usage = extras.usage;
  }
}

/** A 400 for one field: the text reads "<path> <message>". */
export function invalidRequest(path: string, message: string): BlockhouseError {
  const text = path === '' ? message : `${path} ${message}`;
  return new BlockhouseError('INVALID_REQUEST', text, { details: [{ path, message }] });
}

const INTERNAL_TEXT = 'Something went wrong inside the server; its log has the cause.';

/** What the system says when it is short of something, or the disk is: no defect, and it may pass. */
const PASSING = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EAGAIN', 'EBUSY', 'EINTR', 'EIO', 'ESTALE', 'ETIMEDOUT']);

/** The code of a fault of the system that may pass, as EMFILE; undefined for any other error. */
export function passingFault(error: unknown): string | undefined {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return code !== undefined && syscall !== undefined && PASSING.has(code) ? code : undefined;
}

/** The only door for foreign errors: what is not ours becomes an INTERNAL_ERROR with its cause kept; a fault of the system that may pass says so. */
export function toBlockhouseError(error: unknown): BlockhouseError {
  if (error instanceof BlockhouseError) return error;
  const fault = passingFault(error);
  if (fault !== undefined) return new BlockhouseError('STORAGE_FAILED', `The system refused to read or write (${fault}); try again.`, { cause: error });
  return internalError(error);
}

/** A failure that says nothing to a caller; the cause is for the log (E3). */
export function internalError(cause: unknown): BlockhouseError {
  return new BlockhouseError('INTERNAL_ERROR', INTERNAL_TEXT, { cause });
}

/** The same error with what its call has used; itself where that is not known. */
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
    error: error.code === 'INTERNAL_ERROR' ? INTERNAL_TEXT : error.message, // E3
    status: error.status,
    code: error.code,
    ...(requestId !== undefined && { requestId }),
    ...(error.details !== undefined && { details: error.details }),
    ...(error.upstreamStatus !== undefined && { upstreamStatus: error.upstreamStatus }),
    ...(error.code.startsWith('UPSTREAM_') && { retryable: error.retryable }),
  };
}
