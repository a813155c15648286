// Bedrock's errors: a type in a header or in the body, the text under one of two spellings; in a stream, a frame.
// Pure: no I/O.
import type { ResolvedSettings } from '../../core/index.ts';
import { type ErrorAnswer, fallbackMessage, kindOfStatus, type ProviderError, type ProviderErrorKind } from '../shared/provider-errors.ts';
import { asObject, asString, lookUp } from '../shared/read.ts';
import { profilePrefix, regionOf } from './endpoints.ts';

/** By lower-case type without its ending: streams write `throttlingException`, answers `ThrottlingException`. */
const KINDS: Record<string, ProviderErrorKind> = {
  validation: 'rejected',
  conflict: 'rejected',
  resourcenotfound: 'rejected',
  accessdenied: 'rejected',
  unrecognizedclient: 'auth',
  invalidclienttokenid: 'auth',
  invalidsignature: 'auth',
  signaturedoesnotmatch: 'auth',
  incompletesignature: 'auth',
  expiredtoken: 'auth',
  missingauthenticationtoken: 'auth',
  throttling: 'rateLimited',
  toomanyrequests: 'rateLimited',
  modelnotready: 'rateLimited',
  servicequotaexceeded: 'rateLimited',
  modeltimeout: 'timedOut',
  modelerror: 'failed',
  modelstreamerror: 'failed',
  internalserver: 'failed',
  serviceunavailable: 'failed',
};
const FAILED_DEPENDENCY = 424;

/** Reads an answer with an error status. `settings` serve the hint that names an inference profile. */
export function readError(answer: ErrorAnswer, settings?: ResolvedSettings): ProviderError {
  const body = asObject(answer.json);
  const type = asString(answer.headers['x-amzn-errortype'])?.split(':')[0] ?? asString(body['__type'])?.split('#').at(-1) ?? '';
  const message =
    asString(body['message']) ?? asString(body['Message']) ?? (answer.json === undefined ? fallbackMessage(answer) : type || fallbackMessage(answer));
  const byStatus = answer.status === FAILED_DEPENDENCY ? 'failed' : kindOfStatus(answer.status);
  return toProviderError(type, withProfileHint(message, settings), byStatus);
}

/** An exception that came as a frame, after HTTP 200. */
export function frameError(type: string, message: string | undefined): ProviderError {
  return toProviderError(type, message ?? (type || 'it reported an error without a message'), 'failed');
}

function toProviderError(type: string, message: string, otherwise: ProviderErrorKind): ProviderError {
  const key = type.toLowerCase().replace(/(?:exception|error)$/, '');
  // A bad bearer token and a missing permission are both an AccessDeniedException; only the words differ.
  const kind =
    key === 'accessdenied' && /authentication failed|api key|bearer token/i.test(message)
      ? 'auth'
      : (lookUp(KINDS, key) ?? lookUp(KINDS, `${key}error`) ?? otherwise);
  return { kind, message: withoutCanonicalRequest(message), ...(key === 'servicequotaexceeded' && { retryable: false }) };
}

const CANONICAL_REQUEST = 'The Canonical String for this request';

/**
 * After a refused signature AWS prints the request that it signed, with the session token in it. Without a pattern: one that takes the blanks before the
 * words looks at each run of blanks once for each of them, and the text is the provider's.
 */
function withoutCanonicalRequest(message: string): string {
  const at = message.indexOf(CANONICAL_REQUEST);
  return at < 0 ? message : message.slice(0, at).trimEnd();
}

/** Matched on words without the apostrophe in "isn’t", which is U+2019 there. */
function withProfileHint(message: string, settings: ResolvedSettings | undefined): string {
  if (!message.includes('on-demand throughput')) return message;
  const model = /model ID (\S+)/.exec(message)?.[1] ?? '<model>';
  const prefix = settings === undefined ? undefined : profilePrefix(regionOf(settings));
  const ids = [...(prefix === undefined ? [] : [prefix]), 'global.'].map((start) => `${start}${model}`);
  return `${message} (Use an inference profile as the model: ${ids.join(' or ')}.)`;
}
