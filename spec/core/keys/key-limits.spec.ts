import t from 'tap';
import { boundsOf, isFigure } from '../../../core/keys/key-limits.ts';
import { checkedLimits } from '../../../core/keys/named-key.ts';
import { keyWith } from '../../support/key-requests.ts';

t.test('a key has its own limits and those of its group, and what any of them says counts', async (t) => {
  const summary = ({ capsUsd, capsTokens, countsTokens, refusesUnpriced, hasRates }: ReturnType<typeof boundsOf>) =>
    Object.entries({ capsUsd, capsTokens, countsTokens, refusesUnpriced, hasRates }).flatMap(([name, is]) => (is ? [name] : []));
  for (const [limits, expected] of [
    [{}, []],
    [{ inFlight: 1 }, []],
    [{ usdPerWeek: 0 }, ['capsUsd']],
    [{ tokensPerMonth: 0 }, ['capsTokens', 'countsTokens']],
    [{ tokensPerMinute: 1 }, ['countsTokens', 'hasRates']],
    [{ requestsPerMinute: 1 }, ['hasRates']],
    [{ unpriced: 'refuse' as const }, ['refusesUnpriced']],
  ] as const) {
    t.same(summary(keyWith(limits)), expected, JSON.stringify(limits));
    t.same(summary(keyWith({}, limits)), expected, `of the group: ${JSON.stringify(limits)}`);
  }
  t.match(keyWith({ usdPerDay: 1 }, { usdPerDay: 20 }).bounds, [
    { kind: 'key', name: 'app', usdPerDay: 1 },
    { kind: 'group', name: 'team', usdPerDay: 20 },
  ]);
  t.equal(boundsOf({ name: 'app', ...checkedLimits({}) }, undefined).bounds.length, 1);
});

t.test('the fields of a group are known', async (t) => {
  for (const field of ['usdPerWeek', 'inFlight', 'unpriced']) t.equal(isFigure(field), true, field);
  for (const field of ['models', 'expiresAt', 'group', 'name', 'constructor']) t.equal(isFigure(field), false, field);
});
