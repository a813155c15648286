import t from 'tap';
import { keptText } from '../../../../../core/base/kept-text.ts';
import { FileSums, lineOf, parseCall } from '../../../../../core/store/files/ledger/gateway-lines.ts';
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
    for (const fields of [
      { requestId: text },
      { key: text },
      { group: text },
      { provider: text },
      { credential: text },
      { model: text },
      { id: text },
    ] as Partial<GatewayCall>[]) {
      const line = lineOf(call(fields), fields.id);
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
  const several = { ...bare, calls: 7 };
  t.same(parseCall(lineOf(several)), several);
  for (const calls of [-7, 0.5, Number.MAX_VALUE]) t.equal(parseCall(lineOf({ ...bare, calls })), undefined, `${calls} calls`);
});

t.test('what is no call is left out', async (t) => {
  for (const line of ['', 'nonsense', '[]', '{"at":5}', lineOf(call({ at: 'soon' })), lineOf(call({ usage: {} as never }))])
    t.equal(parseCall(line), undefined, line);
});

t.test('lines are added to what was counted before them', async (t) => {
  const sums = new FileSums();
  for (const fields of [{}, { key: 'other', group: 'team' }, { key: null }]) sums.add(lineOf(call(fields)));
  sums.add(lineOf(call({}), 'x'));
  sums.add('{"torn');
  t.same([...sums.ids], ['x']);
  const after = new FileSums(sums.spent);
  after.add(lineOf(call({ group: 'team' })));
  t.match(after.spent.spent('2026-11-22', 'app').day, { tokens: 45, calls: 3 });
  t.match(after.spent.spent('2026-11-22', 'other').day, { tokens: 15 });
  t.match(after.spent.spent('2026-11-22', 'group:team').day, { tokens: 30 });
});

t.test('every line is short enough to be read again, with its counts, whatever a client has sent', (t) => {
  const longest = '\0'.repeat(5_000_000);
  const text = lineOf(call({ requestId: longest, key: longest, provider: longest, model: longest }), longest);
  t.ok(Buffer.byteLength(text) <= MAX_LINE_BYTES, `${Buffer.byteLength(text)} bytes`);
  t.match(parseCall(text), { usage: call({}).usage, costUsd: 0.25, model: /^\0{2048}$/ });
  t.end();
});
