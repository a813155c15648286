import t from 'tap';
import { isListingRefused, readError, streamError } from '../../../adapters/openai/errors.ts';
import { errorAnswer } from '../../../adapters/shared/provider-errors.ts';
import { BlockhouseError } from '../../../core/index.ts';

const fault = (status: number, error: unknown, headers: Record<string, string> = {}) => readError(errorAnswer(status, headers, JSON.stringify({ error })));

t.test('statuses become kinds', async (t) => {
  for (const [status, kind] of [
    [400, 'rejected'],
    [401, 'auth'],
    [403, 'rejected'],
    [404, 'rejected'],
    [408, 'timedOut'],
    [409, 'rejected'],
    [422, 'rejected'],
    [429, 'rateLimited'],
    [500, 'failed'],
    [503, 'failed'],
  ] as const)
    t.same(fault(status, { message: 'm' }), { kind, message: 'm', retryable: undefined }, String(status));
});

t.test('gotcha: an exhausted quota is rate limiting that no wait cures', async (t) => {
  for (const error of [{ code: 'insufficient_quota' }, { code: 'credit_balance_exhausted' }, { type: 'insufficient_quota', code: null }]) {
    t.same(fault(429, { ...error, message: 'pay' }), { kind: 'rateLimited', message: 'pay', retryable: false });
    t.same(fault(429, { ...error, message: 'pay' }, { 'x-should-retry': 'true' }).retryable, false, 'whatever the header says');
    t.same(streamError({ error: { ...error, message: 'pay' } }), { kind: 'rateLimited', message: 'pay', retryable: false }, 'also in a stream');
  }
});

t.test('gotcha: an answer that Groq refuses is in its error, and the model has run', async (t) => {
  const ran = (written: string) => ({ kind: 'rejected', mayHaveRun: true, writtenBytes: Buffer.byteLength(written) });
  for (const written of ['an ode, and no JSON', 'ü', '']) {
    const error = { message: 'Failed to generate JSON.', type: 'invalid_request_error', code: 'json_validate_failed', failed_generation: written };
    t.match(fault(400, error), ran(written));
    t.match(streamError({ error }), ran(written), 'in a stream, too');
  }
  const cut = readError(errorAnswer(400, {}, '{"error":{"message":"m","failed_generation":"an ode that is'));
  t.match(cut, { mayHaveRun: true, writtenBytes: Number }, 'of one that is too long to be read, what came counts');
  t.notMatch(fault(400, { message: 'no failed_generation here' }), { mayHaveRun: true });
});

t.test('gotcha: Azure bills a prompt that its filter refuses', async (t) => {
  const error = {
    message: 'The response was filtered.',
    type: null,
    param: 'prompt',
    code: 'content_filter',
    status: 400,
    innererror: { code: 'ResponsibleAIPolicyViolation' },
  };
  t.match(fault(400, error), { kind: 'rejected', refusedFor: 'content', mayHaveRun: true });
  t.match(streamError({ error }), { refusedFor: 'content', mayHaveRun: true });
  t.notMatch(fault(400, { ...error, code: 'content_policy_violation' }), { mayHaveRun: true }, 'others say nothing of a bill');
});

t.test('a 403 is a missing permission unless it is about the key', async (t) => {
  for (const [error, kind] of [
    [{ code: 'unsupported_country_region_territory', message: 'Country, region, or territory not supported' }, 'rejected'],
    [{ code: 'model_not_found', message: 'Project `p` does not have access to model `m`' }, 'rejected'],
    [{ message: 'You have insufficient permissions for this operation. Missing scopes: api.model.read. If you use a restricted API key, …' }, 'rejected'],
    [{ message: 'Missing scopes on this API key: model_read' }, 'rejected'],
    [{ code: 403, message: 'Your input was flagged' }, 'rejected'],
    [{ code: 'invalid_api_key', message: 'no' }, 'auth'],
    [{ message: 'Incorrect API key provided' }, 'auth'],
    [{ message: 'The token has been revoked: invalid token' }, 'auth'],
  ] as const)
    t.equal(fault(403, error).kind, kind, JSON.stringify(error));
});

t.test('x-should-retry decides where it is sent', async (t) => {
  t.equal(fault(500, { message: 'm' }, { 'x-should-retry': 'false' }).retryable, false);
  t.equal(fault(409, { message: 'm' }, { 'x-should-retry': 'true' }).retryable, true);
  t.equal(fault(500, { message: 'm' }, { 'x-should-retry': 'maybe' }).retryable, undefined);
});

t.test('the message is found in the shapes of compatible servers too', async (t) => {
  for (const [text, message] of [
    ['{"error":{"message":"why"}}', 'why'],
    ['{"error":"why"}', 'why'],
    ['{"object":"error","message":"why"}', 'why'],
    ['{"detail":"why"}', 'why'],
    ['{"error":{"message":""}}', '{"error":{"message":""}}'],
    ['{"detail":[{"loc":["body"]}]}', '{"detail":[{"loc":["body"]}]}'],
    ['why', 'why'],
    ['', 'it sent no error message'],
    ['<html>', 'it answered with a web page instead of an error message'],
  ] as const)
    t.equal(readError(errorAnswer(400, {}, text)).message, message, text);
});

t.test('codes inside a stream become kinds; an unknown one is a failure', async (t) => {
  for (const [error, kind] of [
    [{ code: 'rate_limit_exceeded' }, 'rateLimited'],
    [{ code: 'server_error' }, 'failed'],
    [{ code: 'context_length_exceeded' }, 'rejected'],
    [{ code: 'invalid_prompt' }, 'rejected'],
    [{ type: 'invalid_request_error', code: null }, 'rejected'],
    [{ type: 'invalid_request_error', code: 'invalid_api_key' }, 'auth'],
    [{ code: 'constructor' }, 'failed'],
    [{ code: 429 }, 'rateLimited'],
    [{ code: '503' }, 'failed'],
    [{ code: 401 }, 'auth'],
    [{ code: 403 }, 'rejected'],
    [{ code: 0 }, 'failed'],
    [{}, 'failed'],
  ] as const)
    t.equal(streamError({ ...error, message: 'm' }).kind, kind, JSON.stringify(error));
});

t.test('an error without a message says its code', async (t) => {
  t.equal(streamError({ type: 'error', code: 'server_error' }).message, 'server_error');
  t.equal(streamError({ type: 'error' }).message, 'it reported an error without a message');
  t.equal(streamError('gone').message, 'gone');
  t.equal(streamError(null).message, 'it reported an error without a message');
});

t.test('a key that may not list models is told apart from a wrong one', async (t) => {
  const error = (upstreamStatus: number, message: string) => new BlockhouseError('UPSTREAM_REJECTED', message, { upstreamStatus });
  t.ok(isListingRefused(error(403, 'OpenAI (HTTP 403): You have insufficient permissions for this operation. Missing scopes: api.model.read')));
  t.ok(isListingRefused(error(401, 'Missing scopes: api.model.read')));
  t.notOk(isListingRefused(error(403, 'Country, region, or territory not supported')));
  t.notOk(isListingRefused(error(500, 'Missing scopes')));
});
