import t from 'tap';
import type { CostsReport } from '../../../../core/types.ts';
import { atThisPace, csvOf, dayIn, daysOf, RANGES, stackOf } from '../../../../transports/dashboard/data/spending.ts';

type Row = CostsReport['rows'][number];

const row = (key: string, costUsd: number | null, more: Partial<Row> = {}): Row => {
  const tokens = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0 };
  return { key, calls: 1, ...tokens, costUsd, unpricedCalls: costUsd === null ? 1 : 0, ...more } as Row;
};
const report = (by: CostsReport['by'], ...rows: Row[]): CostsReport => ({ by, rows, total: row('', 1) });

t.test('ranges end today, in UTC', async (t) => {
  const of = (range: (typeof RANGES)[number]) => Object.values(daysOf(range, '2026-03-02')).join(' ');
  t.same(RANGES.map(of), ['2026-03-02 2026-03-02', '2026-02-24 2026-03-02', '2026-02-01 2026-03-02', '2026-03-01 2026-03-02', '']);
  t.equal(dayIn('2026-03-02'), '2026-03-02');
  for (const text of [null, '', '2026-13-02', 'x', '2026-03-02T00:00']) t.equal(dayIn(text), undefined, String(text));
});

t.test('the plot has a layer for each of the dearest, one for the rest, and every day in between', async (t) => {
  const names = ['a', 'b b', 'c', 'd', 'e', 'f'];
  const rows = names.map((name, index) => row(`2026-11-21 ${name}`, 6 - index));
  const { days, layers, most, calls, uncounted } = stackOf(report('day-model', ...rows, row('2026-11-23 a', 1), row('2026-11-23 z', null)), {});
  t.same(days, ['2026-11-21', '2026-11-22', '2026-11-23']);
  t.same(
    layers.map(({ name, costs }) => [name, ...costs]),
    [
      ['a', 6, 0, 1],
      ['b b', 5, 0, 0],
      ['c', 4, 0, 0],
      ['d', 3, 0, 0],
      [undefined, 3, 0, 0],
    ],
  );
  t.same([most, calls, uncounted], [21, 8, 1]);
  t.equal(stackOf(report('day-model', row('2026-11-21 a', 1)), { from: '2026-11-19', to: '2026-11-22' }).days.length, 4, 'the range that was asked');
  t.same(stackOf(report('day-model', row('2026-11-21 a', null)), {}).layers, [], 'nothing to draw');
  t.same(stackOf(report('day-model'), {}).days, []);
});

t.test('a month goes on as it began', async (t) => {
  t.equal(atThisPace(10, '2026-02-10'), 28);
  t.equal(atThisPace(10, '2026-02-01'), undefined);
});

t.test('a file for spreadsheets has no formulas', async (t) => {
  const text = csvOf(report('model', row('p/"x",y', 1), row('=1+1', null), row('@x\ny', 0.5)));
  t.equal(
    text,
    'model,calls,input,output,cacheRead,cacheWrite,costUsd,unpricedCalls\r\n"p/""x"",y",1,10,1,0,0,1,0\r\n\'=1+1,1,10,1,0,0,,1\r\n"\'@x\ny",1,10,1,0,0,0.5,0',
  );
});
