// What a provider's error answer means, as one of ours. Pure: no I/O.
import type { IncomingHttpHeaders } from 'node:http';
import { BlockhouseError, type ErrorCode, parseRetryAfter, tryParseJson } from '../core/index.ts';
import { redact } from './redact.ts';

export type ProviderErrorKind = 'auth' | 'rejected' | 'rateLimited' | 'failed';

export interface ProviderError {
  readonly kind: ProviderErrorKind;
  /** The provider's own words, or ours where it gave none. */
  readonly message: string;
  /** Where it differs from what the kind says: an exhausted quota is rate limiting that no wait cures. */
  readonly retryable?: boolean | undefined;
  /** The wait that the body asks for. The shared code reads the header. */
  readonly retryAfterMs?: number | undefined;
  /** For an error inside a 200 that brought no part of an answer before: true when the model has written something all the same. */
  readonly mayHaveRun?: boolean | undefined;
}

/** An answer with an error status, read as far as the cap allows. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The text as JSON, undefined when it is none (an HTML page of a proxy). */
  readonly json: unknown;
}

const CODES: Record<ProviderErrorKind, ErrorCode> = {
  auth: 'UPSTREAM_AUTH',
  rejected: 'UPSTREAM_REJECTED',
  rateLimited: 'UPSTREAM_RATE_LIMITED',
  failed: 'UPSTREAM_FAILED',
};
const MAX_MESSAGE_CHARACTERS = 2000;

/** The meaning of a status on its own; adapters refine it. 408 and 5xx, 529 among them, may pass. */
export function kindOfStatus(status: number): ProviderErrorKind {
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rateLimited';
  if (status === 408 || status >= 500) return 'failed';
  return 'rejected';
}

export function errorAnswer(status: number, headers: IncomingHttpHeaders, text: string): ErrorAnswer {
  return { status, headers, text, json: tryParseJson(text) };
}

/** What to say of an answer whose body has no message of the expected shape. */
export function fallbackMessage(answer: ErrorAnswer): string {
  if (answer.status >= 300 && answer.status < 400) return 'it answered with a redirect, and redirects are not followed';
  const text = answer.text.trim();
  if (text === '') return 'it gave no message';
  return text.startsWith('<') ? 'it answered with a web page instead of an error message' : text;
}

/** `status` is undefined for an error inside a stream that had begun with 200. */
export function fromProviderError(
  error: ProviderError,
  from: {
    readonly name: string;
    readonly status?: number | undefined;
    readonly headers?: IncomingHttpHeaders | undefined;
    readonly secrets: readonly string[];
    /** Absent for an error status: the provider refused, or says itself that it failed. */
    readonly mayHaveRun?: boolean;
  },
): BlockhouseError {
  const message = redact(error.message, from.secrets).slice(0, MAX_MESSAGE_CHARACTERS);
  const retryAfterMs = from.headers === undefined ? error.retryAfterMs : (headerWait(from.headers) ?? error.retryAfterMs);
  return new BlockhouseError(CODES[error.kind], `${from.name}${from.status === undefined ? '' : ` (HTTP ${from.status})`}: ${message}`, {
    ...(from.status !== undefined && { upstreamStatus: from.status }),
    ...(error.retryable !== undefined && { retryable: error.retryable }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(from.mayHaveRun !== undefined && { mayHaveRun: from.mayHaveRun }),
  });
}

/** `retry-after-ms` is finer than `retry-after`, where a provider sends both. */
function headerWait(headers: IncomingHttpHeaders): number | undefined {
  const ms = single(headers['retry-after-ms'])?.trim() || undefined;
  const fine = ms === undefined ? undefined : parseRetryAfter(String(Number(ms) / 1000), 0);
  return fine ?? parseRetryAfter(single(headers['retry-after']), Date.now());
}

/** A header that a proxy sent twice comes as a list; the first one counts. */
function single(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}
