// A request that failed.

interface Facts {
  /** 0 when there was no answer. */
  readonly status: number;
  readonly code: string;
  readonly requestId?: string | undefined;
  readonly details?: readonly { readonly path: string; readonly message: string }[] | undefined;
  /** Milliseconds after which another try makes sense. */
  readonly retryAfterMs?: number | undefined;
}

/** What the server says about a request that failed. */
export class ApiError extends Error implements Facts {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly details: Facts['details'];
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status, code, requestId, details, retryAfterMs }: Facts) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }
}
