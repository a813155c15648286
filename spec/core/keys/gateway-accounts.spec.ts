import t, { type Test } from 'tap';
import { createBus } from '../../../core/bus.ts';
import type { BlockhouseError } from '../../../core/errors.ts';
import type { Gateway } from '../../../core/gateway/gateway.ts';
import type { CallToPrice } from '../../../core/gateway/known-price.ts';
import { GatewayAccounts } from '../../../core/keys/gateway-accounts.ts';
import type { NamedKey } from '../../../core/keys/named-key.ts';
import { GatewayLedger } from '../../../core/workspace/gateway-ledger.ts';

const NOW = Date.parse('2026-11-22T23:00:00.000Z');
const KEY: NamedKey = { name: 'app', hash: 'x', createdAt: '', usdPerDay: null, tokensPerDay: null, unpriced: 'allow', models: null, expiresAt: null };
const CALL = { requestId: 'r', adapter: 'a', model: 'm', key: 'app', attempts: 1, durationMs: 12.4 };

function accountsIn(t: Test, pricedAs: Gateway['pricedAs'] = ({ model }) => ({ provider: 'p', model })) {
  const bus = createBus();
  const faults: string[] = [];
  bus.on('workspace.fault', ({ error }) => faults.push(error));
  const ledger = new GatewayLedger({ workspace: t.testdir({}), bus, now: () => NOW });
  const asked: CallToPrice[] = [];
  const gateway: Pick<Gateway, 'pricedAs'> = {
    pricedAs: (call) => {
      asked.push(call);
      return pricedAs(call);
    },
  };
  const priced: object[] = [];
  const prices = {
    priceNow: async (what: object) => {
      priced.push(what);
      return 0.5;
    },
  };
  return { bus, faults, priced, asked, accounts: new GatewayAccounts({ bus, gateway, prices, ledger, now: () => NOW }) };
}

const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };

t.test('a call of a client is priced and counted, failed or not, and a call of a block is not', async (t) => {
  const { bus, accounts } = accountsIn(t);
  bus.emit('chat.finished', { ...CALL, usage });
  bus.emit('chat.finished', { ...CALL, usage, code: 'UPSTREAM_FAILED' });
  bus.emit('chat.finished', { ...CALL, usage, isBilled: true });
  await new Promise(setImmediate);
  t.same(await accounts.spentToday('app'), { usd: 1, tokens: 6, calls: 2, unpricedCalls: 0 });
  t.match(await accounts.costs('key'), { by: 'key', rows: [{ key: 'app', calls: 2, costUsd: 1 }] });
  await accounts.close();
  bus.emit('chat.finished', { ...CALL, usage });
  await new Promise(setImmediate);
  t.same(await accounts.spentToday('app'), { usd: 1, tokens: 6, calls: 2, unpricedCalls: 0 }, 'after the end');
});

t.test('a call without a known price is counted as one, whether its usage is known or not, and one that was never made is not', async (t) => {
  for (const [fact, unpricedCalls] of [
    [{ ...CALL, usage }, 1],
    [CALL, 1],
    [{ ...CALL, usage, code: 'UPSTREAM_FAILED' as const }, 1],
    [{ ...CALL, code: 'UPSTREAM_UNREACHABLE' as const }, 0],
  ] as const) {
    const { bus, accounts, priced } = accountsIn(t, () => undefined);
    bus.emit('chat.finished', fact);
    await new Promise(setImmediate);
    t.match(await accounts.costs('key'), { total: { calls: 1, costUsd: null } });
    t.match(await accounts.spentToday('app'), { usd: 0, calls: 1, unpricedCalls });
    t.same(priced, []);
    await accounts.close();
  }
});

t.test('a call is priced for the address that it went to and the tier that it asked for, by the name in the price data', async (t) => {
  const { bus, accounts, priced, asked } = accountsIn(t, ({ model }) => ({ provider: 'p', model: model.slice('long/'.length) }));
  const call = { ...CALL, model: 'long/m', usage };
  for (const fact of [call, call, { ...call, address: 'eu-west-1' }, { ...call, address: 'http://other' }, { ...call, tier: 'dear' }])
    bus.emit('chat.finished', fact);
  await new Promise(setImmediate);
  t.same(asked, [
    { provider: 'a', model: 'long/m' },
    { provider: 'a', model: 'long/m', config: { region: 'eu-west-1' }, tier: undefined },
    { provider: 'a', model: 'long/m', config: { baseURL: 'http://other' }, tier: undefined },
    { provider: 'a', model: 'long/m', config: undefined, tier: 'dear' },
  ]);
  t.same(priced, Array(5).fill({ provider: 'p', model: 'm', usage }));
  await accounts.close();
});

t.test('a key is admitted below its caps, for its own models', async (t) => {
  const { bus, accounts } = accountsIn(t);
  bus.emit('chat.finished', { ...CALL, usage });
  await new Promise(setImmediate);
  for (const limits of [{}, { usdPerDay: 0.6 }, { tokensPerDay: 4 }, { models: ['m'] }]) await accounts.admit({ ...KEY, ...limits }, ['a/m', 'm']);
  for (const [limits, code] of [
    [{ usdPerDay: 0.5 }, 'KEY_CAP_REACHED'],
    [{ tokensPerDay: 3 }, 'KEY_CAP_REACHED'],
    [{ usdPerDay: 0 }, 'KEY_CAP_REACHED'],
    [{ models: ['n*'] }, 'KEY_FORBIDDEN'],
  ] as const) {
    const refusal = await accounts.admit({ ...KEY, ...limits }, ['a/m', 'm']).catch((error: BlockhouseError) => error);
    t.match(refusal, { code }, JSON.stringify(limits));
    if (code === 'KEY_CAP_REACHED') t.equal((refusal as BlockhouseError).retryAfterMs, 3_600_000, 'until the next UTC day');
  }
  await accounts.close();
});
