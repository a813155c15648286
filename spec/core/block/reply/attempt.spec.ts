import t from 'tap';
import { type Attempt, countsAsAttempt, retryDelayMs } from '../../../../core/block/reply/attempt.ts';
import type { Candidate } from '../../../../core/block/status/candidates.ts';
import { BlockhouseError } from '../../../../core/errors.ts';
import { AT, configOf, userEntry } from '../../../support/block-files.ts';

const NOW = Date.parse(AT);
const ONE: Candidate = { provider: 'p', model: 'm', config: {} };
const passing = new BlockhouseError('UPSTREAM_FAILED', 'x');
const network = new BlockhouseError('UPSTREAM_UNREACHABLE', 'x');

function attemptOf(attempts: number, candidates: readonly Candidate[] = [ONE]): Attempt {
  const message = userEntry('1', { status: 'processing', attempts, timestamp: AT });
  return { config: configOf(), message, candidates, window: { messages: [], tokens: 0, entries: 1, taint: [] } };
}

const at = (failure: BlockhouseError, attempt: Attempt, failures = 0, now = NOW) => retryDelayMs(failure, attempt, { now, failures, random: () => 0.5 });

t.test('a transient failure is retried with a growing wait, up to maxAttempts', async (t) => {
  t.strictSame(
    [1, 2, 3, 4].map((attempts) => at(passing, attemptOf(attempts))),
    [1000, 2000, 4000, undefined],
  );
});

t.test("the provider's own wait wins", async (t) => {
  t.equal(at(new BlockhouseError('UPSTREAM_RATE_LIMITED', 'x', { retryAfterMs: 30_000 }), attemptOf(1)), 30_000);
  t.equal(at(new BlockhouseError('UPSTREAM_RATE_LIMITED', 'x', { retryAfterMs: 86_400_000 }), attemptOf(1)), 300_000, 'up to the longest wait');
});

t.test('a Retry-After below baseMs leads to the usual wait, so that the attempts are not used up at once', async (t) => {
  for (const retryAfterMs of [0, 1, 999]) {
    const busy = new BlockhouseError('UPSTREAM_RATE_LIMITED', 'x', { retryAfterMs });
    t.strictSame(
      [1, 2, 3, 4].map((attempts) => at(busy, attemptOf(attempts))),
      [1000, 2000, 4000, undefined],
      String(retryAfterMs),
    );
  }
  t.equal(at(new BlockhouseError('UPSTREAM_RATE_LIMITED', 'x', { retryAfterMs: 1000 }), attemptOf(3)), 1000);
});

t.test('a network failure is retried with a growing wait until the message is stale', async (t) => {
  t.equal(at(network, attemptOf(1), 5), 32_000);
  t.equal(at(network, attemptOf(99)), 300_000);
  t.equal(at(network, attemptOf(1), 0, NOW + 86_400_001), undefined);
  t.equal(at(network, attemptOf(1), 0, NOW - 3_600_000), 1000, 'a clock that was set back makes nothing stale');
});

t.test('a call that the provider may have worked on uses up an attempt', async (t) => {
  const broken = new BlockhouseError('UPSTREAM_UNREACHABLE', 'x', { mayHaveRun: true });
  t.equal(at(broken, attemptOf(3)), 4000);
  t.equal(at(broken, attemptOf(4)), undefined);
  t.ok(countsAsAttempt(broken, [ONE]));
});

t.test('with fallbacks, network failures use up attempts, so that the fallbacks get their turn', async (t) => {
  t.equal(at(network, attemptOf(4, [ONE, ONE])), undefined);
  t.ok(countsAsAttempt(network, [ONE, ONE]));
  t.notOk(countsAsAttempt(network, [ONE]));
  t.ok(countsAsAttempt(passing, [ONE]));
});

t.test('a permanent failure is not retried', async (t) => {
  for (const code of ['UPSTREAM_AUTH', 'UPSTREAM_REJECTED', 'INVALID_REQUEST', 'CANCELLED'] as const) {
    t.equal(at(new BlockhouseError(code, 'x'), attemptOf(1)), undefined, code);
  }
});

t.test('a message without a count is at its first attempt', async (t) => {
  const attempt = attemptOf(1);
  const { attempts: _none, ...message } = attempt.message;
  t.equal(at(passing, { ...attempt, message }), 1000);
});
