// What a call costs, and its line in the ledger.
import t from 'tap';
import { Billing, type BillingOptions } from '../../../../core/block/reply/billing.ts';
import type { Candidate } from '../../../../core/block/status/candidates.ts';
import { createBus } from '../../../../core/bus.ts';
import type { Gateway } from '../../../../core/gateway/gateway.ts';
import { Prices } from '../../../../core/gateway/pricing.ts';
import { Ledger } from '../../../../core/store/files/ledger/ledger.ts';

const CANDIDATE: Candidate = { provider: 'p', model: 'gpt-4o', config: {} };
const NOW = Date.parse('2026-11-20T14:03:22.123Z');
const USAGE = { inputTokens: 1000, outputTokens: 100, totalTokens: 1100 };

function billingOf(workspace: string, provider = 'openai', ofKeys: Pick<BillingOptions, 'countForKey' | 'assertForKey'> = {}) {
  const bus = createBus();
  const billed: unknown[] = [];
  bus.on('call.billed', (fact) => billed.push(fact));
  const ledger = new Ledger(workspace, bus, () => NOW);
  /** Models of p are gpt-4o, wherever its settings don't lead elsewhere. */
  const pricedAs: Gateway['pricedAs'] = (call) =>
    call.provider === 'p' && call.config?.baseURL === undefined ? { provider, model: call.model.replace('long/', '') } : undefined;
  const gateway = { pricedAs } as unknown as Gateway;
  return { billing: new Billing({ gateway, ledger, prices: new Prices(), bus, now: () => NOW, ...ofKeys }), ledger, billed };
}

t.test('a call is in the ledger when its bill resolves', async (t) => {
  const { billing, ledger, billed } = billingOf(t.testdir({}));
  const call = {
    id: 'c1',
    call: 7,
    block: 'ada',
    candidate: CANDIDATE,
    purpose: 'chat',
    messageId: 'm1',
    pricedAs: { provider: 'openai', model: 'gpt-4o' },
    usage: USAGE,
    latencyMs: 7,
    ttftMs: 3,
  } as const;
  const bill = await billing.write({ ...call, failed: true });
  t.match(bill, { at: '2026-11-20T14:03:22.123Z', provider: 'p', model: 'gpt-4o', usage: USAGE, latencyMs: 7, ttftMs: 3, failed: true });
  t.ok((bill.costUsd ?? 0) > 0);
  await billing.write({ ...call, id: 'c2', pricedAs: undefined, failed: false });
  const lines = [];
  for await (const line of ledger.lines()) lines.push(line);
  t.match(lines, [
    { id: 'c1', at: bill.at, block: 'ada', messageId: 'm1', costUsd: bill.costUsd, failed: true },
    { id: 'c2', costUsd: null, failed: undefined },
  ]);
  t.match(billed, [{ call: 7, block: 'ada', purpose: 'chat', costUsd: bill.costUsd }, { costUsd: null }]);
  t.equal((await ledger.spend('ada', [0]))[0].tokens, 2200);
});

t.test('a call in a tier without a price has no cost, and caps count what it costs at least', async (t) => {
  const workspace = t.testdir({});
  const { billing, ledger } = billingOf(workspace);
  const shared = { block: 'ada', candidate: CANDIDATE, purpose: 'chat', messageId: 'm1', pricedAs: { provider: 'openai', model: 'gpt-4o' } } as const;
  const call = { ...shared, call: 7, latencyMs: 7, ttftMs: 3, failed: false };
  const usual = await billing.write({ ...call, id: 'c1', usage: USAGE });
  t.equal((await billing.write({ ...call, id: 'c2', usage: { ...USAGE, unpricedTier: true } })).costUsd, null);
  const twice = 2 * (usual.costUsd ?? 0);
  t.equal((await ledger.spend('ada', [0]))[0].usd, twice);
  const read = new Ledger(workspace, createBus(), () => NOW);
  t.equal((await read.spend('ada', [0]))[0].usd, twice, 'also after a restart');
});

t.test('the worst case of a call that may fill a cache is that it does', async (t) => {
  const { billing } = billingOf(t.testdir({}), 'anthropic');
  const claude: Candidate = { ...CANDIDATE, model: 'claude-haiku-4-5', config: { maxTokens: 1 } };
  const plain = (await billing.worstCase(claude, 1_000_000)).usd ?? 0;
  const cached = (await billing.worstCase({ ...claude, config: { ...claude.config, cacheControl: true } }, 1_000_000)).usd ?? 0;
  t.equal((cached - plain).toFixed(6), '0.250000');
});

t.test('a model at another address, or of an unknown provider, has no price', async (t) => {
  const { billing } = billingOf(t.testdir({}));
  const elsewhere = { ...CANDIDATE, config: { baseURL: 'http://127.0.0.1:9', apiKey: 'k' } };
  const known = await billing.worstCase(CANDIDATE, 1000);
  t.match(known, { tokens: 5096, usd: Number });
  t.same(await billing.worstCase({ ...CANDIDATE, model: 'long/gpt-4o' }, 1000), known, 'by the name in the price data');
  t.strictSame(await billing.worstCase({ ...elsewhere, config: { ...elsewhere.config, maxTokens: 10 } }, 1000), { tokens: 1010, usd: null });
  t.strictSame(await billing.worstCase({ ...CANDIDATE, provider: 'nope' }, 1), { tokens: 4097, usd: null });
  t.strictSame(await billingOf(t.testdir({}), '').billing.worstCase(CANDIDATE, 1), { tokens: 4097, usd: null });
});

t.test('what is used for a message of a key counts for the key as well, and the key may refuse it', async (t) => {
  const [counted, asked] = [[] as unknown[], [] as unknown[]];
  const { billing } = billingOf(t.testdir({}), 'openai', {
    countForKey: async (call) => void counted.push(call),
    assertForKey: async (call) => void asked.push(call),
  });
  const call = {
    id: 'c1',
    call: 7,
    block: 'ada',
    candidate: CANDIDATE,
    purpose: 'chat',
    messageId: 'm1',
    usage: USAGE,
    latencyMs: 7,
    ttftMs: 3,
    failed: false,
  } as const;
  await billing.write({ ...call, pricedAs: undefined, key: 'app' });
  const { costUsd } = await billing.write({ ...call, id: 'c2', pricedAs: { provider: 'openai', model: 'gpt-4o' }, key: 'app' });
  await billing.writeTool(
    { id: 'c3', at: '2026-11-20T14:03:22.123Z', block: 'ada', provider: 'bank', model: 'pay', usage: null, costUsd: 2, messageId: 'm1' },
    'app',
  );
  t.match(counted, [
    { key: 'app', costUsd: null, leastUsd: null },
    { key: 'app', costUsd, leastUsd: undefined },
    { key: 'app', costUsd: 2, purpose: 'tool' },
  ]);
  const wanted = { key: 'app', provider: 'openai', model: 'gpt-4o', pricedAs: undefined, isFirst: true };
  await billing.assertForKey(wanted);
  t.strictSame(asked, [wanted]);
});
