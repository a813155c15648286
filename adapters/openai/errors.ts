// OpenAI's errors: `{"error": {message, type, param, code}}` as a body, and the three shapes inside a stream. Pure: no I/O.
//
// refused-answer: Groq answers with 400 where the model has not written the JSON or the call that it was to write, and has its text in `failed_generation`. The model has
//   run, and who asked may read what it wrote.
// billed-refusal: Azure evaluates a prompt that its filter refuses with 400 `content_filter`, and bills it.
import type { BlockhouseError, RefusalReason } from '../../core/index.ts';
import { type ErrorAnswer, fallbackMessage, kindOfCode, kindOfStatus, type ProviderError, type ProviderErrorKind } from '../shared/provider-errors.ts';
import { asObject, asString } from '../shared/read.ts';

/** Rate limits that don't end by waiting. */
const FINAL = new Set(['insufficient_quota', 'credit_balance_exhausted', 'billing_not_active']);
/** The meaning of `code` and `type` in an error without a status; all others mean that the provider failed. */
const KINDS = new Map<string, ProviderErrorKind>([
  ['rate_limit_exceeded', 'rateLimited'],
  ['rate_limit_error', 'rateLimited'],
  ['invalid_api_key', 'auth'],
  ['authentication_error', 'auth'],
  ['context_length_exceeded', 'rejected'],
  ['invalid_prompt', 'rejected'],
  ['data_residency_mismatch', 'rejected'],
  ['bio_policy', 'rejected'],
  ['misalignment_policy_violation', 'rejected'],
  ['model_not_found', 'rejected'],
  ['unsupported_parameter', 'rejected'],
  ['unsupported_value', 'rejected'],
  ['invalid_request_error', 'rejected'],
  ['timeout', 'timedOut'],
  ['timeout_error', 'timedOut'],
]);
/** What is refused about a request, by `code`. */
const REASONS = new Map<string, RefusalReason>([
  ['context_length_exceeded', 'context'],
  ['exceed_context_size_error', 'context'],
  ['content_filter', 'content'],
  ['content_policy_violation', 'content'],
  ['invalid_prompt', 'content'],
  ['bio_policy', 'content'],
  ['misalignment_policy_violation', 'content'],
]);
const MISSING_PERMISSION = /missing scopes?|insufficient permissions?/i;
const ABOUT_THE_KEY = /\b(invalid|incorrect|wrong|expired|revoked|missing|no)\b[^.]{0,40}\b(api[ _-]?key|credentials?|token)\b/i;

/** Reads an answer with an error status. */
export function readError(answer: ErrorAnswer): ProviderError {
  const error = errorIn(answer.json);
  const message = error.message ?? fallbackMessage(answer);
  if (error.isFinal) return { kind: 'rateLimited', message, retryable: false };
  const retryable = shouldRetry(answer);
  return { kind: kindOfAnswer(answer.status, error, message), message, retryable, refusedFor: reasonOf(error), ...ranFor(error, cutText(answer)) };
}

/** An error after HTTP 200: in an `error` event, in a failed response, or as the only content of a body. */
export function streamError(value: unknown): ProviderError {
  const error = errorIn(value);
  const message = error.message ?? error.names[0] ?? 'it reported an error without a message';
  if (error.isFinal) return { kind: 'rateLimited', message, retryable: false };
  return { kind: error.kind ?? 'failed', message, refusedFor: reasonOf(error), ...ranFor(error) };
}

const REFUSED_ANSWER = 'failed_generation';

/** refused-answer, billed-refusal. */
function ranFor({ names, written }: ErrorText, cut?: string): Pick<ProviderError, 'mayHaveRun' | 'writtenBytes'> {
  const text = written ?? cut;
  if (text !== undefined) return { mayHaveRun: true, writtenBytes: Buffer.byteLength(text) };
  return names.includes('content_filter') ? { mayHaveRun: true } : {};
}

/** What came of such a text where the error is so long that only its beginning was read. */
function cutText({ json, text }: ErrorAnswer): string | undefined {
  const at = json === undefined ? text.indexOf(`"${REFUSED_ANSWER}"`) : -1;
  return at < 0 ? undefined : text.slice(at + REFUSED_ANSWER.length);
}

function reasonOf({ names }: ErrorText): RefusalReason | undefined {
  return names.map((name) => REASONS.get(name)).find((reason) => reason !== undefined);
}

/** True if the key may run models but not list them. */
export function isListingRefused(error: BlockhouseError): boolean {
  return (error.upstreamStatus === 403 || error.upstreamStatus === 401) && MISSING_PERMISSION.test(error.message);
}

/** 403 means that the key is valid but not allowed to do this (model, country), unless the text is about the key itself. */
function kindOfAnswer(status: number, error: ErrorText, message: string): ProviderErrorKind {
  if (status !== 403) return kindOfStatus(status);
  const isKey = error.kind === 'auth' || (ABOUT_THE_KEY.test(message) && !MISSING_PERMISSION.test(message));
  return isKey ? 'auth' : 'rejected';
}

function shouldRetry({ headers }: ErrorAnswer): boolean | undefined {
  const wish = headers['x-should-retry'];
  return wish === 'true' ? true : wish === 'false' ? false : undefined;
}

interface ErrorText {
  readonly message: string | undefined;
  /** Its `code` and `type`, if they are strings. */
  readonly names: readonly string[];
  readonly kind: ProviderErrorKind | undefined;
  readonly isFinal: boolean;
  /** refused-answer. */
  readonly written: string | undefined;
}

/** Compatible servers also write `{"error": "text"}`, `{"message": …}`, `{"detail": …}`, and an HTTP status as `code`. */
function errorIn(value: unknown): ErrorText {
  const outer = typeof value === 'string' ? { message: value } : asObject(value);
  const inner = outer['error'];
  const error = typeof inner === 'object' && inner !== null ? asObject(inner) : outer;
  const names = [error['code'], error['type']].flatMap((name) => asString(name) ?? []);
  const named = names.map((name) => KINDS.get(name)).find((kind) => kind !== undefined);
  return {
    message: [asString(inner), asString(error['message']), asString(outer['detail'])].find((text) => text !== undefined && text !== ''),
    names: names.filter((name) => name !== 'error'),
    kind: named ?? kindOfCode(error['code']),
    isFinal: names.some((name) => FINAL.has(name)),
    written: asString(error[REFUSED_ANSWER]),
  };
}
