import t from 'tap';
import type { GatewayCall } from '../../../../core/store/port.ts';
import { billionthsOf, callOf, columnsOf, GatewayLines, saidOf } from '../../../../core/store/postgres/gateway-lines.ts';

const USAGE = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
const CALL: GatewayCall = {
  at: '2026-11-20T12:00:00.000Z',
  requestId: 'r',
  key: 'k',
  provider: 'p',
  model: 'm',
  usage: USAGE,
  costUsd: 0.5,
  firstTextMs: 1,
  durationMs: 2,
  error: null,
};

t.test('lines are numbered, and taken once', async (t) => {
  const lines = new GatewayLines(10);
  t.match(lines.add(CALL), { n: 1, tokens: 3, calls: 1, failed: 0, unpriced: 0 });
  t.match(lines.add({ ...CALL, error: 'UPSTREAM_FAILED', costUsd: null }), { n: 2, failed: 1, unpriced: 1 });
  t.equal(lines.peek().length, 2);
  t.equal(lines.size, 2);
  t.equal(lines.take().length, 2);
  t.equal(lines.size, 0);
  t.match(lines.add(CALL), { n: 3 });
});

t.test('by-its-id: a line with an id has no number, and keeps its details however many wait', async (t) => {
  const lines = new GatewayLines(1);
  lines.add(CALL);
  lines.add(CALL, true);
  t.match(lines.add({ ...CALL, id: 'x' }), { n: 0, id: 'x', isNoted: true });
  lines.add(CALL);
  t.match(
    lines.take().map(({ n, id, calls, isNoted }) => ({ n, id, calls, isNoted })),
    [
      { n: 1, id: undefined, calls: 1, isNoted: false },
      { n: 2, id: undefined, calls: 2, isNoted: false },
      { n: 0, id: 'x', calls: 1, isNoted: true },
    ],
    'a sum is noted if all of it is',
  );
});

t.test('money-stays: beyond so many, calls of a key, model and day are added up', async (t) => {
  const lines = new GatewayLines(1);
  lines.add(CALL);
  for (const call of [
    CALL,
    { ...CALL, costUsd: null, leastUsd: 0.25 },
    { ...CALL, costUsd: null },
    { ...CALL, model: 'other' },
    { ...CALL, at: '2026-11-21T00:00:00.000Z' },
  ])
    lines.add(call);
  t.match(
    lines.take().map(({ n, tokens, calls, unpriced, call: { costUsd } }) => ({ n, tokens, calls, unpriced, costUsd })),
    [
      { n: 1, calls: 1 },
      { n: 2, tokens: 9, calls: 3, unpriced: 1, costUsd: 0.75 },
      { n: 5, calls: 1 },
      { n: 6, calls: 1 },
    ],
  );
  lines.add(CALL);
  lines.add({ ...CALL, costUsd: null });
  lines.add({ ...CALL, costUsd: null });
  t.match(lines.take()[1], { calls: 2, call: { costUsd: null } });
});

t.test('nothing lowers a sum, and no text is refused', async (t) => {
  const lines = new GatewayLines(9);
  const cost = (call: Partial<GatewayCall>): number => billionthsOf(lines.add({ ...CALL, ...call }));
  t.strictSame(
    [cost({}), cost({ costUsd: -1 }), cost({ costUsd: Number.NaN }), cost({ costUsd: null, leastUsd: 1e-9 }), cost({ usage: null })],
    [5e8, 0, 0, 1, 0],
  );
  lines.add({ ...CALL, model: 'a\0', usage: null, leastUsd: 2, credential: 'second' });
  const columns = columnsOf(lines.take());
  t.equal(columns.length, 19);
  t.strictSame(
    columns.map((column) => column.at(-1)),
    ['2026-11-20T12:00:00.000Z', 6, 'r', 'k', null, 'p', 'a\ufffd', null, 0, 0.5, 2, 1, 2, null, 1, 0, 0, 'second', null],
  );
});

t.test('what lines say is summed by key, those with most tokens first, and twenty keys are named', async (t) => {
  const lines = new GatewayLines(99);
  lines.add({ ...CALL, key: null, usage: null, costUsd: null });
  for (const costUsd of [0.1, 0.2, null]) lines.add({ ...CALL, costUsd });
  t.equal(saidOf(lines.take()), 'key k: 3 calls, 9 tokens, 0.3 USD; the token: 1 call, 0 tokens, 0 USD');
  for (let index = 0; index < 22; index += 1) lines.add({ ...CALL, key: `k${index}` });
  t.match(saidOf(lines.take()), /^key k0: 1 call, 3 tokens, 0\.5 USD; .*key k19: [^;]*; and 2 more keys$/);
});

t.test('a row is the call that it was made of', async (t) => {
  const row = { node: 'n', n: 1, request_id: 'r', provider: 'p', model: 'm', usage: USAGE, first_text_ms: 1, duration_ms: 2, error: null };
  const plain = { ...row, at: new Date(CALL.at), key: 'k', grp: null, cost_usd: 0.5, least_usd: null, credential: null, calls: 1 };
  t.strictSame(callOf(plain), CALL);
  t.strictSame(callOf({ ...plain, grp: 'team', cost_usd: null, least_usd: 0.25, credential: 'second', calls: 7 }), {
    ...CALL,
    group: 'team',
    costUsd: null,
    leastUsd: 0.25,
    credential: 'second',
    calls: 7,
  });
});
