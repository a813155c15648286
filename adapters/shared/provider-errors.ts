// Turns a provider's error answer into one of our errors. Pure: no I/O.
import type { IncomingHttpHeaders } from 'node:http';
import { tryParseJson } from '../../core/base/json.ts';
import { BlockhouseError, type ErrorCode, parseRetryAfter, type RefusalReason } from '../../core/index.ts';
import { redact } from '../../core/base/redact.ts';

/**
 * auth: the credentials are refused. rejected: the request is wrong. rateLimited and failed: another attempt may succeed. timedOut: the provider, or a proxy,
 * gave up waiting for a model that may be at work and that its provider bills.
 */
export type ProviderErrorKind = 'auth' | 'rejected' | 'rateLimited' | 'failed' | 'timedOut';

/** A provider's error, as its adapter folder reads it. */
export interface ProviderError {
  readonly kind: ProviderErrorKind;
  /** The provider's own words, or ours if it gave none. */
  readonly message: string;
  /** Overrides the default of the kind: an exhausted quota is rate limiting that doesn't end by waiting. */
  readonly retryable?: boolean | undefined;
  /** The wait that the body asks for, in milliseconds. The shared code reads the header. */
  readonly retryAfterMs?: number | undefined;
  /** For an error status, or inside a 200 before any part of the answer: true if the model has run anyway. */
  readonly mayHaveRun?: boolean | undefined;
  /** How many bytes of the model's answer the error has in it. */
  readonly writtenBytes?: number | undefined;
  /** What is refused about a request; where the adapter does not say it, by the words. */
  readonly refusedFor?: RefusalReason | undefined;
}

/** The body of an answer with an error status, up to the cap. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed text; undefined if it is not JSON (a proxy's HTML page). */
  readonly json: unknown;
}

const CODES: Record<ProviderErrorKind, ErrorCode> = {
  auth: 'UPSTREAM_AUTH',
  rejected: 'UPSTREAM_REJECTED',
  rateLimited: 'UPSTREAM_RATE_LIMITED',
  failed: 'UPSTREAM_FAILED',
  timedOut: 'UPSTREAM_FAILED',
};
/** Request timeout, gateway timeout, and the timeout of Cloudflare's proxy. */
const TIMED_OUT: ReadonlySet<number> = new Set([408, 504, 524]);
/** Loop Detected: the same call would come round again. */
const LOOP = 508;
const MAX_MESSAGE_CHARACTERS = 2000;
/** How many characters of a message are searched for secrets. 2,000 are shown; the rest has room for any spelling of a secret that begins in them. */
const SEARCHED_CHARACTERS = 16 * 1024;

/** The kind by status alone; adapters refine it. 5xx (529 too) are `failed`, but for those of a timeout. */
export function kindOfStatus(status: number): ProviderErrorKind {
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rateLimited';
  if (TIMED_OUT.has(status)) return 'timedOut';
  if (status >= 500) return 'failed';
  return 'rejected';
}

/** The kind of an error after HTTP 200, by the status in its body; undefined if the body has no error status. */
export function kindOfCode(code: unknown): ProviderErrorKind | undefined {
  const status = Number(code ?? Number.NaN);
  return status >= 400 && status < 600 ? (status === 403 ? 'rejected' : kindOfStatus(status)) : undefined;
}

/** Parses the text of an error answer, if it is JSON. */
export function errorAnswer(status: number, headers: IncomingHttpHeaders, text: string): ErrorAnswer {
  return { status, headers, text, json: tryParseJson(text) };
}

/** The message for an answer whose body has none in the expected shape. */
export function fallbackMessage(answer: ErrorAnswer): string {
  if (answer.status >= 300 && answer.status < 400) return 'it answered with a redirect, and redirects are not followed';
  const text = answer.text.trim();
  if (text === '') return 'it sent no error message';
  return text.startsWith('<') ? 'it answered with a web page instead of an error message' : text;
}

/** How providers and servers of their protocols say that a prompt is too long. */
const TOO_LONG =
  /(?:prompt|input|request|messages?)\b.{0,40} (?:is|are) too (?:long|large)\b|context[ _](?:length|size|window|limit)|maximum (?:number of |input )?tokens?(?: allowed)?|too many (?:input |prompt )?tokens\b/i;
/** How they say that a filter refused it. */
const FILTERED = /content[ _-](?:management[ _-])?(?:filter|policy)|\bflagged\b|safety (?:system|filter|policy)|usage polic(?:y|ies)/i;

function reasonIn({ kind, refusedFor, message }: ProviderError): RefusalReason | undefined {
  if (kind !== 'rejected' || refusedFor !== undefined) return refusedFor;
  if (TOO_LONG.test(message)) return 'context';
  return FILTERED.test(message) ? 'content' : undefined;
}

/** Our error for a provider's, with secrets redacted. `status` is undefined for an error inside a stream that began with 200. */
export function fromProviderError(
  error: ProviderError,
  from: {
    readonly name: string;
    readonly status?: number | undefined;
    readonly headers?: IncomingHttpHeaders | undefined;
    readonly secrets: readonly string[];
    /** Absent for most error statuses: the provider refused the request, or reports its own failure. */
    readonly mayHaveRun?: boolean;
  },
): BlockhouseError {
  const message = redact(error.message.slice(0, SEARCHED_CHARACTERS), from.secrets).slice(0, MAX_MESSAGE_CHARACTERS);
  const refusedFor = reasonIn({ ...error, message });
  const retryable = error.retryable ?? (from.status === LOOP ? false : undefined);
  const retryAfterMs = from.headers === undefined ? error.retryAfterMs : (headerWait(from.headers) ?? error.retryAfterMs);
  return new BlockhouseError(CODES[error.kind], `${from.name}${from.status === undefined ? '' : ` (HTTP ${from.status})`}: ${message}`, {
    ...(from.status !== undefined && { upstreamStatus: from.status }),
    ...(retryable !== undefined && { retryable }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(from.mayHaveRun !== undefined && { mayHaveRun: from.mayHaveRun }),
    ...(refusedFor !== undefined && { refusedFor }),
    ...(error.kind === 'timedOut' && { mayHaveRun: true, isTimeout: true }),
  });
}

/** `retry-after-ms` wins over `retry-after`, because it is finer. */
function headerWait(headers: IncomingHttpHeaders): number | undefined {
  const ms = single(headers['retry-after-ms'])?.trim() || undefined;
  const fine = ms === undefined ? undefined : parseRetryAfter(String(Number(ms) / 1000), 0);
  return fine ?? parseRetryAfter(single(headers['retry-after']), Date.now());
}

/** A header that a proxy sent twice comes as a list; the first one counts. */
function single(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}
