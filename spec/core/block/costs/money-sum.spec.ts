import t from 'tap';
import { MoneySum, trillionthsOf } from '../../../../core/block/costs/money-sum.ts';

const sumOf = (...all: readonly number[]): number | null => {
  const sum = new MoneySum();
  for (const usd of all) sum.add(usd);
  return sum.usd;
};

t.test('a sum is the same in any order, and has no dust of doubles', async (t) => {
  t.equal(sumOf(), null);
  t.equal(sumOf(0), 0);
  t.equal(sumOf(0.1, 0.2), 0.3);
  const costs = Array.from({ length: 1000 }, (_, n) => 10 ** ((n % 17) - 11) / (1 + (n % 7)));
  t.equal(sumOf(...costs), sumOf(...costs.toReversed()));
});

t.test('a cost is rounded to a trillionth as its digits say', async (t) => {
  for (const [usd, count] of [
    [1, 10n ** 12n],
    [5e-13, 1n],
    [4.9e-13, 0n],
    [2.5e-12, 3n],
    [5e-324, 0n],
    [123_456.789, 123_456_789_000_000_000n],
    [1e300, 10n ** 312n],
  ] as const) {
    t.equal(trillionthsOf(usd), count, String(usd));
    const sum = new MoneySum();
    sum.add(usd);
    t.equal(sum.trillionths, count, String(usd));
  }
});

t.test('very large sums stay exact, and finite', async (t) => {
  t.equal(sumOf(...Array.from({ length: 4000 }, () => 4)), 16_000);
  t.equal(sumOf(Number.MAX_VALUE, Number.MAX_VALUE), Number.MAX_VALUE);
  const sum = new MoneySum();
  t.equal(sum.trillionths, null);
  sum.add(0.5);
  sum.addTrillionths(250_000_000_000n);
  t.equal(sum.usd, 0.75);
});
