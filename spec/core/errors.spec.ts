import { readFileSync } from 'node:fs';
import t from 'tap';
import { BlockhouseError, ERROR_TABLE, type ErrorCode, errorBody, invalidRequest, toBlockhouseError, withUsage } from '../../core/errors.ts';

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];

t.test('docs/errors.md has one heading for each code, with the status and retryability of the table', async (t) => {
  const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const documented = [...text.matchAll(/^### (\S+)\n+Status (\d+), (not )?retryable\./gm)].map(([, code, status, not]) => ({
    code,
    status: Number(status),
    retryable: not === undefined,
  }));
  const headings = [...text.matchAll(/^### /gm)];
  t.equal(headings.length, documented.length, 'every heading is followed by its status line');
  const table = CODES.map((code) => ({ code, status: ERROR_TABLE[code].status, retryable: ERROR_TABLE[code].retryable }));
  const byCode = (a: { code: string | undefined }, b: { code: string | undefined }) => String(a.code).localeCompare(String(b.code));
  t.same(documented.sort(byCode), table.sort(byCode));
});

t.test('an error takes status and retryability from its code', async (t) => {
  for (const code of CODES) {
    const error = new BlockhouseError(code, 'text');
    t.match(error, { code, status: ERROR_TABLE[code].status, retryable: ERROR_TABLE[code].retryable, mayHaveRun: false, message: 'text' });
  }
});

t.test('the provider may say that a repetition is useless', async (t) => {
  t.equal(new BlockhouseError('UPSTREAM_RATE_LIMITED', 'quota', { retryable: false }).retryable, false);
  t.equal(new BlockhouseError('UPSTREAM_REJECTED', 'busy', { retryable: true }).retryable, true);
});

t.test('a connection that broke after the request was sent is not to be tried again, since the provider may have worked', async (t) => {
  t.equal(new BlockhouseError('UPSTREAM_UNREACHABLE', 'no connection').retryable, true);
  const broken = new BlockhouseError('UPSTREAM_UNREACHABLE', 'reset', { mayHaveRun: true });
  t.match(broken, { retryable: false, mayHaveRun: true });
  t.equal(errorBody(broken).retryable, false);
  t.equal(withUsage(broken, { inputTokens: 1, outputTokens: 2, totalTokens: 3 }).retryable, false);
});

t.test('a fault of one field reads as a sentence and names the field in details', async (t) => {
  const fault = invalidRequest('messages[0].role', 'is required');
  t.match(fault, { code: 'INVALID_REQUEST', message: 'messages[0].role is required.', details: [{ path: 'messages[0].role', message: 'is required' }] });
  t.equal(invalidRequest('tools', 'are too many.').message, 'tools are too many.', 'one full stop');
  t.equal(invalidRequest('', 'The body is empty.').message, 'The body is empty.');
});

t.test('a foreign error becomes an INTERNAL_ERROR that keeps its cause and hides its text', async (t) => {
  for (const foreign of [new Error('key sk-123 leaked'), new TypeError('x'), 'a string', undefined, null, { config: { apiKey: 'sk-123' } }]) {
    const error = toBlockhouseError(foreign);
    t.equal(error.code, 'INTERNAL_ERROR');
    t.equal(error.cause, foreign ?? error.cause);
    t.notMatch(JSON.stringify(errorBody(error, 'req_1')), 'sk-123');
  }
  const own = new BlockhouseError('NOT_FOUND', 'no');
  t.equal(toBlockhouseError(own), own, 'ours pass untouched');
});

t.test('the body has what applies and nothing else', async (t) => {
  t.strictSame(errorBody(new BlockhouseError('NOT_FOUND', 'no')), { error: 'no', status: 404, code: 'NOT_FOUND' });
  t.strictSame(errorBody(invalidRequest('a', 'b'), 'req_1'), {
    error: 'a b.',
    status: 400,
    code: 'INVALID_REQUEST',
    requestId: 'req_1',
    details: [{ path: 'a', message: 'b' }],
  });
  t.strictSame(
    errorBody(new BlockhouseError('UPSTREAM_AUTH', 'bad key', { upstreamStatus: 401, cause: new Error('sk-1'), retryAfterMs: 5, mayHaveRun: true })),
    {
      error: 'bad key',
      status: 502,
      code: 'UPSTREAM_AUTH',
      upstreamStatus: 401,
      retryable: false,
    },
  );
});

t.test('an error gains the usage of its call and keeps all else; the caller is not told', async (t) => {
  const plain = new BlockhouseError('NOT_FOUND', 'no');
  t.equal(withUsage(plain, undefined), plain);
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  t.match(withUsage(plain, usage), { code: 'NOT_FOUND', message: 'no', status: 404, retryable: false, mayHaveRun: false, usage });
  t.notOk('cause' in withUsage(plain, usage));
  const extras = { cause: 'c', details: [{ path: 'a', message: 'b' }], retryAfterMs: 5, upstreamStatus: 408, retryable: false, mayHaveRun: true };
  const full = withUsage(new BlockhouseError('UPSTREAM_FAILED', 'x', extras), usage);
  t.match(full, { ...extras, usage });
  t.notOk('usage' in errorBody(full));
});

t.test('a fault of the system that may pass is no defect', async (t) => {
  const fault = Object.assign(new Error('EMFILE: too many open files, scandir /home/somebody'), { code: 'EMFILE', syscall: 'scandir' });
  t.match(toBlockhouseError(fault), {
    code: 'STORAGE_FAILED',
    message: 'The disk could not be read or written (EMFILE). Try again.',
    retryable: true,
    cause: fault,
  });
  for (const other of [{ code: 'EACCES', syscall: 'open' }, { code: 'EMFILE' }, { syscall: 'open' }, null, undefined, 'EMFILE'])
    t.equal(toBlockhouseError(other instanceof Object ? Object.assign(new Error('x'), other) : other).code, 'INTERNAL_ERROR', JSON.stringify(other));
});

t.test(
  'a time limit that was reached after the request was sent leaves a provider that may go on; one before does not, and an error may say it of itself',
  async (t) => {
    const isTimeout = (...args: ConstructorParameters<typeof BlockhouseError>): boolean => new BlockhouseError(...args).isTimeout;
    t.equal(isTimeout('UPSTREAM_TIMEOUT', 'x', { mayHaveRun: true }), true);
    t.equal(isTimeout('UPSTREAM_TIMEOUT', 'x'), false, 'nothing was sent');
    t.equal(isTimeout('UPSTREAM_FAILED', 'x', { mayHaveRun: true }), false);
    t.equal(isTimeout('UPSTREAM_FAILED', 'x', { isTimeout: true }), true);
    t.equal(isTimeout('UPSTREAM_TIMEOUT', 'x', { mayHaveRun: true, isTimeout: false }), false);
  },
);
