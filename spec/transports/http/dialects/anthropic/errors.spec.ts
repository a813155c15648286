import t from 'tap';
import { BlockhouseError, type ErrorCode, type ErrorExtras, invalidRequest } from '../../../../../core/index.ts';
import { anthropicFault } from '../../../../../transports/http/dialects/anthropic/errors.ts';

const fault = (code: ErrorCode, extras: ErrorExtras = {}, message = 'What.') => anthropicFault(new BlockhouseError(code, message, extras), 'req_1');

t.test('each failure has the status and the type by which clients decide', async (t) => {
  for (const [code, status, type] of [
    ['INVALID_REQUEST', 400, 'invalid_request_error'],
    ['UNAUTHORIZED', 401, 'authentication_error'],
    ['KEY_FORBIDDEN', 403, 'permission_error'],
    ['PRICE_UNKNOWN', 403, 'permission_error'],
    ['MODEL_NOT_FOUND', 404, 'not_found_error'],
    ['BODY_TOO_LARGE', 413, 'request_too_large'],
    ['UPSTREAM_RATE_LIMITED', 429, 'rate_limit_error'],
    ['QUEUE_FULL', 429, 'rate_limit_error'],
    ['UPSTREAM_AUTH', 502, 'api_error'],
    ['ADAPTER_NOT_CONFIGURED', 503, 'api_error'],
    ['UPSTREAM_FAILED', 529, 'overloaded_error'],
    ['UPSTREAM_TIMEOUT', 504, 'timeout_error'],
    ['UPSTREAM_UNREACHABLE', 502, 'api_error'],
    ['SHUTTING_DOWN', 503, 'api_error'],
    ['INTERNAL_ERROR', 500, 'api_error'],
  ] as const) {
    t.match(fault(code), { status, body: { type: 'error', error: { type }, request_id: 'req_1' }, headers: { 'request-id': 'req_1' } }, code);
  }
  t.match(fault('UPSTREAM_REJECTED', { upstreamStatus: 422 }), { status: 422, body: { error: { type: 'invalid_request_error' } } });
  t.match(fault('UPSTREAM_REJECTED', { upstreamStatus: 404 }), { status: 404, body: { error: { type: 'not_found_error' } } });
  t.match(fault('UPSTREAM_REJECTED', { upstreamStatus: 451 }), { status: 400 });
});

t.test('clients hear when to try again, and when not to', async (t) => {
  t.match(fault('UPSTREAM_RATE_LIMITED', { retryAfterMs: 1500 }).headers, { 'retry-after': '2' });
  t.match(fault('UPSTREAM_RATE_LIMITED', { retryable: false }).headers, { 'x-should-retry': 'false' });
  t.match(fault('UPSTREAM_AUTH').headers, { 'x-should-retry': 'false' });
  t.match(fault('UNAUTHORIZED').headers, { 'x-should-retry': 'false' });
});

t.test('what a model has broken off for good is no overload, and clients do not pay for it again unasked', async (t) => {
  t.match(fault('UPSTREAM_FAILED', { retryable: false, mayHaveRun: true }), {
    status: 502,
    headers: { 'x-should-retry': 'false' },
    body: { error: { type: 'api_error' } },
  });
  t.equal(fault('UPSTREAM_FAILED', { mayHaveRun: true }).headers?.['x-should-retry'], undefined);
});

t.test('a prompt that is too long is told in the words that clients look for', async (t) => {
  t.match(fault('UPSTREAM_REJECTED', { upstreamStatus: 400 }, 'This model has a maximum context length of 8192 tokens.').body, {
    error: { message: /^prompt is too long: This model/ },
  });
});

t.test('a thread is refused in the words after which the client sends the whole conversation', async (t) => {
  t.match(anthropicFault(invalidRequest('thread', 'x'), 'req_1'), {
    status: 400,
    body: {
      error: {
        type: 'invalid_request_error',
        message: /^capability_rejected: beta_header:message-threads-2026-08-12/,
        details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
      },
    },
  });
});

t.test('the cause of a defect stays in the log', async (t) => {
  t.notMatch(JSON.stringify(fault('INTERNAL_ERROR', {}, 'secret path')), 'secret');
});
