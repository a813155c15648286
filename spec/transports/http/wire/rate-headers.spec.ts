import t from 'tap';
import { usualRates, withRates } from '../../../../transports/http/wire/rate-headers.ts';

t.test('the limits of the key take the place of the provider, whatever protocol they are written in', async (t) => {
  const headers = { 'x-ratelimit-remaining-requests': '7', 'anthropic-ratelimit-tokens-limit': '8', 'x-request-id': 'r' };
  t.same(
    withRates(headers, () => ({ 'x-ratelimit-remaining-requests': '1' })),
    { 'x-request-id': 'r', 'x-ratelimit-remaining-requests': '1' },
  );
  t.same(
    withRates(undefined, () => ({})),
    {},
  );
});

t.test('what is left is written as OpenAI writes it', async (t) => {
  const requests = { limit: 60, remaining: 59, resetMs: 360_000 };
  t.same(usualRates({ requests, tokens: { limit: 9000, remaining: 0, resetMs: 1 } }), {
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-reset-requests': '6m0s',
    'x-ratelimit-limit-tokens': '9000',
    'x-ratelimit-remaining-tokens': '0',
    'x-ratelimit-reset-tokens': '1s',
  });
  t.match(usualRates({ requests: { ...requests, resetMs: 0 } }), { 'x-ratelimit-reset-requests': '0s' });
  t.same(usualRates({}), {});
});
