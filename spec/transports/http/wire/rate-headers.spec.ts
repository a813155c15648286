import t from 'tap';
import type { KeyRates } from '../../../../core/index.ts';
import { usualRates, withRates } from '../../../../transports/http/wire/rate-headers.ts';

const written = (rates: KeyRates) => withRates(undefined, (list) => usualRates(rates, Date.now, list));

t.test('the limits of the key take the place of the provider, whatever protocol they are written in', async (t) => {
  const headers = { 'x-ratelimit-remaining-requests': '7', 'anthropic-ratelimit-tokens-limit': '8', 'x-request-id': 'r' };
  t.same(
    withRates(headers, (list) => list.push('x-ratelimit-remaining-requests', '1')),
    { 'x-request-id': 'r', 'x-ratelimit-remaining-requests': '1' },
  );
  t.same(
    withRates(undefined, () => undefined),
    {},
  );
});

t.test('what is left is written as OpenAI writes it', async (t) => {
  const requests = { limit: 60, remaining: 59, resetMs: 360_000 };
  t.same(written({ requests, tokens: { limit: 9000, remaining: 0, resetMs: 1 } }), {
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-reset-requests': '6m0s',
    'x-ratelimit-limit-tokens': '9000',
    'x-ratelimit-remaining-tokens': '0',
    'x-ratelimit-reset-tokens': '1s',
  });
  t.match(written({ requests: { ...requests, resetMs: 0 } }), { 'x-ratelimit-reset-requests': '0s' });
  t.same(written({}), {});
});
