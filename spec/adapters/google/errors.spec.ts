import t from 'tap';
import { readError, recordError } from '../../../adapters/google/errors.ts';
import { errorAnswer, type ProviderError } from '../../../adapters/shared/provider-errors.ts';

interface GoogleError {
  code?: number;
  message?: string;
  status?: string;
  details?: unknown[];
}

const RETRY = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay });
const quota = (quotaId: string) => ({ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] });

const table: { fact: string; error: GoogleError & { code: number }; want: Partial<ProviderError> }[] = [
  {
    fact: 'gotcha 1: a bad key is a 400 and counts as auth',
    error: { code: 400, message: 'Nope.', status: 'INVALID_ARGUMENT', details: [{ '@type': 'ErrorInfo', reason: 'API_KEY_INVALID' }] },
    want: { kind: 'auth' },
  },
  {
    fact: 'a 400 whose message blames the API key is auth',
    error: { code: 400, message: 'API key expired. Please renew the API key.' },
    want: { kind: 'auth' },
  },
  { fact: 'another 400 is rejected', error: { code: 400, message: 'Unknown name "get_api_key"', status: 'INVALID_ARGUMENT' }, want: { kind: 'rejected' } },
  {
    fact: '400 FAILED_PRECONDITION is rejected, even when it speaks of API keys',
    error: { code: 400, message: 'Your API key has no billing.', status: 'FAILED_PRECONDITION' },
    want: { kind: 'rejected' },
  },
  { fact: '401 is auth', error: { code: 401, message: 'm', status: 'UNAUTHENTICATED' }, want: { kind: 'auth' } },
  { fact: '403 is auth', error: { code: 403, message: 'm', status: 'PERMISSION_DENIED' }, want: { kind: 'auth' } },
  { fact: '404 is rejected', error: { code: 404, message: 'm', status: 'NOT_FOUND' }, want: { kind: 'rejected' } },
  {
    fact: '429 waits as long as RetryInfo says',
    error: { code: 429, message: 'm', details: [RETRY('34s')] },
    want: { kind: 'rateLimited', retryAfterMs: 34_000 },
  },
  { fact: 'a wait may have a fraction', error: { code: 429, message: 'm', details: [RETRY('0.5s')] }, want: { kind: 'rateLimited', retryAfterMs: 500 } },
  { fact: 'a long wait is clamped', error: { code: 429, message: 'm', details: [RETRY('7200s')] }, want: { kind: 'rateLimited', retryAfterMs: 3_600_000 } },
  { fact: 'a wait that is no duration is ignored', error: { code: 429, message: 'm', details: [RETRY('soon')] }, want: { kind: 'rateLimited' } },
  {
    fact: 'a quota of the day is not retried',
    error: { code: 429, message: 'm', details: [quota('GenerateRequestsPerDayPerProjectPerModel-FreeTier'), RETRY('34s')] },
    want: { kind: 'rateLimited', retryable: false, retryAfterMs: 34_000 },
  },
  { fact: 'a quota of the day is known by the message too', error: { code: 429, message: 'limit PerDay' }, want: { kind: 'rateLimited', retryable: false } },
  {
    fact: 'a quota of the minute is retried',
    error: { code: 429, message: 'm', details: [quota('GenerateRequestsPerMinutePerProject')] },
    want: { kind: 'rateLimited' },
  },
  { fact: '499 is rejected', error: { code: 499, message: 'm', status: 'CANCELLED' }, want: { kind: 'rejected' } },
  { fact: '500 is failed', error: { code: 500, message: 'm', status: 'INTERNAL' }, want: { kind: 'failed' } },
  { fact: '503 is failed', error: { code: 503, message: 'm', status: 'UNAVAILABLE' }, want: { kind: 'failed' } },
  { fact: '504 is a timeout', error: { code: 504, message: 'm', status: 'DEADLINE_EXCEEDED' }, want: { kind: 'timedOut' } },
];

for (const { fact, error, want } of table) {
  t.test(fact, async (t) => {
    const fault = { message: error.message, ...want };
    t.strictSame(readError(errorAnswer(error.code, {}, JSON.stringify({ error }))), fault, 'as a body');
    t.strictSame(readError(errorAnswer(error.code, {}, JSON.stringify([{ error }]))), fault, 'as a body in an array');
    t.strictSame(recordError({ error }), fault, 'inside a stream');
  });
}

t.test('a record without a code goes by the name of its status', async (t) => {
  t.equal(recordError({ error: { status: 'RESOURCE_EXHAUSTED' } }).kind, 'rateLimited');
  t.equal(recordError({ error: { status: 'PERMISSION_DENIED' } }).kind, 'auth');
  t.equal(recordError({ error: { status: 'INVALID_ARGUMENT' } }).kind, 'rejected');
});

t.test('a record without code and status is a failure with a message of ours', async (t) => {
  t.strictSame(recordError({ error: {} }), { kind: 'failed', message: 'it reported an error without a message' });
});

t.test('a body that is no error object keeps its text', async (t) => {
  t.strictSame(readError(errorAnswer(502, {}, 'bad gateway')), { kind: 'failed', message: 'bad gateway' });
});

t.test('details of any shape are survived', async (t) => {
  t.strictSame(recordError({ error: { code: 429, message: 'm', details: [null, 1, { violations: [null] }] } }), { kind: 'rateLimited', message: 'm' });
});

t.test('an error that nests too deep to be written is read like any other', async (t) => {
  const deep = `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`;
  const text = `{"error":{"code":429,"message":"slow down","details":[{"violations":[${deep},{"quotaId":"PerDay"}]}]}}`;
  t.match(readError(errorAnswer(429, {}, text)), { kind: 'rateLimited', message: 'slow down', retryable: false });
});
