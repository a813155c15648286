import t from 'tap';
import { compareBill, readBill as read, reconcile } from '../../../../core/block/costs/bill.ts';
import { csvRows, textOf } from '../../../../core/block/costs/csv.ts';
import type { CostsReport } from '../../../../core/index.ts';

const parseCsv = (text: string): string[][] => [...csvRows(textOf(Buffer.from(text)))].flatMap((row) => (row === undefined ? [] : [row]));
const readBill = (text: string, named: Parameters<typeof read>[1]) => read(Buffer.from(text), named);

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
  t.throws(() => parseCsv(','.repeat(3000)), /more than 2000 fields/);
  for (const long of ['x'.repeat(70_000), `"${'""'.repeat(70_000)}"`, `"${'x'.repeat(70_000)}"`])
    t.throws(() => parseCsv(`a,b\n1,${long}`), /a field has more than 65536 characters/);
  t.equal(parseCsv(`a,b\n1,"${'""'.repeat(30_000)}"`)[1]?.[1], '"'.repeat(30_000));
  t.end();
});

t.test('a file is read in UTF-8 and in UTF-16 with its mark, and others get the cure', (t) => {
  const text = 'Day,Cost\n2026-11-01,1 €\n';
  const little = Buffer.from(`\uFEFF${text}`, 'utf16le');
  for (const bytes of [Buffer.from(text), Buffer.from(`\uFEFF${text}`), little, Buffer.from(little).swap16()]) t.equal(textOf(bytes), text);
  const others = [Buffer.from(text, 'utf16le'), Buffer.from('Tag;Betrag für', 'latin1'), Buffer.from('PK\x03\x04\xff\xfe', 'latin1'), little.subarray(0, 5)];
  for (const bytes of others) t.throws(() => textOf(bytes), /not text in UTF-8; save or export it as CSV in UTF-8/);
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

t.test('the known exports are read by their columns, and days without calls are none', async (t) => {
  t.same(
    [...(await readBill(COSTS, {})).rows],
    [
      ['2026-11-01 m-large', { usd: 0.75 }],
      ['2026-11-01 web search tool calls', { usd: 0.1 }],
    ],
  );
  t.same(
    [...(await readBill(DAYS, {})).rows],
    [
      ['2026-11-01 *', { usd: 0.75 }],
      ['2026-11-03 *', { usd: 1 }],
    ],
  );
  t.same([...(await readBill(USAGE, {})).rows], [['2026-11-01 m', { input: 100, output: 20 }]]);
  t.same([...(await readBill(PARTS, {})).rows], [['2026-11-01 m-4-5', { input: 100, output: 20 }]]);
  t.same(
    [...(await readBill(FOCUS, { model: ['SkuId'] })).rows],
    [['2026-10-31 m', { usd: 0.75 }]],
    'an hour of another zone is of the day that it has in UTC',
  );
  await t.rejects(readBill(FOCUS, {}), /missing: model/);
  await t.rejects(readBill(FOCUS.replace('USD', 'EUR'), { model: ['SkuId'] }), /line 2 is in EUR/);
  t.same(
    [...(await readBill('Day,SKU,Cost,Tax\n2026-11-01,m,$1,0.5\n', { date: ['Day'], model: ['SKU'], usd: ['Cost', 'Tax'] })).rows],
    [['2026-11-01 m', { usd: 1.5 }]],
  );
});

t.test('what agrees within the tolerance is counted, what differs or is on one side alone is told, and other days are nothing', async (t) => {
  const bill = await readBill(COSTS, {});
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
  t.match(reconcile(await readBill(DAYS, {}), ours, 'a', 0.005), { matched: 1, differs: [{ date: '2026-11-03', model: '*', ours: null, theirs: { usd: 1 } }] });
});

const NAMED = { date: ['Day'], model: ['SKU'], usd: ['Cost'] };

t.test('a large bill lets others be served while it is read, and one of too many days and models is refused', async (t) => {
  const lines = Array.from({ length: 40_000 }, (_, index) => `2026-11-${(index % 28) + 1 < 10 ? '0' : ''}${(index % 28) + 1},m,0.5`);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 0);
  t.teardown(() => clearInterval(timer));
  const { rows } = await readBill(['Day,SKU,Cost', ...lines].join('\n'), NAMED);
  t.equal(rows.size, 28);
  t.ok(turns > 3, `${turns} turns`);
  const many = lines.map((line, index) => line.replace(',m,', `,m${index},`));
  await t.rejects(readBill(['Day,SKU,Cost', ...many].join('\n'), NAMED), /more than 20000 days and models; export fewer days/);
  const wide = `${Array.from({ length: 1500 }, (_, index) => `column ${index}`).join(',')}\n1`;
  t.ok(Number(await readBill(wide, {}).catch(({ message }: Error) => message.length)) < 1000, 'its message names a few of many columns');
  await t.rejects(readBill(`Day,SKU,Cost\n2026-11-01 ${' 12:34'.repeat(10_000)},m,1`, NAMED), /line 2 has no date/);
  await t.rejects(readBill('Day,SKU,Cost\n2026-13-01,m,1', NAMED), /line 2 has no date/);
});

/** How many turns of the event loop others have had while a bill was read. */
async function turnsOf(text: string, named: Parameters<typeof read>[1]): Promise<number> {
  let turns = 0;
  let next = setImmediate(function others() {
    turns += 1;
    next = setImmediate(others);
  });
  await readBill(text, named).catch(() => undefined);
  clearImmediate(next);
  return turns;
}

t.test('lines without anything in them, very wide lines and many columns keep nobody waiting either', async (t) => {
  const mebibyte = 2 ** 20;
  const head = 'Day,SKU,Cost\n';
  const line = '2026-11-01,m,1\n';
  const wide = `${','.repeat(1999)}\n`;
  const columns = Array.from({ length: 1990 }, (_, index) => `c${index}`);
  for (const [name, text, named] of [
    ['empty lines', head + '\n'.repeat(mebibyte), NAMED],
    ['empty lines ahead', '\r\n'.repeat(mebibyte / 2) + head, NAMED],
    ['blanks', head + ' \n'.repeat(mebibyte / 2), NAMED],
    ['wide lines', head + wide.repeat(mebibyte / wide.length), NAMED],
    ['many columns', `Day,SKU,${columns.join(',')}\n${line.repeat(1000)}`, { ...NAMED, usd: columns }],
  ] as const)
    t.ok((await turnsOf(text, named)) >= 7, name);
  const twice = await readBill(head + line, { ...NAMED, usd: ['Cost', 'Cost'] });
  t.same([...twice.rows.values()], [{ usd: 1 }], 'a column that is named twice counts once');
});

t.test('what is compared is chosen by a person, and the ledgers are read only for a bill that can be compared', async (t) => {
  let reads = 0;
  const reports =
    (...keys: string[]) =>
    async () => {
      reads += 1;
      return [reportOf(...keys.map((key) => row(`2026-11-01 ${key}`, 1)))];
    };
  const bytes = Buffer.from('Day,SKU,Cost\n2026-11-01,m,1.01\n');
  const columns = 'date=Day, model=SKU,usd=Cost';
  for (const [query, path] of [
    [{ columns: 'day=Day' }, 'columns'],
    [{ columns: 'date=' }, 'columns'],
    [{ columns: '' }, 'columns'],
    [{ columns, tolerance: '1' }, 'tolerance'],
    [{ columns, tolerance: '101%' }, 'tolerance'],
    [{}, ''],
    [{ columns: 'date=Tag' }, ''],
  ] as const)
    await t.rejects(compareBill(bytes, query, reports('a/m')), { code: 'INVALID_REQUEST', details: [{ path }] }, JSON.stringify(query));
  t.equal(reads, 0);
  t.match(await compareBill(bytes, { columns }, reports('a/m')), { connection: 'a', matched: 0, differs: [{ model: 'm' }] });
  t.same(await compareBill(bytes, { columns, tolerance: '1%' }, reports('a/m')), { connection: 'a', matched: 1, differs: [] });
  await t.rejects(compareBill(bytes, { columns }, reports('a/m', 'b/m')), { message: /connection must say .*there are calls of a, b/ });
  await t.rejects(compareBill(bytes, { columns }, reports()), /connection must say/);
  t.match(await compareBill(bytes, { columns, connection: 'b' }, reports('a/m', 'b/m', 'c/m')), { connection: 'b', differs: [{ ours: { calls: 1 } }] });
});
