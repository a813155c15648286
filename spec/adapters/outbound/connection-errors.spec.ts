import t from 'tap';
import { UnreadableAnswer } from '../../../adapters/outbound/answer-parser.ts';
import { type BrokenAt, brokenCall, isBreakOfConnection, OurClosing } from '../../../adapters/outbound/connection-errors.ts';
import { BlockhouseError } from '../../../core/index.ts';

const withCode = (message: string, code: string): Error => Object.assign(new Error(message), { code });
const at = (phase: BrokenAt['phase'], unreachableHint?: string, method: BrokenAt['method'] = 'POST'): BrokenAt => ({
  host: 'api.test',
  method,
  phase,
  unreachableHint,
});
const RESET = withCode('read ECONNRESET', 'ECONNRESET');

t.test('how far the call had come decides whether it may have run, and what is said', async (t) => {
  t.match(brokenCall(RESET, at('connecting')), {
    code: 'UPSTREAM_UNREACHABLE',
    mayHaveRun: false,
    retryable: true,
    message: 'No connection to api.test: read ECONNRESET.',
  });
  t.match(brokenCall(RESET, at('connecting', 'Is it running?')), { message: 'No connection to api.test: read ECONNRESET. Is it running?' });
  t.match(brokenCall(RESET, at('waiting', 'Is it running?')), {
    code: 'UPSTREAM_UNREACHABLE',
    mayHaveRun: true,
    retryable: false,
    cause: RESET,
    message: 'api.test closed the connection before it answered (read ECONNRESET).',
  });
  t.match(brokenCall(RESET, at('waiting', undefined, 'GET')), { code: 'UPSTREAM_UNREACHABLE', mayHaveRun: true, retryable: true });
  t.match(brokenCall(RESET, at('answering')), {
    code: 'UPSTREAM_MALFORMED',
    mayHaveRun: true,
    message: 'The answer from api.test was cut short (read ECONNRESET).',
  });
});

t.test('what was no HTTP is no break of the connection', async (t) => {
  const error = new UnreadableAnswer('two lengths');
  t.match(brokenCall(error, at('waiting')), { code: 'UPSTREAM_MALFORMED', message: 'api.test did not send a valid HTTP response (two lengths).' });
  t.equal(isBreakOfConnection(error), false);
});

t.test('our own decisions stay what they are', async (t) => {
  const forbidden = new BlockhouseError('INVALID_REQUEST', 'no such place');
  t.equal(brokenCall(forbidden, at('connecting')), forbidden);
  const closing = new OurClosing('the server is shutting down');
  t.match(brokenCall(closing, at('waiting')), { code: 'SHUTTING_DOWN', retryable: false, mayHaveRun: true });
  t.match(brokenCall(closing, at('connecting')), { code: 'SHUTTING_DOWN', mayHaveRun: false });
  t.same([RESET, closing, forbidden].map(isBreakOfConnection), [true, false, false]);
});

t.test('of several addresses that were tried the first says why, and an error without words has its code or name', async (t) => {
  const several = new AggregateError([withCode('connect ECONNREFUSED ::1:1', 'ECONNREFUSED'), RESET], '');
  t.match(brokenCall(several, at('connecting')).message, 'connect ECONNREFUSED ::1:1');
  t.match(brokenCall(withCode('', 'ETIMEDOUT'), at('connecting')).message, 'api.test: ETIMEDOUT.');
  t.match(brokenCall(new TypeError(''), at('connecting')).message, 'api.test: TypeError.');
});

t.test('an address of a kind that this machine has no network for says less than any other', async (t) => {
  const noSuchNetwork = [withCode('connect EADDRNOTAVAIL ::1:1', 'EADDRNOTAVAIL'), withCode('connect ENETUNREACH ::2:1', 'ENETUNREACH')];
  const refused = withCode('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED');
  const error = brokenCall(new AggregateError([...noSuchNetwork, refused]), at('connecting', 'Is it running?'));
  t.match(error, { code: 'UPSTREAM_UNREACHABLE', message: 'No connection to api.test: connect ECONNREFUSED 127.0.0.1:1. Is it running?' });
  t.match(brokenCall(new AggregateError(noSuchNetwork.toReversed()), at('connecting')).message, 'connect ENETUNREACH ::2:1');
});

t.test('an error of TLS is told by its reason, in one line', async (t) => {
  const text = '80ACEC67807F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/openssl/openssl/ssl/record/ssl3_record.c:350:\n';
  const error = Object.assign(new Error(text), { code: 'ERR_SSL_WRONG_VERSION_NUMBER', library: 'SSL routines', reason: 'wrong version number' });
  t.equal(brokenCall(error, at('connecting')).message, 'No connection to api.test: TLS failed: wrong version number.');
  t.equal(brokenCall(error, at('answering')).message, 'The answer from api.test was cut short (TLS failed: wrong version number).');
});

t.test('what this machine lacks says nothing of the provider', async (t) => {
  const spent = withCode('connect EMFILE 127.0.0.1:80 - Local (undefined:undefined)', 'EMFILE');
  const error = brokenCall(new AggregateError([spent]), at('connecting', 'Is it running?'));
  t.match(error, { code: 'TOO_MANY_CONNECTIONS', retryable: true, mayHaveRun: false, cause: { errors: [spent] } });
  t.equal(error.message, 'No connection to api.test: this machine has run out of connections (EMFILE). Raise its limit of open files.');
});
