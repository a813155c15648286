import t from 'tap';
import { frameError, readError } from '../../../adapters/bedrock/errors.ts';
import { errorAnswer } from '../../../adapters/shared/provider-errors.ts';
import { settingsFrom } from './help.ts';

function answer(status: number, type: string | undefined, body: unknown) {
  return errorAnswer(status, type === undefined ? {} : { 'x-amzn-errortype': type }, typeof body === 'string' ? body : JSON.stringify(body));
}

t.test('every documented type has its meaning', async (t) => {
  const table: [status: number, type: string, kind: string, retryable?: boolean][] = [
    [400, 'ValidationException', 'rejected'],
    [400, 'ConflictException', 'rejected'],
    [400, 'ServiceQuotaExceededException', 'rateLimited', false],
    [403, 'AccessDeniedException', 'rejected'],
    [403, 'UnrecognizedClientException', 'auth'],
    [403, 'InvalidSignatureException', 'auth'],
    [403, 'ExpiredTokenException', 'auth'],
    [403, 'MissingAuthenticationTokenException', 'auth'],
    [403, 'IncompleteSignature', 'auth'],
    [404, 'ResourceNotFoundException', 'rejected'],
    [408, 'ModelTimeoutException', 'timedOut'],
    [424, 'ModelErrorException', 'failed'],
    [424, 'ModelStreamErrorException', 'failed'],
    [429, 'ThrottlingException', 'rateLimited'],
    [429, 'ModelNotReadyException', 'rateLimited'],
    [500, 'InternalServerException', 'failed'],
    [503, 'ServiceUnavailableException', 'failed'],
  ];
  for (const [status, type, kind, retryable] of table) {
    const fault = readError(answer(status, type, { message: 'why' }));
    t.equal(fault.kind, kind, type);
    t.equal(fault.message, 'why');
    t.equal(fault.retryable, retryable, type);
  }
});

t.test('the type stands in the header before a colon, or in the body behind a hash', async (t) => {
  t.equal(readError(answer(400, 'ThrottlingException:http://internal.amazon.com/coral/', { message: 'x' })).kind, 'rateLimited');
  t.equal(readError(answer(400, undefined, { __type: 'com.amazon.coral.service#UnrecognizedClientException', message: 'x' })).kind, 'auth');
});

t.test('gotcha 9: the text stands under message or Message', async (t) => {
  t.equal(readError(answer(403, 'AccessDeniedException', { Message: 'capital' })).message, 'capital');
  t.equal(readError(answer(403, 'AccessDeniedException', { message: 'small' })).message, 'small');
  t.equal(readError(answer(503, 'ServiceUnavailableException', {})).message, 'ServiceUnavailableException');
});

t.test('a status decides where the type is unknown, and a page of a proxy is no message', async (t) => {
  t.equal(readError(answer(400, 'constructor', { message: 'x' })).kind, 'rejected');
  t.equal(readError(answer(418, 'NewException', { message: 'x' })).kind, 'rejected');
  t.equal(readError(answer(424, undefined, { message: 'x' })).kind, 'failed');
  t.same(readError(answer(502, undefined, '<html>bad gateway</html>')), { kind: 'failed', message: 'it answered with a web page instead of an error message' });
  t.same(readError(answer(403, undefined, '')), { kind: 'auth', message: 'it sent no error message' });
});

t.test('a bad bearer token is told from a missing permission, though both are AccessDeniedException', async (t) => {
  t.equal(readError(answer(403, 'AccessDeniedException', { Message: 'Authentication failed: Please make sure your API Key is valid.' })).kind, 'auth');
  t.equal(readError(answer(403, 'AccessDeniedException', { Message: 'Bearer Token has expired' })).kind, 'auth');
  t.equal(readError(answer(403, 'AccessDeniedException', { message: "You don't have access to the model with the specified model ID." })).kind, 'rejected');
});

t.test('gotchas 2 and 3: on-demand throughput, with U+2019 in its text, is answered with the profile ids to ask for', async (t) => {
  const text =
    'Invocation of model ID anthropic.claude-sonnet-5-5 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.';
  const hint = (region: string) => readError(answer(400, 'ValidationException', { message: text }), settingsFrom({ env: { AWS_REGION: region } }));
  t.equal(hint('eu-west-1').kind, 'rejected');
  t.match(hint('eu-west-1').message, 'eu.anthropic.claude-sonnet-5-5 or global.anthropic.claude-sonnet-5-5');
  t.match(hint('ap-northeast-1').message, 'jp.anthropic.claude-sonnet-5-5 or global.');
  t.match(hint('sa-east-1').message, /as the model: global\.anthropic\.claude-sonnet-5-5\.\)$/);
  t.match(readError(answer(400, 'ValidationException', { message: text })).message, /as the model: global\.anthropic\.claude-sonnet-5-5\.\)$/);
});

t.test('what AWS prints behind a refused signature is cut: the session token stands in it', async (t) => {
  const message =
    "The request signature we calculated does not match the signature you provided.\n\nThe Canonical String for this request should have been\n'POST\n/model\n\nx-amz-security-token:SECRETTOKEN'";
  const fault = readError(answer(403, 'InvalidSignatureException', { message }));
  t.equal(fault.message, 'The request signature we calculated does not match the signature you provided.');
});

t.test('an error of nothing but blanks costs in proportion to its length', async (t) => {
  // As long as a frame may be: work for each pair of them would take far longer than a test may.
  const blanks = ' '.repeat(15 * 1024 * 1024);
  t.equal(frameError('validationException', `a${blanks}b`).message, `a${blanks}b`);
  t.equal(readError(answer(403, undefined, { message: `${blanks}The Canonical String for this request` })).message, '');
});

t.test('exceptions of a stream have the same meaning under their lower-case types', async (t) => {
  const table = {
    internalServerException: 'failed',
    modelStreamErrorException: 'failed',
    serviceUnavailableException: 'failed',
    throttlingException: 'rateLimited',
    validationException: 'rejected',
    somethingNewException: 'failed',
  };
  for (const [type, kind] of Object.entries(table)) t.same(frameError(type, 'why'), { kind, message: 'why' });
  t.equal(frameError('throttlingException', undefined).message, 'throttlingException');
  t.equal(frameError('', undefined).message, 'it reported an error without a message');
});
