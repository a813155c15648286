import t from 'tap';
import { BlockhouseError, type ErrorCode } from '../../../../../core/index.ts';
import { openAiError, openAiFault } from '../../../../../transports/http/dialects/shared/openai-errors.ts';

t.test('each failure has the status, type and code that clients decide by', async (t) => {
  for (const [code, status, type, wire] of [
    ['INVALID_REQUEST', 400, 'invalid_request_error', null],
    ['UNAUTHORIZED', 401, 'authentication_error', 'invalid_api_key'],
    ['PRICE_UNKNOWN', 403, 'permission_error', 'model_not_allowed'],
    ['KEY_CAP_REACHED', 429, 'insufficient_quota', 'insufficient_quota'],
    ['MODEL_NOT_FOUND', 404, 'invalid_request_error', 'model_not_found'],
    ['UPSTREAM_AUTH', 502, 'server_error', 'provider_not_configured'],
    ['ADAPTER_NOT_CONFIGURED', 503, 'server_error', 'provider_not_configured'],
    ['UPSTREAM_FAILED', 503, 'server_error', 'server_is_overloaded'],
    ['UPSTREAM_TIMEOUT', 504, 'server_error', null],
    ['UNSUPPORTED_MEDIA_TYPE', 415, 'invalid_request_error', null],
    ['STORAGE_FULL', 507, 'server_error', null],
  ] as [ErrorCode, number, string, string | null][])
    t.match(openAiFault(new BlockhouseError(code, 'It failed.')), { status, body: { error: { message: 'It failed.', type, code: wire, param: null } } }, code);
});

t.test("what the provider refused keeps the provider's status, and a prompt that is too long has a code of its own", async (t) => {
  const refused = (message: string, upstreamStatus: number) => openAiFault(new BlockhouseError('UPSTREAM_REJECTED', message, { upstreamStatus }));
  t.match(refused('bad', 422), { status: 422 });
  t.match(refused('bad', 403), { status: 400 });
  t.match(refused('This model has a maximum context length of 10 tokens.', 400), { body: { error: { code: 'context_length_exceeded' } } });
});

t.test('a limit says when to come back, an exhausted quota that there is no use', async (t) => {
  t.match(openAiFault(new BlockhouseError('UPSTREAM_RATE_LIMITED', 'x', { retryAfterMs: 1500 })), { status: 429, headers: { 'retry-after': '2' } });
  t.match(openAiFault(new BlockhouseError('UPSTREAM_RATE_LIMITED', 'x', { retryable: false })), {
    headers: { 'x-should-retry': 'false' },
    body: { error: { code: 'insufficient_quota' } },
  });
});

t.test('what a model has broken off for good is no overload, and clients do not pay for it again unasked', async (t) => {
  t.match(openAiFault(new BlockhouseError('UPSTREAM_FAILED', 'x', { retryable: false, mayHaveRun: true })), {
    status: 502,
    headers: { 'x-should-retry': 'false' },
    body: { error: { type: 'server_error', code: null } },
  });
  t.equal(openAiFault(new BlockhouseError('UPSTREAM_FAILED', 'x', { mayHaveRun: true })).headers?.['x-should-retry'], undefined);
});

t.test('what a key may not send is not taken for a model that it may not use', async (t) => {
  const details = [{ path: 'background', message: 'may not be sent' }];
  const error = openAiError(new BlockhouseError('KEY_FORBIDDEN', 'background may not be sent.', { details }));
  t.match(error, { type: 'permission_error', code: 'unsupported_parameter', param: 'background' });
  t.match(openAiError(new BlockhouseError('KEY_FORBIDDEN', 'It failed.')), { type: 'permission_error', code: 'model_not_allowed', param: null });
});

t.test('the field is named, and an internal error shows nothing of its cause', async (t) => {
  t.equal(openAiError(new BlockhouseError('INVALID_REQUEST', 'n must be 1.', { details: [{ path: 'n', message: 'must be 1' }] })).param, 'n');
  t.notMatch(openAiError(new BlockhouseError('INTERNAL_ERROR', 'secret')).message, /secret/);
});
