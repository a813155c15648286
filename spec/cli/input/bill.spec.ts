import t from 'tap';
import { readBill, reconcile } from '../../../cli/input/bill.ts';
import { parseCsv } from '../../../cli/input/csv.ts';
import type { CostsReport } from '../../../core/index.ts';

t.test('values are read with quotes, line ends of any kind, and commas, tabs or semicolons between them', (t) => {
  t.same(parseCsv('\uFEFFa,b\r\n"1,""x""\n",2\r\n\r\n3,'), [
    ['a', 'b'],
    ['1,"x"\n', '2'],
    ['3', ''],
  ]);
  t.same(parseCsv('a\tb\n1\t\n'), [
    ['a', 'b'],
    ['1', ''],
  ]);
  t.same(parseCsv('a;b\n,;2'), [
    ['a', 'b'],
    [',', '2'],
  ]);
  t.same(parseCsv(''), []);
  t.throws(() => parseCsv('a,b\n"1'), /never ends/);
  t.throws(() => parseCsv('a,b\n"1"x,2'), /after its closing quote/);
  t.end();
});

const bucket = { cacheRead: 0, cacheWrite: 0, unpricedCalls: 0 };
const row = (key: string, costUsd: number, input = 0, output = 0) => ({ ...bucket, key, calls: 1, costUsd, input, output });
const reportOf = (...rows: ReturnType<typeof row>[]): CostsReport => ({
  by: 'day-model',
  rows,
  total: { ...bucket, calls: 0, costUsd: 0, input: 0, output: 0 },
});

// The columns of these exports were shown in public: costs and usage in an issue and in notes of people who had exported them (October 2025), those of the third in an issue.
const COSTS = `start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,line_item,project_id
1,2,2026-11-01T00:00:00+00:00,x,0.25,usd,"m-large-2024-08-06, input",p
1,2,2026-11-01T00:00:00+00:00,x,0.50,usd,"m-large, output",p
1,2,2026-11-01T00:00:00+00:00,x,0.10,usd,web search tool calls,p
1,2,2026-11-02T00:00:00+00:00,x,,,,
`;
const DAYS = `start_time_iso\tamount_value\tamount_currency\tline_item
2026-11-01T00:00:00+00:00\t0.75\tusd\t
2026-11-03T00:00:00+00:00\t1\tusd\t
`;
const USAGE = `start_time_iso,num_model_requests,model,input_tokens,output_tokens,input_cached_tokens
2026-11-01T00:00:00+00:00,2,m-2024-08-06,100,20,50
`;
const PARTS = `usage_date_utc,model_version,usage_input_tokens_no_cache,usage_input_tokens_cache_read,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_output_tokens
2026-11-01 00:00,m-4-5-20250929,10,60,20,10,20
`;
const FOCUS = `BilledCost,BillingCurrency,ChargePeriodStart,ServiceName,SkuId
0.75,USD,2026-11-01T01:00:00+02:00,AI,m
`;

t.test('the known exports are read by their columns, and days without calls are none', (t) => {
  t.same(
    [...readBill(COSTS, {}).rows],
    [
      ['2026-11-01 m-large', { usd: 0.75 }],
      ['2026-11-01 web search tool calls', { usd: 0.1 }],
    ],
  );
  t.same(
    [...readBill(DAYS, {}).rows],
    [
      ['2026-11-01 *', { usd: 0.75 }],
      ['2026-11-03 *', { usd: 1 }],
    ],
  );
  t.same([...readBill(USAGE, {}).rows], [['2026-11-01 m', { input: 100, output: 20 }]]);
  t.same([...readBill(PARTS, {}).rows], [['2026-11-01 m-4-5', { input: 100, output: 20 }]]);
  t.same([...readBill(FOCUS, { model: ['SkuId'] }).rows], [['2026-10-31 m', { usd: 0.75 }]], 'an hour of another zone is of the day that it has in UTC');
  t.throws(() => readBill(FOCUS, {}), /missing: model/);
  t.throws(() => readBill(FOCUS.replace('USD', 'EUR'), { model: ['SkuId'] }), /line 2 is in EUR/);
  t.same(
    [...readBill('Day,SKU,Cost,Tax\n2026-11-01,m,$1,0.5\n', { date: ['Day'], model: ['SKU'], usd: ['Cost', 'Tax'] }).rows],
    [['2026-11-01 m', { usd: 1.5 }]],
  );
  t.end();
});

t.test('what agrees within the tolerance is counted, what differs or is on one side alone is told, and other days are nothing', (t) => {
  const bill = readBill(COSTS, {});
  const ours = [
    reportOf(row('2026-11-01 a/m-large', 0.5), row('2026-10-31 a/m-large', 9)),
    reportOf(row('2026-11-01 a/m-large-2024-08-06', 0.251), row('2026-11-01 b/m-large', 7)),
  ];
  const { matched, differs } = reconcile(bill, ours, 'a', 0.005);
  t.equal(matched, 1, 'both ledgers and both names together');
  t.same(differs, [{ date: '2026-11-01', model: 'web search tool calls', ours: null, theirs: { usd: 0.1 } }]);
  t.match(reconcile(bill, ours, 'a', 0.0001).differs[0], { model: 'm-large', theirs: { usd: 0.75 } });
  const more = reconcile(bill, [...ours, reportOf(row('2026-11-01 a/other', 1), row('2026-11-01 a/failed', 0))], 'a', 0.005);
  t.match(more.differs, [{ model: 'other', ours: { usd: 1, calls: 1 }, theirs: null }, { model: 'web search tool calls' }]);
  t.match(reconcile(readBill(DAYS, {}), ours, 'a', 0.005), { matched: 1, differs: [{ date: '2026-11-03', model: '*', ours: null, theirs: { usd: 1 } }] });
  t.end();
});
