import t from 'tap';
import { calendarOf, daysInMonth, monthSums } from '../../../../transports/dashboard/data/month.ts';

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

t.test('days are drawn as they follow each other, up to today, and not as if there were none between them', async (t) => {
  const few = calendarOf(['2026-11-20'], '2026-11-23');
  t.match([few.length, few[0], few.at(-1)], [30, '2026-10-25', '2026-11-23']);
  const many = calendarOf(['2026-11-20', '2026-10-01', '2026-01-01'], '2026-11-23');
  t.match([many.length, many[0], many.at(-1)], [45, '2026-10-10', '2026-11-23']);
  t.equal(new Set(many).size, 45);
  t.match(calendarOf(['2026-11-24'], '2026-11-23').at(-1), '2026-11-24', 'a browser whose clock is behind');
  t.match(calendarOf(['2026-10-20', '2026-10-19'], '2026-11-23')[0], '2026-10-19');
});

t.test('a month has its days, in leap years as well', async (t) => {
  t.same(['2026-11-05', '2026-12-31', '2026-02-01', '2028-02-29'].map(daysInMonth), [30, 31, 28, 29]);
});
