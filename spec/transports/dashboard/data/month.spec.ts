import t from 'tap';
import { daysInMonth, monthSums } from '../../../../transports/dashboard/data/month.ts';

t.test('the sum of a month grows with each of its days, and no other month is in it', async (t) => {
  const days = [
    { day: '2026-11-04', cost: 2 },
    { day: '2026-10-31', cost: 50 },
    { day: '2026-11-02', cost: 1 },
    { day: '2026-11-03', cost: null },
  ];
  t.same(monthSums(days, '2026-11-05'), [0, 1, 1, 3, 3]);
  t.same(monthSums([], '2026-11-01'), [0]);
});

t.test('a month has its days, in leap years as well', async (t) => {
  t.same(['2026-11-05', '2026-12-31', '2026-02-01', '2028-02-29'].map(daysInMonth), [30, 31, 28, 29]);
});
