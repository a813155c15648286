import t from 'tap';
import { BlockhouseError, type ErrorCode, type ErrorExtras } from '../../../core/errors.ts';
import { clampRetryAfter, parseRetryAfter, RETRY_LIMIT, RetryBudget, retryDelayMs } from '../../../core/gateway/retry.ts';

const delay = (code: ErrorCode, retry: number, random: number, extras: ErrorExtras = {}) =>
  retryDelayMs(new BlockhouseError(code, 'x', extras), retry, () => random);

t.test('only what may be repeated is, and at most twice', async (t) => {
  t.equal(RETRY_LIMIT, 2);
  const cases: [ErrorCode, number, ErrorExtras, boolean][] = [
    ['UPSTREAM_UNREACHABLE', 0, {}, true],
    ['UPSTREAM_UNREACHABLE', 1, {}, true],
    ['UPSTREAM_UNREACHABLE', 2, {}, false],
    ['UPSTREAM_FAILED', 0, { mayHaveRun: true }, false],
    ['UPSTREAM_FAILED', 0, { retryable: false }, false],
    ['UPSTREAM_RATE_LIMITED', 0, { retryAfterMs: 5 }, true],
    ['UPSTREAM_RATE_LIMITED', 0, { retryable: false, retryAfterMs: 5 }, false],
    ['UPSTREAM_RATE_LIMITED', 2, { retryAfterMs: 5 }, false],
    ['UPSTREAM_REJECTED', 0, {}, false],
    ['UPSTREAM_AUTH', 0, {}, false],
    ['INVALID_REQUEST', 0, {}, false],
    ['CANCELLED', 0, {}, false],
    ['INTERNAL_ERROR', 0, {}, false],
  ];
  for (const [code, retry, extras, repeated] of cases)
    t.equal(delay(code, retry, 0.5, extras) !== undefined, repeated, `${code} ${retry} ${JSON.stringify(extras)}`);
});

t.test('the wait doubles, and jitter takes up to half of it', async (t) => {
  for (const [retry, random, expected] of [
    [0, 0, 250],
    [0, 1, 500],
    [1, 0, 500],
    [1, 0.5, 750],
    [1, 1, 1000],
  ] as const)
    t.equal(delay('UPSTREAM_FAILED', retry, random), expected, `${retry} ${random}`);
});

t.test("the provider's own wait is obeyed, without jitter, up to a minute", async (t) => {
  for (const [asked, waits] of [
    [1, 1],
    [1500, 1500],
    [60_000, 60_000],
    [99_999_999_000, 60_000],
    [Number.POSITIVE_INFINITY, 60_000],
  ] as const)
    t.equal(delay('UPSTREAM_RATE_LIMITED', 0, 0.3, { retryAfterMs: asked }), waits, String(asked));
});

t.test('a Retry-After of 0 leads to the usual wait', async (t) => {
  for (const [retry, waits] of [
    [0, 375],
    [1, 750],
  ] as const)
    t.equal(delay('UPSTREAM_RATE_LIMITED', retry, 0.5, { retryAfterMs: 0 }), waits, String(retry));
});

t.test('Retry-After is read in every form and is always finite', async (t) => {
  const now = Date.parse('2026-11-20T14:00:00Z');
  const cases: [string | undefined, number | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    [' ', undefined],
    ['0', 0],
    ['5', 5000],
    [' 5 ', 5000],
    ['1.5', 1500],
    ['60', 60_000],
    ['61', 61_000],
    ['99999999', 3_600_000],
    ['1e400', undefined],
    ['0x2', undefined],
    ['soon 2099', undefined],
    ['-1', undefined],
    ['NaN', undefined],
    ['soon', undefined],
    ['Infinity', undefined],
    ['Fri, 20 Nov 2026 14:00:07 GMT', 7000],
    ['Fri, 20 Nov 2026 14:00:00 GMT', 0],
    ['Fri, 20 Nov 2026 13:59:00 GMT', undefined],
    ['Tue, 01 Jan 2099 00:00:00 GMT', 3_600_000],
  ];
  for (const [header, expected] of cases) t.equal(parseRetryAfter(header, now), expected, String(header));
  const { TZ } = process.env;
  t.teardown(() => {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  });
  for (const zone of ['UTC', 'America/New_York', 'Asia/Kolkata']) {
    process.env['TZ'] = zone;
    t.equal(parseRetryAfter('Fri Nov 20 14:00:07 2026', now), 7000, `the form without a zone, read in ${zone}`);
    t.equal(parseRetryAfter('Sun Nov  6 08:49:37 1994', Date.UTC(1994, 10, 6, 8, 49, 17)), 20_000);
  }
  t.equal(clampRetryAfter(Number.NaN), undefined);
  t.equal(clampRetryAfter(Number.POSITIVE_INFINITY), 3_600_000);
});

/** Calls that reach a provider which always fails, when each request repeats as long as it may. */
function callsOf(requests: number, budget: RetryBudget, between: () => void = () => undefined, callerOf: (request: number) => string = () => 'a'): number {
  let calls = 0;
  for (let request = 0; request < requests; request += 1) {
    between();
    budget.deposit();
    calls += 1;
    for (let retry = 0; retry < RETRY_LIMIT && budget.withdraw(callerOf(request)); retry += 1) calls += 1;
  }
  return calls;
}

t.test('of 1,000 failing requests at most 1,100 calls are made, at once or over ten seconds', async (t) => {
  for (const apartMs of [0, 10, 60])
    for (const callers of [1, 3, 1000]) {
      const clock = { ms: 0 };
      const wait = (): void => {
        clock.ms += apartMs;
      };
      const calls = callsOf(1000, new RetryBudget(() => clock.ms), wait, (request) => `${request % callers}`);
      t.ok(calls <= 1100, `${calls} calls of ${callers} callers within ${apartMs} s`);
    }
});

t.test('a caller who has had no repetition within a minute gets one, although another has used them up', async (t) => {
  const clock = { ms: 0 };
  const budget = new RetryBudget(() => clock.ms);
  const drain = (): void => {
    while (budget.withdraw('greedy'));
  };
  drain();
  t.equal(budget.withdraw('modest'), true);
  t.equal(budget.withdraw('modest'), false, 'one, not all of them');
  for (const caller of ['b', 'c', 'd', 'e', 'f']) t.equal(budget.withdraw(caller), caller !== 'f', caller);
  for (let second = 0; second < 61; second += 1) {
    clock.ms += 1000;
    drain();
  }
  t.equal(budget.withdraw('modest'), true, 'after a minute, again');
});

t.test('a long good time before them makes it no more', async (t) => {
  for (const apartMs of [0, 10, 60]) {
    const clock = { ms: 0 };
    const budget = new RetryBudget(() => clock.ms);
    for (let request = 0; request < 10_000; request += 1) {
      clock.ms += apartMs;
      budget.deposit();
    }
    const calls = callsOf(1000, budget, () => {
      clock.ms += apartMs;
    });
    t.ok(calls <= 1100, `${calls} calls within ${apartMs} s`);
  }
});

t.test('a lone request may be repeated twice, also after a busy hour', async (t) => {
  const clock = { ms: 0 };
  const budget = new RetryBudget(() => clock.ms);
  t.equal(callsOf(1, budget), 3);
  callsOf(1000, budget);
  t.equal(budget.withdraw('a'), false, 'used up');
  clock.ms += 60_000;
  t.equal(callsOf(1, budget), 3);
});

t.test('a quiet week saves up no more than the reserve', async (t) => {
  const clock = { ms: 0 };
  const budget = new RetryBudget(() => clock.ms);
  clock.ms += 7 * 24 * 3_600_000;
  let repetitions = 0;
  while (budget.withdraw('a')) repetitions += 1;
  t.equal(repetitions, 10);
});

t.test('requests that succeed bring the reserve back', async (t) => {
  const budget = new RetryBudget(() => 0);
  callsOf(10, budget);
  t.equal(budget.withdraw('a'), false, 'used up');
  for (let request = 0; request < 25; request += 1) budget.deposit();
  t.equal(callsOf(1, budget), 3);
});
