import t from 'tap';
import type { Caps, NoRoom, PeriodSums } from '../../../../core/store/port.ts';
import { accountsOf, capsOf, covers, finite, type Grant, hasCap, hasRoom, later, ofToday, restOf } from '../../../../core/store/postgres/grants.ts';

const NO_CAPS: Caps = { kind: 'key', name: 'app', usdPerDay: null, usdPerWeek: null, usdPerMonth: null, tokensPerDay: null, tokensPerMonth: null };
const sums = (usd: number, tokens: number) => ({ usd, tokens, calls: 1, unpricedCalls: 0 });
const SPENT: PeriodSums = { day: sums(1, 10), week: sums(4, 40), month: sums(9, 90) };
const grant = (fields: Partial<Grant> = {}): Grant => ({
  node: 'n',
  day: '2026-11-20',
  caps: '',
  billionths: 5e9,
  tokens: Number.POSITIVE_INFINITY,
  isUsed: true,
  isAll: false,
  ...fields,
});

t.test('a call counts for its key and its group, and one of the token for neither', async (t) => {
  t.same(accountsOf({ key: 'app', group: 'team' }), ['app', 'group:team']);
  t.same(accountsOf({ key: null }), []);
});

t.test('of several caps, the one that leaves least says what may be spent on a day', async (t) => {
  t.same(ofToday(NO_CAPS, SPENT), [null, null]);
  t.same(ofToday({ ...NO_CAPS, usdPerDay: 5, usdPerWeek: 6, tokensPerMonth: 100 }, SPENT), [3, 20]);
  t.equal(hasCap(NO_CAPS), false);
  t.equal(hasCap({ ...NO_CAPS, usdPerWeek: 0 }), true);
});

t.test('a grant without a cap in tokens has room for any number of them, and all of what is granted may be needed', async (t) => {
  t.equal(hasRoom(grant(), { usd: 4, tokens: 1e9 }), true);
  t.equal(hasRoom(grant(), { usd: 5, tokens: 0 }), false, 'all of it is under way');
  t.equal(covers(grant(), { usd: 5, tokens: 1e9 }), true);
  t.equal(covers(grant(), { usd: 5.1, tokens: 0 }), false);
});

t.test('what is left of a grant is what its calls under way need', async (t) => {
  t.match(restOf('app', grant(), { billionths: 2e9, tokens: 7 }), [{ name: 'app', billionths: 2e9, tokens: Number.POSITIVE_INFINITY }]);
  t.same(restOf('app', grant(), { billionths: 6e9, tokens: 7 }), []);
  t.same(restOf('app', grant(), undefined), []);
});

t.test('a grant holds for the caps that it was given for', async (t) => {
  const caps = { ...NO_CAPS, usdPerDay: 5 };
  t.equal(capsOf({ ...caps, name: 'other' }), capsOf(caps));
  t.not(capsOf({ ...caps, usdPerDay: 6 }), capsOf(caps));
  t.not(capsOf({ ...NO_CAPS, usdPerWeek: 5 }), capsOf(caps), 'the same amount for a week is another cap');
});

t.test('of two caps without room, the answer names the one that has none for longer', async (t) => {
  const short = { retryAfterMs: 1000 } as NoRoom;
  const long = { retryAfterMs: 9000 } as NoRoom;
  t.equal(later(true, true), true);
  t.equal(later(true, short), short);
  t.equal(later(short, true), short);
  t.equal(later(short, long), long);
  t.equal(later(long, short), long);
});

t.test('no cap is null in the database', async (t) => {
  t.equal(finite(Number.POSITIVE_INFINITY), null);
  t.equal(finite(0), 0);
});
