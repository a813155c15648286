import t from 'tap';
import { type BlockhouseError, forKeys } from '../../../../core/errors.ts';
import { isConnectionBad, isRepeatable, isUnprepared, sqlStateOf, toStoreError } from '../../../../core/store/postgres/faults.ts';

const failure = (fields: object): Error => Object.assign(new Error('text of the database'), fields);

t.test('each kind of failure has its meaning', async (t) => {
  const cases: [error: Error, meaning: { state?: string; repeat?: true; bad?: true; code?: string; retryable?: boolean }][] = [
    [failure({ code: '40001' }), { state: '40001', repeat: true, code: 'STORE_UNREACHABLE', retryable: true }],
    [failure({ code: '40P01' }), { state: '40P01', repeat: true, code: 'STORE_UNREACHABLE' }],
    [failure({ code: '55P03' }), { state: '55P03', repeat: true, code: 'STORE_UNREACHABLE' }],
    [failure({ code: '53300' }), { state: '53300', bad: true, code: 'STORE_UNREACHABLE' }],
    [failure({ code: '53100' }), { state: '53100', bad: true, code: 'STORAGE_FULL' }],
    [failure({ code: '57P01' }), { state: '57P01', bad: true, code: 'STORE_UNREACHABLE' }],
    [failure({ code: '25006' }), { state: '25006', bad: true, code: 'STORE_UNREACHABLE' }],
    [failure({ code: '25P03' }), { state: '25P03', bad: true, code: 'STORE_UNREACHABLE' }],
    [failure({ code: '28P01' }), { state: '28P01', code: 'STORE_UNREACHABLE', retryable: false }],
    [failure({ code: '23505' }), { state: '23505' }],
    [failure({ code: 'ECONNRESET', syscall: 'read' }), { bad: true, code: 'STORE_UNREACHABLE' }],
    [failure({ code: 'EPIPE', syscall: 'write' }), { bad: true, code: 'STORE_UNREACHABLE' }],
    [failure({}), { bad: true, code: 'STORE_UNREACHABLE' }],
  ];
  for (const [error, { state, repeat = false, bad = false, code, retryable = true }] of cases) {
    const name = state ?? (error as NodeJS.ErrnoException).code ?? 'none';
    t.equal(sqlStateOf(error), state, name);
    t.equal(isRepeatable(error), repeat, name);
    t.equal(isConnectionBad(error), bad, name);
    if (code === undefined) t.equal(toStoreError(error), error, name);
    else t.match(toStoreError(error), { code, retryable, cause: error }, name);
  }
  t.equal(isUnprepared(failure({ code: '26000' })), true);
  t.equal(isUnprepared(undefined), false);
});

t.test('the key of an application reads nothing of the database and its user', async (t) => {
  const refused = toStoreError(failure({ code: '28P01', message: 'password authentication failed for user "secret-user"' })) as BlockhouseError;
  const away = toStoreError(failure({ message: 'getaddrinfo ENOTFOUND secret-host' })) as BlockhouseError;
  t.match(refused.message, 'secret-user');
  t.match(away.message, 'secret-host');
  for (const error of [refused, away]) {
    const { status, retryable, retryAfterMs, message } = forKeys(error);
    t.match({ status, retryable, retryAfterMs }, { status: 503, retryable: error.retryable, retryAfterMs: error.retryAfterMs });
    t.notMatch(message, /secret/);
  }
});
