import t from 'tap';
import { keptText } from '../../../../../core/base/kept-text.ts';
import { carriedLines, FileSums, lineOf, parseCall } from '../../../../../core/store/files/ledger/gateway-lines.ts';
import { MAX_LINE_BYTES } from '../../../../../core/store/files/ledger/ledger-file.ts';
import type { GatewayCall } from '../../../../../core/store/port.ts';
import { hostileTexts } from '../../../../support/hostile-texts.ts';

const call = (fields: Partial<GatewayCall>): GatewayCall => ({
  at: '2026-11-22T12:00:00.000Z',
  requestId: 'r',
  key: 'app',
  provider: 'openai',
  model: 'gpt-5',
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15, cacheReadTokens: 2, estimated: true },
  costUsd: 0.25,
  firstTextMs: 12,
  durationMs: 40,
  error: null,
  ...fields,
});

t.test('a line is the JSON of its call, whatever the names in it', async (t) => {
  for (const text of hostileTexts().map(keptText)) {
    for (const fields of [{ requestId: text }, { key: text }, { provider: text }, { model: text }, { id: text }]) {
      const line = lineOf(call(fields));
      t.equal(line.indexOf('\n'), line.length - 1);
      t.same(JSON.parse(line), JSON.parse(JSON.stringify(call(fields))));
    }
  }
  for (const number of [0, -0, 1e-7, 1e21, 0.1 + 0.2, Number.MAX_VALUE]) {
    const usage = { inputTokens: number, outputTokens: number, totalTokens: number, unpricedTier: true } as const;
    for (const fields of [{ costUsd: number }, { leastUsd: number }, { firstTextMs: number }, { durationMs: number }, { usage }])
      t.same(JSON.parse(lineOf(call(fields))), JSON.parse(JSON.stringify(call(fields))), `${number}`);
  }
  const bare = call({ key: null, usage: null, costUsd: null, firstTextMs: null, error: 'CANCELLED' });
  t.same(parseCall(lineOf(bare)), bare);
});

t.test('what is no call is left out', async (t) => {
  for (const line of ['', 'nonsense', '[]', '{"at":5}', lineOf(call({ at: 'soon' })), lineOf(call({ usage: {} as never }))])
    t.equal(parseCall(line), undefined, line);
});

t.test('the sums of a file are those of its lines and of what was carried into it', async (t) => {
  const before = new FileSums();
  for (const fields of [{}, { key: 'other' }, { key: null }]) before.add(lineOf(call(fields)));
  t.equal(before.isWhole, false);
  t.equal(before.first, '2026-11-22T12:00:00.000Z');
  const after = new FileSums();
  t.equal(after.isEmpty, true);
  for (const line of carriedLines(before.spent, '2026-11-23T00:00:00.000Z').split('\n')) after.add(line);
  t.equal(after.isWhole, true);
  after.add(lineOf(call({ id: 'x' })));
  t.same([...after.ids], ['x']);
  t.match(after.spent.spent('2026-11-22', 'app'), { tokens: 30, calls: 2 });
  t.match(after.spent.spent('2026-11-22', 'other'), { tokens: 15 });
});

t.test('every line is short enough to be read again, with its counts, whatever a client has sent', (t) => {
  const longest = '\0'.repeat(5_000_000);
  const text = lineOf(call({ requestId: longest, key: longest, provider: longest, model: longest, id: longest }));
  t.ok(Buffer.byteLength(text) <= MAX_LINE_BYTES, `${Buffer.byteLength(text)} bytes`);
  t.match(parseCall(text), { usage: call({}).usage, costUsd: 0.25, model: /^\0{2048}$/ });
  t.end();
});

t.test('a carried sum that can not be true counts as nothing, and those of other keys count', async (t) => {
  const row = (key: string, tokens: number | null) =>
    JSON.stringify({ at: 'x', type: 'spent', day: '2026-11-22', key, usd: 1, tokens, calls: 1, unpricedCalls: 0, output: 0, answers: 0 });
  const sums = new FileSums();
  for (const line of [row('bad', -5000), row('none', null), row('good', 700), JSON.stringify({ at: 'x', type: 'carried', lines: 3 })]) sums.add(line);
  t.equal(sums.isWhole, true);
  t.match(sums.spent.spent('2026-11-22', 'good'), { tokens: 700 });
  t.match(sums.spent.spent('2026-11-22', 'bad'), { tokens: 0, usd: 1 });
});
