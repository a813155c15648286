import t from 'tap';
import type { CostsReport, ShownPrice } from '../../../../core/types.ts';
import { priceOf, priceRows, type TypedPrice, typedPrice } from '../../../../transports/dashboard/data/prices.ts';
import { priceFromText, rateText } from '../../../../transports/dashboard/text/prices.ts';

const OWN: ShownPrice = { model: 'gpu/prod', from: 'own', price: { input: 0.59, output: 0.79, cacheRead: 0.06 }, like: null };
const UNKNOWN: ShownPrice = { model: 'gpu/x', from: null, price: null, like: null };

function report(...rows: [key: string, calls: number, unpricedCalls: number][]): CostsReport {
  const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: null };
  return {
    by: 'model',
    rows: rows.map(([key, calls, unpricedCalls]) => ({ key, calls, unpricedCalls, ...zero })),
    total: { calls: 0, unpricedCalls: 0, ...zero },
  };
}

t.test('models whose calls no sum counts come first, the most called before, and each model is there once', async (t) => {
  const rows = priceRows({ prices: [OWN, UNKNOWN], source: null }, report(['gpu/prod', 9, 0], ['ollama/m', 3, 3], ['gpu/x', 30, 27]));
  t.same(
    rows.map(({ model, uncounted, price }) => [model, uncounted, price?.from]),
    [
      ['gpu/x', 27, null],
      ['ollama/m', 3, undefined],
      ['gpu/prod', 0, 'own'],
    ],
  );
});

t.test('a price that is not known is no zero, and says so', async (t) => {
  t.equal(rateText(undefined), '–');
  t.equal(rateText(0), '$0');
  t.equal(rateText(0.075), '$0.075');
  t.equal(priceFromText({ model: 'gpu/x', price: UNKNOWN, uncounted: 27 }), 'not known');
  t.equal(priceFromText({ model: 'ollama/m', price: undefined, uncounted: 3 }), 'not known');
  t.equal(priceFromText({ model: 'gpu/prod', price: OWN, uncounted: 0 }), 'auth.json');
  t.equal(priceFromText({ model: 'gpu/prod', price: { ...OWN, like: 'openai/gpt-4o' }, uncounted: 0 }), 'auth.json, as openai/gpt-4o');
});

t.test('what is typed becomes a price, or the fields that are wrong; what was set comes back as it was typed', async (t) => {
  const typed: TypedPrice = { model: 'gpu/prod', kind: 'rates', input: '0.59', output: '0,79', cacheRead: '0.06', cacheWrite: '', like: '' };
  t.same(priceOf(typed), { input: 0.59, output: 0.79, cacheRead: 0.06 });
  t.same(typedPrice('gpu/prod', OWN), { ...typed, output: '0.79' });
  t.same(priceOf({ ...typed, kind: 'free', input: '' }), 0);
  t.equal(typedPrice('gpu/prod', { ...OWN, price: { input: 0, output: 0 } }).kind, 'free');
  t.same(priceOf({ ...typed, kind: 'like', like: 'openai/gpt-4o' }), 'openai/gpt-4o');
  t.match(typedPrice('gpu/prod', { ...OWN, like: 'openai/gpt-4o' }), { kind: 'like', like: 'openai/gpt-4o' });
  t.same(priceOf({ ...typed, model: 'prod', input: '', output: '-1', cacheRead: 'x' }), new Set(['model', 'input', 'output', 'cacheRead']));
  t.same(priceOf({ ...typed, kind: 'like', like: 'gpt' }), new Set(['like']));
  t.match(typedPrice('gpu/x', UNKNOWN), { kind: 'rates', input: '', output: '' });
});
