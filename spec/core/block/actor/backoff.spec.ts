import t from 'tap';
import { backoffMs, isStale, judgeFailure, longestWaitMs } from '../../../../core/block/actor/backoff.ts';
import { BlockhouseError, ERROR_TABLE, type ErrorCode, type ErrorExtras, invalidRequest } from '../../../../core/errors.ts';
import { MAX_RETRY_AFTER_MS } from '../../../../core/gateway/retry.ts';
import { AT, configOf, userEntry } from '../../../support/block-files.ts';

const { retry } = configOf();
const judge = (code: ErrorCode, extras: ErrorExtras = {}) => judgeFailure(new BlockhouseError(code, 'x', extras));

t.test('the wait doubles, with a fifth of jitter either way', async (t) => {
  const cases: [attempt: number, random: number, ms: number][] = [
    [1, 0.5, 1000],
    [1, 0, 800],
    [1, 1, 1200],
    [2, 0.5, 2000],
    [3, 0, 3200],
    [8, 0.5, 128_000],
    [0, 0.5, 1000],
  ];
  for (const [attempt, random, ms] of cases)
    t.equal(
      backoffMs(retry, attempt, () => random),
      ms,
      `${attempt} ${random}`,
    );
});

t.test('the wait never exceeds its maximum, and waits near the maximum still differ', async (t) => {
  t.equal(
    backoffMs(retry, 10, () => 1),
    300_000,
  );
  t.equal(
    backoffMs(retry, 10, () => 0),
    240_000,
  );
  t.equal(
    backoffMs(retry, 1_000_000, () => 0.5),
    300_000,
  );
  t.equal(
    backoffMs({ ...retry, baseMs: 5000, maxDelayMs: 10 }, 1, () => 1),
    10,
  );
});

t.test('a message is stale after staleAfterMs, and a clock that is set back does not make it stale', async (t) => {
  const from = (ms: number) => isStale(userEntry('1'), retry, Date.parse(AT) + ms);
  t.notOk(from(86_400_000));
  t.ok(from(86_400_001));
  t.notOk(from(-86_400_001));
  t.notOk(isStale(userEntry('1', { timestamp: 'long ago' }), retry, 0));
});

t.test('a failure is judged by its code', async (t) => {
  const kinds: Partial<Record<ErrorCode, string>> = {
    CANCELLED: 'cancelled',
    SHUTTING_DOWN: 'cancelled',
    UPSTREAM_AUTH: 'block',
    ADAPTER_NOT_CONFIGURED: 'block',
    UPSTREAM_UNREACHABLE: 'network',
    UPSTREAM_TIMEOUT: 'network',
    TOO_MANY_CONNECTIONS: 'network',
    QUEUE_FULL: 'network',
  };
  for (const code of Object.keys(ERROR_TABLE) as ErrorCode[])
    t.equal(judge(code), kinds[code] ?? (ERROR_TABLE[code].retryable ? 'transient' : 'message'), code);
});

t.test('a request that never left this machine is a network failure; one that the provider may have worked on is not', async (t) => {
  for (const code of ['UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT', 'UPSTREAM_MALFORMED'] as const) {
    for (const retryable of [true, false]) t.equal(judge(code, { mayHaveRun: true, retryable }), 'transient', `${code} ${retryable}`);
  }
  t.equal(judge('SHUTTING_DOWN', { mayHaveRun: true }), 'cancelled');
  t.equal(judge('TOO_MANY_CONNECTIONS'), 'network');
});

t.test('the provider may say whether a retry makes sense', async (t) => {
  t.equal(judge('UPSTREAM_REJECTED', { retryable: true, upstreamStatus: 409 }), 'transient');
  t.equal(judge('UPSTREAM_FAILED', { retryable: false }), 'message');
  t.equal(judge('UPSTREAM_MALFORMED', { retryable: false }), 'message');
});

t.test('a failure that needs another configuration or more credit stops the block', async (t) => {
  t.equal(judge('UPSTREAM_REJECTED', { upstreamStatus: 404 }), 'block', 'unknown model');
  t.equal(judge('INVALID_REQUEST', { upstreamStatus: 404 }), 'block');
  t.equal(judge('UPSTREAM_REJECTED', { upstreamStatus: 402 }), 'block', 'payment required');
  t.equal(judge('UPSTREAM_REJECTED', { upstreamStatus: 403 }), 'block', 'no permission');
  t.equal(judge('UPSTREAM_RATE_LIMITED', { retryable: false, upstreamStatus: 429 }), 'block', 'quota used up');
  for (const path of ['config.baseURL', 'config.region', 'adapter', 'model']) t.equal(judgeFailure(invalidRequest(path, 'is bad')), 'block', path);
});

t.test('a failing or overloaded provider is a transient failure', async (t) => {
  for (const code of ['UPSTREAM_RATE_LIMITED', 'UPSTREAM_FAILED', 'UPSTREAM_MALFORMED'] as const) t.equal(judge(code), 'transient', code);
});

t.test('a failure of one message fails only that message', async (t) => {
  for (const path of ['messages', 'messages[3].content', '']) t.equal(judgeFailure(invalidRequest(path, 'is bad')), 'message', path);
  t.equal(judge('INVALID_REQUEST'), 'message');
  t.equal(judge('UPSTREAM_REJECTED', { upstreamStatus: 400 }), 'message');
});

t.test('no attempt is further away than what a provider may ask for, or what the block allows if that is longer', async (t) => {
  t.equal(longestWaitMs({ ...retry, maxDelayMs: 1 }), MAX_RETRY_AFTER_MS);
  t.equal(longestWaitMs({ ...retry, maxDelayMs: MAX_RETRY_AFTER_MS + 1 }), MAX_RETRY_AFTER_MS + 1);
});
