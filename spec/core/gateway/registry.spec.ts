import t from 'tap';
import { contextWindows } from '../../../core/gateway/context-windows.ts';
import { AdapterRegistry, adapterInfo, standInOf } from '../../../core/gateway/registry.ts';
import { steppedAdapter } from '../../support/stepped-adapter.ts';

const one = steppedAdapter([], { id: 'one', aliases: ['uno', 'eins'] });
const two = steppedAdapter([], { id: 'two' });
const registry = new AdapterRegistry([two, one]);

t.test('an adapter answers to its id and its aliases, and is listed under its id in the given order', async (t) => {
  for (const name of ['one', 'uno', 'eins']) {
    t.equal(registry.inUrl(name), one);
    t.equal(registry.inBody(name, 'adapter'), one);
  }
  t.same(registry.ids(), ['two', 'one']);
  t.same(registry.list(), [two, one]);
});

t.test('an adapter that stands in answers to its name and is in no list', async (t) => {
  const extra = { ...steppedAdapter([], { id: 'extra' }), standsIn: true } as const;
  const registry = new AdapterRegistry([one, extra]);
  t.equal(registry.inUrl('extra'), extra);
  t.equal(registry.inBody('extra', 'adapter'), extra);
  t.same([registry.ids(), registry.list(), registry.all], [['one'], [one], [one, extra]]);
});

t.test('an unknown name is 404 in a URL, and 400 with its field in a body', async (t) => {
  for (const name of ['three', '', 'ONE', '__proto__', 'constructor', 'toString', '../one', 'one ']) {
    t.throws(() => registry.inUrl(name), { code: 'ADAPTER_NOT_FOUND', status: 404, message: /The providers are two, one/ }, name);
    t.throws(
      () => registry.inBody(name, 'provider'),
      { code: 'INVALID_REQUEST', message: /does not exist; use one of two, one/, details: [{ path: 'provider' }] },
      name,
    );
  }
});

t.test('a long or odd name is shown short and on one line', async (t) => {
  for (const name of ['x'.repeat(10_000), 'a\nb\u001b[31m']) {
    t.throws(() => registry.inUrl(name), { message: /^[\x20-\x7e…]{1,200}$/ });
    t.throws(() => registry.inBody(name, 'adapter'), { message: /^[\x20-\x7e…]{1,200}$/ });
  }
});

t.test('a key in the place of a name is not repeated', async (t) => {
  for (const key of ['sk-proj-abc123', 'AKIDEXAMPLE00000', 'bhk_abcdefghijklmnopqrstuvwxyzabcdef']) {
    for (const find of [() => registry.inUrl(key), () => registry.inBody(key, 'adapter')]) {
      t.throws(find, { message: /of this name.*two, one/ });
      t.throws(find, { message: new RegExp(`^(?!.*${key.slice(0, 8)})`) });
    }
  }
});

t.test('two adapters can not share a name', async (t) => {
  t.throws(() => new AdapterRegistry([one, steppedAdapter([], { id: 'uno' })]), { message: /Two adapters have the name uno/ });
  t.throws(() => new AdapterRegistry([one, steppedAdapter([], { id: 'x', aliases: ['one'] })]), { message: /Two adapters have the name one/ });
});

t.test('metadata has the fields of the contract, and a base URL where there is one', async (t) => {
  t.strictSame(adapterInfo(one), {
    id: 'one',
    displayName: 'Stepped',
    authRequired: true,
    defaultModel: 'model-1',
    defaultBaseURL: 'https://api.stepped.example/v1',
    supportsStreaming: true,
    envVars: ['STEPPED_API_KEY', 'STEPPED_BASE_URL'],
  });
  t.notOk('defaultBaseURL' in adapterInfo(steppedAdapter([], { settings: { region: {} } })));
});

t.test('the model that stands in is that of the adapter that does', async (t) => {
  t.equal(standInOf([one, two]), undefined);
  t.match(standInOf([one, { ...steppedAdapter([], { id: 'extra' }), standsIn: true } as const]), { provider: 'extra' });
});

t.test('the context of a model is what its provider says, and else that of the price data', async (t) => {
  const stated: Record<string, number> = { told: 1000 };
  const gateway = {
    adapter: () => ({ ...one, pricesAs: 'data' }),
    statedWindow: (_id: string, model: string) => stated[model],
    contextTokens: async (_id: string, model: string) => (model === 'asked' ? 2000 : undefined),
    pricedAs: ({ model }: { model: string }) => (model === 'own' ? undefined : { provider: 'data', model }),
  };
  const { contextLength, windowOf } = contextWindows(gateway as never, () => ({
    contextWindow: async (provider, model) => (provider === 'data' && model === 'known' ? 3000 : null),
  }));
  t.same(await Promise.all(['told', 'asked', 'known', 'unknown'].map((model) => contextLength('one', model))), [1000, 2000, 3000, undefined]);
  t.same(await Promise.all(['told', 'asked', 'known', 'own'].map((model) => windowOf('one', model))), [1000, undefined, 3000, undefined]);
});
