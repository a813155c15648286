import t from 'tap';
import { errorAnswer, fallbackMessage, fromProviderError, kindOfStatus, type ProviderErrorKind } from '../../../adapters/shared/provider-errors.ts';
import type { ErrorCode } from '../../../core/index.ts';

t.test('the kind of a status', async (t) => {
  const table: Record<ProviderErrorKind, number[]> = {
    auth: [401, 403],
    rateLimited: [429],
    failed: [500, 502, 503, 529, 599],
    timedOut: [408, 504, 524],
    rejected: [301, 302, 304, 307, 308, 400, 402, 404, 405, 409, 413, 415, 422],
  };
  for (const [kind, statuses] of Object.entries(table)) for (const status of statuses) t.equal(kindOfStatus(status), kind, `${status}`);
});

t.test('each kind has its code, and is as retryable as the code', async (t) => {
  const table: [ProviderErrorKind, ErrorCode, boolean][] = [
    ['auth', 'UPSTREAM_AUTH', false],
    ['rejected', 'UPSTREAM_REJECTED', false],
    ['rateLimited', 'UPSTREAM_RATE_LIMITED', true],
    ['failed', 'UPSTREAM_FAILED', true],
  ];
  for (const [kind, code, retryable] of table) {
    const error = fromProviderError({ kind, message: 'no' }, { name: 'Acme', status: 418, secrets: [] });
    t.match(error, { code, retryable, upstreamStatus: 418, message: 'Acme (HTTP 418): no' });
  }
});

t.test('a provider error knows better than its kind whether it may be retried', async (t) => {
  t.equal(fromProviderError({ kind: 'rateLimited', message: 'quota', retryable: false }, { name: 'A', secrets: [] }).retryable, false);
  t.equal(fromProviderError({ kind: 'rejected', message: 'x', retryable: true }, { name: 'A', secrets: [] }).retryable, true);
});

t.test('a call that comes round to where it began is not made again, also where the answer has no header that says so', async (t) => {
  t.match(fromProviderError({ kind: kindOfStatus(508), message: 'loop' }, { name: 'A', status: 508, secrets: [] }), {
    code: 'UPSTREAM_FAILED',
    retryable: false,
  });
});

t.test('an error inside a stream has no status', async (t) => {
  const error = fromProviderError({ kind: 'failed', message: 'broke', retryAfterMs: 5 }, { name: 'Acme', secrets: [] });
  t.equal(error.message, 'Acme: broke');
  t.equal(error.upstreamStatus, undefined);
  t.equal(error.retryAfterMs, 5);
});

t.test('how long to wait', async (t) => {
  const inTen = new Date(Date.now() + 10_000).toUTCString();
  const wait = (headers: Record<string, unknown>, retryAfterMs?: number): number | undefined =>
    fromProviderError({ kind: 'rateLimited', message: '', retryAfterMs }, { name: 'A', status: 429, headers: headers as Record<string, string>, secrets: [] })
      .retryAfterMs;
  const table: [string, Record<string, unknown>, number | undefined, number | undefined][] = [
    ['seconds', { 'retry-after': '3' }, undefined, 3000],
    ['milliseconds before seconds', { 'retry-after-ms': '250', 'retry-after': '3' }, undefined, 250],
    ['a header before the body', { 'retry-after': '3' }, 9000, 3000],
    ['the body without a header', {}, 9000, 9000],
    ['nothing', {}, undefined, undefined],
    ['broken milliseconds', { 'retry-after-ms': 'soon', 'retry-after': '3' }, undefined, 3000],
    ['empty milliseconds', { 'retry-after-ms': ' ', 'retry-after': '3' }, undefined, 3000],
    ['negative milliseconds', { 'retry-after-ms': '-5', 'retry-after': '3' }, undefined, 3000],
    ['a far future', { 'retry-after': '99999999' }, undefined, 3_600_000],
    ['a far date', { 'retry-after': 'Thu, 01 Jan 2099 00:00:00 GMT' }, undefined, 3_600_000],
    ['a past date', { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, undefined, undefined],
    ['no number', { 'retry-after': 'NaN' }, undefined, undefined],
    ['a negative number', { 'retry-after': '-1' }, 700, 700],
    ['a header that came twice', { 'retry-after': ['4', '5'] }, undefined, 4000],
    ['milliseconds that came twice', { 'retry-after-ms': ['4', '5'] }, undefined, 4],
  ];
  for (const [what, headers, body, ms] of table) t.equal(wait(headers, body), ms, what);
  const dated = wait({ 'retry-after': inTen }) ?? 0;
  t.ok(dated > 0 && dated <= 10_000, `a date is the time until then (${dated})`);
});

t.test('a message is redacted, then cut to 2,000 characters', async (t) => {
  const secret = 'hunter2hunter2';
  const error = fromProviderError({ kind: 'failed', message: `${'x'.repeat(1995)}${secret}${'y'.repeat(100_000)}` }, { name: 'A', secrets: [secret] });
  t.equal(error.message.length, 'A: '.length + 2000);
  t.equal(error.message.includes('hunter'), false);
  const long = fromProviderError({ kind: 'failed', message: `${secret}${'\\y'.repeat(16 * 1024 * 1024)}${secret}` }, { name: 'A', secrets: [secret] });
  t.equal(long.message, `A: [redacted]${'\\y'.repeat(995)}`, 'of a message without end, the beginning is read');
});

t.test('a body is read as JSON where it is some', async (t) => {
  t.same(errorAnswer(500, {}, '{"a":1}').json, { a: 1 });
  t.equal(errorAnswer(500, {}, '{"a":').json, undefined);
});

t.test('what is said of a body without a message', async (t) => {
  const table: [number, string, RegExp][] = [
    [302, '', /redirects are not followed/],
    [500, ' \n', /sent no error message/],
    [502, '\n<!doctype html><title>Bad gateway', /web page/],
    [500, ' plain text ', /^plain text$/],
  ];
  for (const [status, text, said] of table) t.match(fallbackMessage(errorAnswer(status, {}, text)), said);
});

t.test('a refusal without a code for its reason has it by its words', async (t) => {
  const words: [message: string, reason: string | undefined][] = [
    ['prompt is too long: 210000 tokens > 200000 maximum', 'context'],
    ["This model's maximum context length is 8192 tokens.", 'context'],
    ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 'context'],
    ['Input is too long for requested model.', 'context'],
    ["The prompt triggered Azure OpenAI's content management policy.", 'content'],
    ['Your prompt was flagged as potentially violating our usage policy.', 'content'],
    ['There is no such model.', undefined],
  ];
  for (const [message, refusedFor] of words) {
    t.equal(fromProviderError({ kind: 'rejected', message }, { name: 'A', secrets: [] }).refusedFor, refusedFor, message);
    t.equal(fromProviderError({ kind: 'failed', message }, { name: 'A', secrets: [] }).refusedFor, undefined, 'a failure is no refusal');
    t.equal(fromProviderError({ kind: 'rejected', message, refusedFor: 'content' }, { name: 'A', secrets: [] }).refusedFor, 'content', 'a code says more');
  }
});
