import t from 'tap';
import { bytes, count, money, plural, relative, span, spending, UNKNOWN } from '../../../cli/terminal/format.ts';

t.test('a span has its largest unit only', async (t) => {
  t.same([0, 59_999, 60_000, 3_599_000, 7_200_000, 90_000_000, -5].map(span), ['0s', '59s', '1m', '59m', '2h', '1d', '0s']);
});

t.test('a time is told from now, in both directions', async (t) => {
  const now = Date.parse('2026-11-20T14:00:00.000Z');
  t.equal(relative('2026-11-20T13:57:00.000Z', now), '3m ago');
  t.equal(relative('2026-11-20T14:00:30.000Z', now), 'in 30s');
  t.equal(relative('2026-12-20T13:59:57.000Z', now), 'in 30d', 'a moment after somebody has said so');
  t.equal(relative('2026-11-20T14:00:00.500Z', now), 'now');
  t.equal(relative(null, now), UNKNOWN);
  t.equal(relative('nonsense', now), UNKNOWN);
});

t.test('a sum has the digits that tell something, and unknown is not free', async (t) => {
  t.same([null, undefined, 0, 12.345, 0.0123, 0.00314, 0.0000042].map(money), ['-', '-', '$0', '$12.35', '$0.01', '$0.0031', '$0.000004']);
});

t.test('a sum says how many calls are not in it, and is not 0 where nothing is known', async (t) => {
  t.same(
    [spending(0.31, 0), spending(0, 0), spending(null, 0), spending(0.31, 5), spending(0, 1234), spending(null, 1)],
    ['$0.31', '$0', '-', '$0.31 + 5 not priced', '1,234 not priced', '1 not priced'],
  );
});

t.test('counts and sizes are grouped and scaled', async (t) => {
  t.equal(count(1_234_567), '1,234,567');
  t.same([undefined, 0, 1023, 1024, 5_242_880].map(bytes), ['-', '0 B', '1023 B', '1.0 KiB', '5.0 MiB']);
  t.equal(plural(1, 'entry', 'entries'), '1 entry');
  t.equal(plural(2, 'fact'), '2 facts');
});

t.test('thousands are marked in amounts and counts', async (t) => {
  t.equal(money(1_234_567.891), '$1,234,567.89');
  t.equal(money(12), '$12.00');
  t.equal(count(1_234_567), '1,234,567');
});
