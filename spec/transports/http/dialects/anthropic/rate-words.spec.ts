import t from 'tap';
import { anthropicRates } from '../../../../../transports/http/dialects/anthropic/rate-words.ts';

t.test('a time that no date can have is the last one', async (t) => {
  const list: string[] = [];
  anthropicRates({ tokens: { limit: 1, remaining: 0, resetMs: Number.MAX_SAFE_INTEGER * 60_000 } }, Date.now, list);
  t.equal(list.at(-1), '9999-12-31T23:59:59Z');
});

t.test('what is left is written as Anthropic writes it', async (t) => {
  const now = () => Date.parse('2026-11-22T12:00:00.500Z');
  const list: string[] = [];
  anthropicRates({ tokens: { limit: 9000, remaining: 12, resetMs: 1000 } }, now, list);
  t.same(
    list,
    [
      ['anthropic-ratelimit-tokens-limit', '9000'],
      ['anthropic-ratelimit-tokens-remaining', '12'],
      ['anthropic-ratelimit-tokens-reset', '2026-11-22T12:00:02Z'],
    ].flat(),
  );
});
