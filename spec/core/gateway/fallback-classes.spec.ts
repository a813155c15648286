// The classes of failures.
import t from 'tap';
import { BlockhouseError, type ErrorCode, type ErrorExtras } from '../../../core/errors.ts';
import { classOf, mayAskNext } from '../../../core/gateway/fallback-classes.ts';

t.test('each code has its class, and a request that is wrong has none', (t) => {
  const failure = (code: ErrorCode, extras: ErrorExtras = {}) => new BlockhouseError(code, 'words', extras);
  for (const [code, extras, found] of [
    ['UPSTREAM_RATE_LIMITED', {}, 'rate'],
    ['QUEUE_FULL', {}, 'rate'],
    ['UPSTREAM_REJECTED', { upstreamStatus: 402 }, 'rate'],
    ['UPSTREAM_UNREACHABLE', {}, 'down'],
    ['UPSTREAM_TIMEOUT', { mayHaveRun: true }, 'down'],
    ['UPSTREAM_FAILED', {}, 'down'],
    ['UPSTREAM_MALFORMED', {}, 'down'],
    ['TOO_MANY_CONNECTIONS', {}, 'down'],
    ['UPSTREAM_AUTH', {}, 'key'],
    ['ADAPTER_NOT_CONFIGURED', {}, 'key'],
    ['UPSTREAM_REJECTED', { refusedFor: 'context' }, 'context'],
    ['UPSTREAM_REJECTED', { refusedFor: 'content' }, 'content'],
    ['UPSTREAM_REJECTED', { upstreamStatus: 404 }, undefined],
    ['INVALID_REQUEST', {}, undefined],
    ['CANCELLED', {}, undefined],
    ['SHUTTING_DOWN', {}, undefined],
    ['KEY_CAP_REACHED', {}, undefined],
  ] as const) {
    t.equal(classOf(failure(code, extras)), found, `${code} ${JSON.stringify(extras)}`);
    t.equal(mayAskNext(failure(code, extras)), found !== undefined && found !== 'content', code);
    t.equal(mayAskNext(failure(code, extras), new Set()), false, code);
  }
  t.ok(mayAskNext(failure('PRICE_UNKNOWN'), new Set()), 'a model without a price is passed over whatever the classes');
  t.end();
});
