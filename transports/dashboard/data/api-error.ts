// A request that failed.

/** What the server says about a request that failed; status 0 when there was no answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  /** Milliseconds after which another try makes sense. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    facts: {
      readonly status: number;
      readonly code: string;
      readonly requestId?: string | undefined;
      readonly details?: ApiError['details'] | undefined;
      readonly retryAfterMs?: number | undefined;
    },
  ) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.details = facts.details ?? [];
    this.retryAfterMs = facts.retryAfterMs;
  }
}
