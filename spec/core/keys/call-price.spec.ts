import t from 'tap';
import type { Pricer } from '../../../core/gateway/pricing.ts';
import { assertPriced, isBounded } from '../../../core/keys/call-price.ts';
import { namedKey, parseKey } from '../../../core/keys/named-key.ts';

const KEY = namedKey(parseKey({ name: 'app', hash: 'x'.repeat(43), createdAt: '2026-11-20T14:03:22.123Z', unpriced: 'refuse' }));
const call = (fields: object = {}) => ({ adapterId: 'gpu', model: 'm', hasOutput: true, asksForHourInCache: () => false, ...fields });
const pricer = (exact: Pricer['exact'], least: Pricer['least'] = exact): Pricer => ({ exact, least });
const known = pricer(() => 1);
const unknown = pricer(() => null);

t.test('a call without a known price is refused with what to do, also for its group', async (t) => {
  assertPriced(KEY, call(), known, false);
  t.throws(() => assertPriced(KEY, call(), unknown, false), {
    code: 'PRICE_UNKNOWN',
    message: /price of gpu\/m is not known.*`blockhouse key set app --unpriced allow`\.$/,
  });
  const figures = { ...KEY, unpriced: 'refuse' as const };
  const ofGroup = namedKey({ ...KEY, group: 'team' }, figures);
  t.throws(() => assertPriced(ofGroup, call(), unknown, false), { message: /key group set team --unpriced allow/ });
});

t.test('an hour in the cache has a price of its own', async (t) => {
  const withoutHour = pricer(({ cacheWrite1hTokens = 0 }) => (cacheWrite1hTokens > 0 ? null : 1));
  assertPriced(KEY, call(), withoutHour, false);
  t.throws(() => assertPriced(KEY, call({ asksForHourInCache: () => true }), withoutHour, false), { message: /with an hour in its cache is not known/ });
});

t.test('audio has a price of its own, unless the answer tells the cost', async (t) => {
  const withoutAudio = pricer(({ inputAudioTokens = 0 }) => (inputAudioTokens > 0 ? null : 1));
  t.throws(() => assertPriced(KEY, call(), withoutAudio, false), { code: 'PRICE_UNKNOWN', message: /of gpu\/m for audio is not known/ });
  assertPriced(KEY, call(), { ...withoutAudio, learn: () => undefined }, false);
});

t.test('a model whose answer was not counted is refused, unless it is known what an answer costs at least', async (t) => {
  const unbounded = pricer(
    () => 1,
    () => null,
  );
  t.throws(() => assertPriced(KEY, call(), unbounded, true), { code: 'PRICE_UNKNOWN' });
  assertPriced(KEY, call(), unbounded, false);
  assertPriced(KEY, call(), known, true);
  const ofAnswers = pricer(
    () => 1,
    ({ outputTokens }) => (outputTokens > 0 ? null : 1),
  );
  t.strictSame([isBounded({ hasOutput: true }, ofAnswers), isBounded({ hasOutput: false }, ofAnswers)], [false, true]);
});
