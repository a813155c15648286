import t from 'tap';
import type { BlockhouseError } from '../../../core/errors.ts';
import { RateLimits } from '../../../core/keys/key-rates.ts';
import { keyWith } from '../../support/key-requests.ts';

function limits() {
  const clock = { ms: 0 };
  const rates = new RateLimits(() => clock.ms);
  const refusal = (...args: Parameters<RateLimits['take']>): Partial<BlockhouseError> => {
    try {
      rates.take(...args);
      return {};
    } catch (error) {
      return error as BlockhouseError;
    }
  };
  return { clock, rates, refusal };
}

t.test('beyond its requests a key is refused with the time to wait, and is right again after it', async (t) => {
  const { clock, rates, refusal } = limits();
  const key = keyWith({ requestsPerMinute: 3 });
  for (let n = 0; n < 3; n += 1) t.same(refusal(key, {}), {});
  t.match(refusal(key, {}), {
    code: 'KEY_RATE_LIMITED',
    status: 429,
    retryAfterMs: 20_000,
    retryable: true,
    message: /^The key app has a limit of 3 requests a minute\. Try again in 20 s\.$/,
  });
  t.same(rates.state(key), { requests: { limit: 3, remaining: 0, resetMs: 60_000 } });
  clock.ms = 20_000;
  t.same(refusal(key, {}), {});
  t.match(refusal(key, {}), { code: 'KEY_RATE_LIMITED' });
  t.equal(rates.state(keyWith()), undefined);
});

t.test('a request counts once for all models that are asked for it, and each other request for itself', async (t) => {
  const { refusal } = limits();
  const key = keyWith({ requestsPerMinute: 2 });
  const request = {};
  for (let n = 0; n < 5; n += 1) t.same(refusal(key, { request }), {});
  t.same(refusal(key, { request: {} }), {});
  t.match(refusal(key, { request: {} }), { code: 'KEY_RATE_LIMITED' });
  const late = {};
  t.match(refusal(key, { request: late }), { code: 'KEY_RATE_LIMITED' }, 'one that was refused is not counted, and is no pass');
  t.match(refusal(key, { request: late }), { code: 'KEY_RATE_LIMITED' });
});

t.test('the limits of a key and of its group hold together, and a refusal takes from none', async (t) => {
  const { clock, rates, refusal } = limits();
  const [one, other] = ['one', 'other'].map((name) => keyWith({ requestsPerMinute: 4 }, { requestsPerMinute: 6, tokensPerMinute: 1000 }, name));
  if (one === undefined || other === undefined) throw new Error('two keys');
  const tokens = 100;
  for (let n = 0; n < 4; n += 1) t.same(refusal(one, { tokens }), {});
  t.match(refusal(one, { tokens }), { message: /^The key one has a limit of 4 requests/ });
  for (let n = 0; n < 2; n += 1) t.same(refusal(other, { tokens }), {});
  for (let n = 0; n < 5; n += 1)
    t.match(refusal(other, { tokens }), { message: /^The group team, to which the key other belongs, has a limit of 6 requests a minute/ });
  t.match(rates.state(other), { requests: { limit: 6, remaining: 0 }, tokens: { limit: 1000, remaining: 400 } }, 'the tighter one');
  clock.ms = 60_000;
  t.match(rates.state(other), { requests: { limit: 4, remaining: 4 }, tokens: { remaining: 1000 } });
  t.match(refusal(one, { tokens: 900 }), {});
  t.match(refusal(one, { tokens: 900 }), { retryAfterMs: 48_000, message: /1000 tokens a minute, and this request may need 900\./ });
  t.match(rates.state(one), { requests: { remaining: 3 } }, 'nothing was taken of the requests');
});

t.test('a limit is that of the key which has asked last, also when a word about the key before comes late', async (t) => {
  const { rates, refusal } = limits();
  const [before, now] = [keyWith({ requestsPerMinute: 100 }), keyWith({ requestsPerMinute: 1 })];
  t.same(refusal(now, {}), {});
  t.match(rates.state(before), { requests: { limit: 1, remaining: 0 } });
  rates.setLevels(before, [1]);
  t.match(refusal(now, {}), { code: 'KEY_RATE_LIMITED', message: /has a limit of 1 request a minute\./ });
});

t.test('tokens are settled at the end of a call', async (t) => {
  const { rates } = limits();
  const key = keyWith({ tokensPerMinute: 1000 }, { tokensPerMinute: 5000 });
  const taken = rates.take(key, { tokens: 800 });
  t.match(rates.state(key), { tokens: { remaining: 200 } });
  if (taken !== undefined) rates.settle(taken, { attempts: 1, usage: { inputTokens: 60, outputTokens: 40, totalTokens: 100 } });
  t.match(rates.state(key), { tokens: { limit: 1000, remaining: 900 } });
  t.equal(rates.take(keyWith({ requestsPerMinute: 1 }, undefined, 'other'), { tokens: 800 }), undefined);
});

t.test('two that count calls of the same key each keep their own of what it has taken', async (t) => {
  const [one, other] = [limits(), limits()];
  const key = keyWith({ requestsPerMinute: 1 });
  t.same([one.refusal(key, {}), other.refusal(key, {})], [{}, {}]);
  t.match([one.refusal(key, {}), other.refusal(key, {})], [{ code: 'KEY_RATE_LIMITED' }, { code: 'KEY_RATE_LIMITED' }]);
});

t.test('tokens that were used without having been taken count, and what may need any number is refused while they are more than the limit', async (t) => {
  const { clock, rates, refusal } = limits();
  const key = keyWith({ tokensPerMinute: 600, requestsPerMinute: 10 }, { tokensPerMinute: 6000 });
  t.same(refusal(key, { tokens: 0 }), {});
  rates.use(key, 900);
  t.match(refusal(key, { tokens: 0 }), { code: 'KEY_RATE_LIMITED', retryAfterMs: 30_000, message: /^The key app has a limit of 600 tokens a minute\. Try/ });
  t.match(rates.levels(key), [1, 900, 900]);
  clock.ms = 30_000;
  t.same(refusal(key, { tokens: 0 }), {});
  rates.use(keyWith({ requestsPerMinute: 10 }), 1);
  t.same(refusal(key, { tokens: 0 }), {}, 'a key without a limit of tokens takes none');
});
