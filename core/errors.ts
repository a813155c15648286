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
  INVALID_REQUEST: { status: 400, retryable: false, meaning: 'The request is invalid. The message names the field and says how to fix it.' },
  TOOL_SERVER_REFUSED: {
    status: 400,
    retryable: false,
    meaning: 'The entry of a server of tools is not allowed. The message says why, and what to write instead.',
  },
  UNAUTHORIZED: { status: 401, retryable: false, meaning: 'The bearer token is missing or wrong.' },
  FORBIDDEN_ORIGIN: { status: 403, retryable: false, meaning: 'The Host or Origin header names an address that this server does not serve.' },
  KEY_FORBIDDEN: {
    status: 403,
    retryable: false,
    meaning: 'The key may not do this: it only asks models, or only others than this one, or may not send this field.',
  },
  PRICE_UNKNOWN: {
    status: 403,
    retryable: false,
    meaning: "The key refuses calls whose price is not known, and the model's is not. The message says how to go on.",
  },
  ADAPTER_NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no provider with the id in the URL.' },
  CONNECTION_NOT_FOUND: { status: 404, retryable: false, meaning: 'auth.json has no entry with the name in the URL.' },
  BLOCK_NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no block with this name.' },
  MESSAGE_NOT_FOUND: {
    status: 404,
    retryable: false,
    meaning: 'The block has no message or fact with this id. Only active messages can be cancelled or retried.',
  },
  HOOK_REFUSED: { status: 401, retryable: false, meaning: 'There is no such hook, or the delivery is not signed with its secret, or its time is off.' },
  HOOK_NOT_FOUND: { status: 404, retryable: false, meaning: 'The block has no hook of this id.' },
  NOTIFY_TARGET_NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no target of notifications of this name.' },
  SCHEDULE_NOT_FOUND: { status: 404, retryable: false, meaning: 'The block has no schedule of this id.' },
  KEY_NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no key, or no group of keys, of this name.' },
  MODEL_NOT_FOUND: { status: 404, retryable: false, meaning: 'No alias, provider or list has a model of this name; the text says how to name one.' },
  NODE_NOT_FOUND: { status: 404, retryable: false, meaning: 'The workspace has no server with this id.' },
  ARCHIVE_NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no archived block with this name.' },
  TOOL_SERVER_NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no server of tools with this name.' },
  SKILL_NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no skill with this name.' },
  LINK_USED: { status: 410, retryable: false, meaning: 'The link to decide about a call was used, has expired, or the call was decided elsewhere.' },
  RUN_NOT_FOUND: { status: 404, retryable: false, meaning: 'The message has no run with tools, or not this result of one.' },
  APPROVAL_NOT_FOUND: { status: 404, retryable: false, meaning: 'The block has no call with this id that waits or waited for a decision.' },
  NOT_FOUND: { status: 404, retryable: false, meaning: 'There is no route with this path.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    retryable: false,
    meaning: 'The route does not support this method. The Allow header lists the methods that it supports.',
  },
  REQUEST_TIMEOUT: { status: 408, retryable: true, meaning: 'The request did not arrive completely within the time limit.' },
  NAME_TAKEN: { status: 409, retryable: false, meaning: 'A block with this name already exists.' },
  AMBIGUOUS_ARCHIVE: { status: 409, retryable: false, meaning: 'Several archived blocks had this name. The message lists their archive names.' },
  BLOCK_DAMAGED: {
    status: 409,
    retryable: false,
    meaning: "A file of the block can't be used. The message names the file and says what is wrong and how to fix it. The file was not replaced.",
  },
  WORKSPACE_DAMAGED: {
    status: 409,
    retryable: false,
    meaning: "A file of the workspace itself can't be used. The message names the file and says what is wrong and how to fix it.",
  },
  WRONG_STATE: { status: 409, retryable: false, meaning: 'The request is not possible in the current state. The message says why.' },
  TOOL_NOT_APPROVED: {
    status: 409,
    retryable: false,
    meaning: 'The server of tools is not the one that was shown or approved. Read it again, and approve it.',
  },
  TOOL_CHANGED: { status: 409, retryable: false, meaning: 'A tool or a skill is not the one that was shown: it has changed. Read it again.' },
  APPROVAL_STALE: {
    status: 409,
    retryable: false,
    meaning: 'The call is not the one that was decided about: its arguments or its tool have changed. Read it again.',
  },
  APPROVAL_DECIDED: {
    status: 409,
    retryable: false,
    meaning: 'Somebody has decided about the call already, or it does not wait any more. The message says how.',
  },
  TOOL_LIMIT: {
    status: 409,
    retryable: false,
    meaning: 'A message with tools has reached a limit of its run, or nobody has decided in time, and there is no answer. Only on messages.',
  },
  NOT_ANSWERED: {
    status: 409,
    retryable: false,
    meaning: 'The block gives no complete answer: the message was cancelled or has expired, or the reply was interrupted. Only in streams.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 409,
    retryable: false,
    meaning: 'The Idempotency-Key, or the clientId of an agent, was sent to the block before, with another message. Send the earlier message, or another key.',
  },
  REVISION_MISMATCH: {
    status: 412,
    retryable: false,
    meaning: 'The configuration or key is no longer at the revision in If-Match. Read it again and repeat the change.',
  },
  BODY_TOO_LARGE: { status: 413, retryable: false, meaning: 'The request body is larger than the route allows.' },
  URI_TOO_LONG: { status: 414, retryable: false, meaning: 'The request target is longer than 8 KiB.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    retryable: false,
    meaning: 'The body is not uncompressed UTF-8 with the content type that the route expects, usually application/json.',
  },
  EXPECTATION_FAILED: { status: 417, retryable: false, meaning: 'The Expect header asks for something other than 100-continue.' },
  HTTP_ONLY: { status: 426, retryable: false, meaning: 'This route has no WebSocket; it answers plain HTTP requests.' },
  HOOK_LIMIT: { status: 429, retryable: true, meaning: 'The hook has taken as many deliveries in an hour as it may; Retry-After says when it takes more.' },
  MCP_LIMIT: {
    status: 429,
    retryable: true,
    meaning: 'The key, or the token of the workspace, has sent as many messages over MCP in an hour as it may.',
  },
  QUEUE_FULL: {
    status: 429,
    retryable: true,
    meaning: 'The queue of the provider, of the block or of the imports is full, or the room for bodies is. Retry-After says when to try again.',
  },
  TOO_MANY_ATTEMPTS: {
    status: 429,
    retryable: false,
    meaning: 'This address sent more than 20 wrong tokens within a minute. The right token is always accepted.',
  },
  UPSTREAM_RATE_LIMITED: {
    status: 429,
    retryable: true,
    meaning: "The provider's rate limit is reached. Retry-After is the provider's value, if it sent one.",
  },
  KEY_CAP_REACHED: {
    status: 429,
    retryable: false,
    meaning:
      'The key or its group has spent what it may spend in a day, a week or a month, or its calls under way may; Retry-After says when it may be used again.',
  },
  KEY_RATE_LIMITED: {
    status: 429,
    retryable: true,
    meaning: 'The key or its group has sent what it may send in a minute, in requests or tokens; Retry-After says when it may send more.',
  },
  BUDGET_REACHED: {
    status: 429,
    retryable: false,
    meaning: 'The block that is asked as a model has spent what it may spend; Retry-After says when it may spend again. Nothing was queued.',
  },
  HEADERS_TOO_LARGE: { status: 431, retryable: false, meaning: 'The request headers are larger than 32 KiB, or more than 250.' },
  CANCELLED: {
    status: 499,
    retryable: false,
    meaning: 'The client closed the connection or aborted the request. Never sent over HTTP; seen in logs and by library callers.',
  },
  INTERNAL_ERROR: { status: 500, retryable: false, meaning: 'A bug in this server. The log has the cause under the request id.' },
  UPSTREAM_UNREACHABLE: { status: 502, retryable: true, meaning: 'The provider could not be reached, or the connection broke before it answered.' },
  UPSTREAM_TIMEOUT: { status: 502, retryable: true, meaning: 'The provider sent nothing for longer than the time limit.' },
  UPSTREAM_REJECTED: {
    status: 502,
    retryable: false,
    meaning: 'The provider rejected the request itself (unknown model, invalid parameter, prompt too long, no permission).',
  },
  UPSTREAM_AUTH: { status: 502, retryable: false, meaning: 'The provider rejected the credentials.' },
  UPSTREAM_FAILED: { status: 502, retryable: true, meaning: 'The provider failed or is overloaded.' },
  UPSTREAM_MALFORMED: { status: 502, retryable: true, meaning: "The provider's answer could not be read or was cut short." },
  MESSAGE_FAILED: {
    status: 502,
    retryable: false,
    meaning:
      'A block that was asked as a model has not answered: its message has failed, was cancelled or has expired. The message says why, and names its id.',
  },
  BLOCK_NOT_RUNNING: {
    status: 503,
    retryable: true,
    meaning: 'The block that is asked as a model does not answer now: it is stopped, paused, failed or halted. The message says why.',
  },
  ADAPTER_NOT_CONFIGURED: { status: 503, retryable: false, meaning: 'The provider has no usable credentials. The message lists every way to set them.' },
  HOOK_BUSY: { status: 503, retryable: true, meaning: 'The queue of the block is full. Send the delivery again after Retry-After.' },
  TOOL_SERVER_FAILED: {
    status: 502,
    retryable: true,
    meaning: 'The server of tools did not start, or has ended. The message has the last line that it wrote.',
  },
  TOOL_NOT_BEGUN: { status: 502, retryable: true, meaning: 'The call of a tool was surely not begun. Only between the core and what runs tools.' },
  TOOL_OUTCOME_UNKNOWN: {
    status: 502,
    retryable: false,
    meaning: 'The call of a tool may have run, and no answer came. Look whether it took effect before you call it again.',
  },
  SHUTTING_DOWN: { status: 503, retryable: true, meaning: 'The server is shutting down.' },
  TOO_MANY_CONNECTIONS: {
    status: 503,
    retryable: true,
    meaning: 'The server has reached its limit of open WebSockets, or the machine has run out of connections.',
  },
  WORKSPACE_BUSY: {
    status: 503,
    retryable: false,
    meaning: 'Another server is using the workspace. The message names its process and address. Never sent over HTTP, because this server does not start then.',
  },
  STORE_UNREACHABLE: {
    status: 503,
    retryable: true,
    meaning: 'The database that keeps the workspace does not answer, so nothing is known of the outcome. The same request may be sent again.',
  },
  STORE_NOT_MIGRATED: {
    status: 503,
    retryable: false,
    meaning:
      'The database has an older schema than this version needs; `blockhouse migrate` changes it. Never sent over HTTP, because this server does not start then.',
  },
  STORE_TOO_NEW: {
    status: 503,
    retryable: false,
    meaning: 'The database has a schema that only newer versions may write. Never sent over HTTP, because this server does not start then.',
  },
  LEASE_LOST: {
    status: 503,
    retryable: true,
    meaning: 'Another server has taken the block over, so nothing was changed. Never sent over HTTP: the server that has it answers.',
  },
  ANSWER_PENDING: {
    status: 504,
    retryable: false,
    meaning: 'The wait ended before the answer was complete. The block still answers the message. Only in streams.',
  },
  STILL_WORKING: {
    status: 504,
    retryable: true,
    meaning: 'A block that was asked as a model has not answered within 600 seconds. It still does; the same request waits on.',
  },
  LOOP_DETECTED: {
    status: 508,
    retryable: false,
    meaning: 'A block asks a block of the same server through its own provider, and would wait for itself. Give it another model.',
  },
  STORAGE_FAILED: {
    status: 500,
    retryable: true,
    meaning: 'The disk could not be read or written, although it is not full. Nothing was changed unless the message says otherwise.',
  },
  STORAGE_FULL: { status: 507, retryable: true, meaning: 'The disk is full. Nothing was changed.' },
} as const satisfies Record<string, ErrorKind>;

/** A code of the error table. */
export type ErrorCode = keyof typeof ERROR_TABLE;

/** One problem of a request. `path` is written as in JavaScript (`messages[0].role`), and empty for the whole body. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** A provider's own error, for a client that speaks its protocol: its answer, or `sent` if the client has got it within a stream. */
export type ProviderFault = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Buffer } | 'sent';

/** The optional parts of an error, besides its code and message. */
export interface ErrorExtras {
  readonly cause?: unknown;
  readonly details?: readonly ErrorDetail[];
  /** Milliseconds to wait before a retry. */
  readonly retryAfterMs?: number;
  /** The HTTP status that the provider answered with. */
  readonly upstreamStatus?: number;
  /** Overrides the table: for example, a provider's 429 for an exhausted quota is not retryable. */
  readonly retryable?: boolean;
  /** What a call used before it failed; the provider bills it anyway. */
  readonly usage?: Usage;
  /** True if the provider may have begun to work on the request, so that a retry may cost twice. */
  readonly mayHaveRun?: boolean;
  /** True if somebody gave up waiting for a model that may be at work: Blockhouse, the provider or a proxy. True for UPSTREAM_TIMEOUT after the request was sent. */
  readonly isTimeout?: boolean;
  readonly providerFault?: ProviderFault;
  /** What a provider refused about a request that another model may take: it is too long, or a filter does not let it pass. */
  readonly refusedFor?: RefusalReason;
  /** What the keys of applications read instead of the message, where it names an address, a path or a user of the operator's. */
  readonly forKeys?: string | undefined;
}

/** See `ErrorExtras.refusedFor`. */
export type RefusalReason = 'context' | 'content';

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
  readonly isTimeout: boolean;
  readonly usage: Usage | undefined;
  readonly providerFault: ProviderFault | undefined;
  readonly refusedFor: RefusalReason | undefined;
  /** See `ErrorExtras`. */
  readonly forKeys: string | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    const kind: ErrorKind = ERROR_TABLE[code];
    this.code = code;
    this.status = kind.status;
    this.mayHaveRun = extras.mayHaveRun ?? false;
    this.isTimeout = extras.isTimeout ?? (code === 'UPSTREAM_TIMEOUT' && this.mayHaveRun);
    // A connection that broke after the request was sent: the provider may have done the work already.
    this.retryable = extras.retryable ?? (kind.retryable && !(code === 'UPSTREAM_UNREACHABLE' && this.mayHaveRun));
    this.retryAfterMs = extras.retryAfterMs;
    this.upstreamStatus = extras.upstreamStatus;
    this.details = extras.details;
    this.usage = extras.usage;
    this.providerFault = extras.providerFault;
    this.refusedFor = extras.refusedFor;
    this.forKeys = extras.forKeys;
  }
}

/** What callers get instead of LEASE_LOST. */
export function takenOver(cause?: unknown): BlockhouseError {
  return new BlockhouseError('STORE_UNREACHABLE', 'Another server has taken the block meanwhile. Try again.', { retryAfterMs: 1000, cause });
}

/** What a write of a block's owner throws when another server has the block. It never leaves the core. */
export function leaseLost(): BlockhouseError {
  return new BlockhouseError('LEASE_LOST', 'Another server has this block now.');
}

/** A 400 for one field. The error message is "<path> <message>.", with one full stop. */
export function invalidRequest(path: string, message: string, forKeys?: string): BlockhouseError {
  const text = path === '' ? message : `${path} ${message}${message.endsWith('.') ? '' : '.'}`;
  return new BlockhouseError('INVALID_REQUEST', text, { details: [{ path, message }], forKeys });
}

/** NODE_NOT_FOUND. */
export function nodeNotFound(node: string): BlockhouseError {
  return new BlockhouseError('NODE_NOT_FOUND', `The workspace has no server "${node}". \`blockhouse nodes\` lists those that there are.`);
}

/** What a request about blocks gets from a server of the gateway alone. */
export function noBlocks(): BlockhouseError {
  return new BlockhouseError(
    'WRONG_STATE',
    'This server has no blocks, because it was started with --gateway-only. Start it without --gateway-only to have them.',
  );
}

const INTERNAL_TEXT = 'Something went wrong inside the server; its log has the cause.';

/** Codes of the operating system for a temporary shortage or fault of the machine or the disk. They are not a defect of this program. */
const PASSING = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EAGAIN', 'EBUSY', 'EINTR', 'EIO', 'ESTALE', 'ETIMEDOUT']);

/** The code of a temporary fault of the operating system, for instance EMFILE; undefined for any other error. */
export function passingFault(error: unknown): string | undefined {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return code !== undefined && syscall !== undefined && PASSING.has(code) ? code : undefined;
}

/** What a report on the bus says of an error: the message of one of ours, and the code of the system's. */
export function faultText(error: unknown): string {
  return error instanceof BlockhouseError ? error.message : ((error as NodeJS.ErrnoException).code ?? String(error));
}

/**
 * Turns any error into a BlockhouseError that keeps it as the cause: STORAGE_FAILED for a temporary fault of the operating system, otherwise
 * INTERNAL_ERROR. A BlockhouseError is returned as it is.
 */
export function toBlockhouseError(error: unknown): BlockhouseError {
  if (error instanceof BlockhouseError) return error;
  const fault = passingFault(error);
  if (fault !== undefined) return new BlockhouseError('STORAGE_FAILED', `The disk could not be read or written (${fault}). Try again.`, { cause: error });
  return internalError(error);
}

/** An INTERNAL_ERROR whose message hides the cause from the caller; the log shows the cause. */
export function internalError(cause: unknown): BlockhouseError {
  return new BlockhouseError('INTERNAL_ERROR', INTERNAL_TEXT, { cause });
}

/** A copy of the error with the usage of its call; the error itself if `usage` is undefined. */
export function withUsage(error: BlockhouseError, usage: Usage | undefined): BlockhouseError {
  return usage === undefined ? error : changed(error, error, usage);
}

/** What everybody but the owner of the server may read of an error: nothing of the operator's network and files. */
export function forKeys(error: BlockhouseError): BlockhouseError {
  return error.forKeys === undefined ? error : changed(error, { message: error.forKeys }, error.usage);
}

/** What an error says. */
export type Words = Pick<BlockhouseError, 'message' | 'forKeys'>;

/** Of no error yet. */
export const NO_WORDS: Words = { message: '', forKeys: undefined };

/** The words alone, for those who keep them longer than the error. */
export function wordsOf({ message, forKeys }: BlockhouseError): Words {
  return { message, forKeys };
}

/** A copy with other words. */
function changed(error: BlockhouseError, words: Partial<BlockhouseError> & { readonly message: string }, usage: Usage | undefined): BlockhouseError {
  const { code, cause, retryAfterMs, upstreamStatus, retryable, mayHaveRun, isTimeout, providerFault, refusedFor } = error;
  const { message, details, forKeys } = words;
  return new BlockhouseError(code, message, {
    ...(cause !== undefined && { cause }),
    ...(details !== undefined && { details }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(upstreamStatus !== undefined && { upstreamStatus }),
    ...(providerFault !== undefined && { providerFault }),
    ...(refusedFor !== undefined && { refusedFor }),
    isTimeout,
    retryable,
    mayHaveRun,
    forKeys,
    ...(usage !== undefined && { usage }),
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
