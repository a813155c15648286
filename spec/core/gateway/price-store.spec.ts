import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startPriceRig } from '../../support/price-rig.ts';

const MINUTE = { input: 1, output: 0 };

t.test('a price is the first that is known: told, of the entry, of prices.json, of a server of your own', async (t) => {
  const gpu = await startPriceRig(t, { models: { own: { price: { input: 3, output: 0 } } } });
  await gpu.filed({ models: { 'gpu/own': MINUTE, 'gpu/filed': MINUTE } });
  t.same([await gpu.costOf('own'), await gpu.costOf('filed'), await gpu.costOf('other')], [3, 1, 0]);
  const shown = (await gpu.call('GET', '/api/prices')).json;
  t.match(shown, {
    prices: [
      { model: 'gpu/filed', from: 'file', price: MINUTE },
      { model: 'gpu/own', from: 'own', price: { input: 3 } },
    ],
    source: null,
  });
  t.match((await gpu.call('GET', '/api/prices?model=gpu/other')).json, { prices: [{ from: 'own', price: { input: 0, output: 0 } }] });
  t.match((await gpu.call('GET', '/api/prices?model=openai/gpt-4o')).json, { prices: [{ from: 'data', price: { input: 2.5, output: 10 } }] });
  t.match((await gpu.call('GET', '/api/prices?model=openai/unheard-of')).json, { prices: [{ from: null, price: null }] });
  const cost = async (query: string) => (await gpu.call('GET', `/api/prices?model=${query}`)).json;
  t.match(await cost('openai/gpt-4o&inputTokens=1000000&outputTokens=100000'), { prices: [{ costUsd: 3.5 }] });
  t.match(await cost('openai/gpt-4o&inputTokens=1000000&cacheReadTokens=1000000'), { prices: [{ costUsd: 1.25 }] });
  t.match(
    await cost('google/gemini-2.5-pro&inputTokens=300000&outputTokens=0'),
    { prices: [{ price: null, costUsd: 0.75 }] },
    'also where it is not one price',
  );
  t.match(await cost('openai/unheard-of&inputTokens=1'), { prices: [{ costUsd: null }] });
  t.notOk('costUsd' in ((await cost('openai/gpt-4o')) as { prices: [object] }).prices[0]);
  t.match(await gpu.call('GET', '/api/prices?inputTokens=1'), { status: 400, json: { details: [{ path: 'model' }] } });
  t.match(await gpu.call('GET', '/api/prices?model=openai/gpt-4o&inputTokens=-1'), { status: 400, json: { details: [{ path: 'inputTokens' }] } });
  const told = await startPriceRig(t, { quirks: { costField: 'usage.cost' }, models: { own: { price: MINUTE } } });
  t.match((await told.call('GET', '/api/prices?model=gpu/own')).json, { prices: [{ from: 'provider' }] });
});

t.test('a damaged prices.json never counts as an empty one: what was read before stays, and without that no price is known', async (t) => {
  const gpu = await startPriceRig(t);
  await gpu.filed({ models: { 'gpu/filed': MINUTE } });
  t.equal(await gpu.costOf('filed'), 1);
  for (const [content, problem] of [
    ['{"models": {"gpu/filed": {"input": 2', /not valid JSON/],
    [{ models: { 'gpu/filed': { input: -1, output: 0 } } }, /models\.gpu\/filed\.input must be >= 0/],
    [{ models: { filed: MINUTE } }, /models\["filed"\] must be named connection\/model/],
    [{ models: {}, modles: {} }, /modles/],
    [[], /JSON object/],
  ] as const) {
    await gpu.filed(content);
    t.equal(await gpu.costOf('filed'), 1, 'the last good content');
    t.match((await gpu.call('GET', '/api/prices')).json, { status: 409, code: 'WORKSPACE_DAMAGED', error: problem });
    t.match((await gpu.core.check()).findings, [{ severity: 'error', place: 'prices.json', problem }]);
  }
  const fresh = await startPriceRig(t, { models: { own: { price: MINUTE } } });
  await fresh.filed('{');
  t.same([await fresh.costOf('own'), await fresh.costOf('filed')], [1, null]);
  await fresh.filed({ models: { 'gpu/filed': MINUTE } });
  t.match((await fresh.call('GET', '/api/prices')).json, { prices: [{ from: 'file' }, { from: 'own' }] }, 'and after it is repaired');
  await fresh.filed({ models: { 'lost/a': MINUTE } });
  t.match((await fresh.core.check()).findings, [{ severity: 'warning', place: 'prices.json', problem: /lost is neither a provider/ }]);
});

t.test('a price is set and removed over the API, beside what else the entry says of the model', async (t) => {
  const gpu = await startPriceRig(t, { models: { z: { contextWindow: 4096 } } });
  const put = (model: string, body: unknown) => gpu.call('PUT', `/api/prices/${encodeURIComponent(model)}`, { body });
  t.match(await put('gpu/z', { price: { input: 2, output: 8 } }), {
    status: 200,
    json: { model: 'gpu/z', from: 'own', price: { input: 2, output: 8 }, like: null, contextWindow: 4096 },
  });
  t.match(await put('gpu/x/y', { price: 'openai/gpt-4o-mini' }), {
    status: 200,
    json: { like: 'openai/gpt-4o-mini', price: { input: 0.15 }, contextWindow: 128_000 },
  });
  await Promise.all(['a', 'b', 'c'].map((model) => put(`gpu/${model}`, { price: 0 }))); // none overwrites another
  const stored = () => JSON.parse(readFileSync(join(gpu.workspace, 'auth.json'), 'utf8')).gpu.models;
  t.same(stored(), {
    z: { contextWindow: 4096, price: { input: 2, output: 8 } },
    'x/y': { price: 'openai/gpt-4o-mini' },
    a: { price: 0 },
    b: { price: 0 },
    c: { price: 0 },
  });
  for (const [model, body, status, problem] of [
    ['nobody/z', { price: 0 }, 404, /CONNECTION_NOT_FOUND/],
    ['gpu', { price: 0 }, 400, /connection\/model/],
    ['gpu/', { price: 0 }, 400, /connection\/model/],
    ['gpu/a*b', { price: 0 }, 400, /one \*/],
    ['gpu/z', {}, 400, /price/],
    ['gpu/z', { price: 1 }, 400, /price/],
    ['gpu/z', { price: { input: 1 } }, 400, /price/],
    ['gpu/z', { price: { input: -1, output: 1 } }, 400, /price/],
    ['gpu/z', { price: 'openai/unheard-of' }, 400, /names no model that the price data have/],
    ['gpu/z', { price: 0, key: 'x' }, 400, /key/],
  ] as const) {
    const refused = await put(model, body);
    t.match(refused, { status, text: problem }, `${model} ${JSON.stringify(body)}`);
  }
  for (const model of ['gpu/z', 'gpu/x/y', 'gpu/a', 'gpu/b', 'gpu/c', 'gpu/never'])
    t.equal((await gpu.call('DELETE', `/api/prices/${encodeURIComponent(model)}`)).status, 200);
  t.same(stored(), { z: { contextWindow: 4096 } });
});
