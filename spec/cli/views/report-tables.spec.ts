import t from 'tap';
import { styleFor } from '../../../cli/terminal/output.ts';
import { differenceTable } from '../../../cli/views/bill-table.ts';
import { priceTable } from '../../../cli/views/price-tables.ts';
import { archiveTable, costsTable, nodesTable, queueTable } from '../../../cli/views/report-tables.ts';
import type { ChatEntry, CostsReport } from '../../../core/index.ts';

const now = Date.parse('2026-11-20T14:00:00.000Z');
const view = { now, style: styleFor(false), width: Number.POSITIVE_INFINITY };
const bucket = { calls: 2, input: 12_345, output: 10, cacheRead: 0, cacheWrite: 0, costUsd: 0.25, unpricedCalls: 0 };

t.test('costs end with their sum, and unknown prices are no zero', async (t) => {
  const report: CostsReport = {
    by: 'model',
    rows: [
      { key: 'vendor/m', ...bucket },
      { key: 'local/n', ...bucket, costUsd: null, unpricedCalls: 2 },
      { key: 'broken/o', ...bucket, costUsd: null },
    ],
    total: { ...bucket, calls: 6, unpricedCalls: 2 },
  };
  t.same(costsTable(report, view), [
    'MODEL     CALLS   INPUT  OUTPUT  CACHED                  COST',
    'vendor/m      2  12,345      10       0                 $0.25',
    'local/n       2  12,345      10       0          2 not priced',
    'broken/o      2  12,345      10       0                     -',
    'total         6  12,345      10       0  $0.25 + 2 not priced',
  ]);
});

t.test('a server that gives no sign of life is marked, and so are the one that answers and one that is drained', async (t) => {
  const node = { id: 'one', self: true, version: '1.0.0', url: null, startedAt: '2026-11-20T13:00:00.000Z', seenAt: '2026-11-20T14:00:00.000Z' };
  const nodes = [
    { ...node, alive: true, draining: false, blocks: 3 },
    { ...node, id: 'other', self: false, seenAt: '2026-11-20T13:58:00.000Z', alive: false, draining: false, blocks: 0, url: 'http://a' },
    { ...node, id: 'third', self: false, alive: true, draining: true, blocks: 1 },
  ];
  t.same(nodesTable(nodes, view), [
    'SERVER         VERSION  SINCE   LAST SIGN  BLOCKS  ADDRESS',
    'one *          1.0.0    1h ago  now             3  -',
    'other          1.0.0    1h ago  2m ago !        0  http://a',
    'third drained  1.0.0    1h ago  now             1  -',
  ]);
});

t.test('an archive name is never cut, the other columns go first', async (t) => {
  const archiveName = 'one_2026-11-20T13-00-00-000Z';
  const archives = [
    { archiveName, originalName: 'one', archivedAt: '2026-11-20T13:00:00.000Z', sizeBytes: 2048, queuedMessages: 1, totals: { totalCost: 0.5 } },
    { archiveName: 'two_x', originalName: 'two', archivedAt: '2026-11-20T13:00:00.000Z' },
  ];
  t.equal(archiveTable(archives, view)[1], `${archiveName}  one    1h ago    2.0 KiB        1  $0.50`);
  t.equal(archiveTable(archives, view)[2], 'two_x                         two    1h ago          -        -      -');
  t.equal(archiveTable(archives, { ...view, width: 40 })[1], `${archiveName}  1h ago`);
});

t.test('a waiting message shows what keeps it, a failed one its fault', async (t) => {
  const entry = (more: object): ChatEntry =>
    ({ id: 'm1', status: 'queued', timestamp: '2026-11-20T13:59:30.000Z', content: 'Any\nnews?', ...more }) as ChatEntry;
  const lines = queueTable(
    [
      entry({ attempts: 1, nextAttemptAt: '2026-11-20T14:01:00.000Z' }),
      entry({ id: 'm2', status: 'failed', attempts: 4, error: { code: 'X', message: 'over\x1bcloaded', retryable: true } }),
    ],
    view,
  );
  t.same(lines, [
    'ID  STATUS  TRIES  SENT     MESSAGE',
    'm1  queued      1  30s ago  [retry in 1m] Any news?',
    'm2  failed      4  30s ago  [overloaded] Any news?',
  ]);
});

t.test('a price says where it comes from, also if it varies or only the answer tells it', async (t) => {
  const rows = priceTable(
    [
      { model: 'a/x', from: 'own', price: { input: 1, output: 2 }, like: 'b/y' },
      { model: 'a/varies', from: 'data', price: null, like: null },
      { model: 'a/told', from: 'provider', price: null, like: null },
      { model: 'a/none', from: null, price: null, like: null },
    ],
    view,
  );
  t.same(
    rows.slice(1).map((row) => row.split(/\s{2,}/)),
    [
      ['a/x', '1', '2', '1', '1', 'own, like b/y'],
      ['a/varies', 'varies', 'varies', 'data'],
      ['a/told', 'told', 'told', 'provider'],
      ['a/none', 'not known'],
    ],
  );
});

t.test('a difference has a row for each amount that the bill tells', (t) => {
  const rows = differenceTable(
    [
      { date: '2026-11-01', model: 'm', ours: { usd: 1, input: 3, output: 2, calls: 2, unpricedCalls: 1 }, theirs: null },
      { date: '2026-11-01', model: 'n', ours: null, theirs: { usd: 0.5 } },
    ],
    view,
  );
  t.same(
    rows.slice(1).map((row) => row.trim().split(/\s{2,}/)),
    [
      ['2026-11-01', 'm', 'usd', '$1.000000', '-', '1'],
      ['2026-11-01', 'n', 'usd', '-', '$0.500000'],
    ],
  );
  t.end();
});
