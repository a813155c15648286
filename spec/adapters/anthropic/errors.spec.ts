import t from 'tap';
import { readError, readErrorObject } from '../../../adapters/anthropic/errors.ts';
import { errorAnswer, kindOfStatus } from '../../../adapters/shared/provider-errors.ts';

const body = (type: string, message = 'words') => JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' });

t.test('what a documented error means', async (t) => {
  const table: [number, string, string][] = [
    [400, 'invalid_request_error', 'rejected'],
    [401, 'authentication_error', 'auth'],
    [402, 'billing_error', 'rejected'],
    [403, 'permission_error', 'rejected'],
    [404, 'not_found_error', 'rejected'],
    [409, 'conflict_error', 'failed'],
    [413, 'request_too_large', 'rejected'],
    [429, 'rate_limit_error', 'rateLimited'],
    [500, 'api_error', 'failed'],
    [504, 'timeout_error', 'timedOut'],
    [529, 'overloaded_error', 'failed'],
  ];
  for (const [status, type, kind] of table) {
    t.match(readError(errorAnswer(status, {}, body(type))), { kind, message: 'words' }, type);
    t.match(readErrorObject({ type, message: 'words' }), { kind, message: 'words' }, `${type} inside a stream`);
  }
});

t.test('the status decides where the type is unknown or the body is not theirs', async (t) => {
  for (const status of [400, 401, 413, 429, 502]) {
    for (const text of [body('newest_error'), body('constructor'), '<html>413</html>', '', '"x"', '{"error":"text"}'])
      t.equal(readError(errorAnswer(status, {}, text)).kind, kindOfStatus(status), `${status} ${text}`);
  }
  t.match(readError(errorAnswer(413, {}, '<html>')).message, /web page/);
});

t.test('x-should-retry: false overrules the status', async (t) => {
  t.equal(readError(errorAnswer(529, { 'x-should-retry': 'false' }, body('overloaded_error'))).retryable, false);
  t.equal(readError(errorAnswer(529, { 'x-should-retry': 'true' }, body('overloaded_error'))).retryable, undefined);
});

t.test('an error inside a stream that says little', async (t) => {
  t.same(readErrorObject({ type: 'newest_error' }), { kind: 'failed', message: 'newest_error' });
  t.match(readErrorObject(undefined), { kind: 'failed', message: /without a message/ });
});
