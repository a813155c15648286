import t from 'tap';
import { schemas } from '../../../../core/index.ts';
import type { CostsReport, ShownPrice } from '../../../../core/types.ts';
import { billRows, compareBill, MAX_BILL_BYTES } from '../../../../transports/dashboard/data/bill.ts';
import { priceOf, priceRows, type TypedPrice, typedPrice } from '../../../../transports/dashboard/data/prices.ts';
import { amountText, comparedText, priceFromText, rateText } from '../../../../transports/dashboard/text/prices.ts';

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

t.test('of a bill, each amount that it tells has a row, and a file that the server would refuse is not sent', async (t) => {
  const ours = { usd: 1, input: 3, output: 2, calls: 2, unpricedCalls: 1 };
  const comparison = {
    connection: 'gpu',
    matched: 1,
    differs: [
      { date: '2026-11-01', model: 'm', ours, theirs: null },
      { date: '2026-11-01', model: 'n', ours: null, theirs: { usd: 0.5 } },
    ],
  };
  const [amount, day] = ['usd', '2026-11-01'] as const;
  t.same(billRows(comparison), [
    { day, model: 'm', amount, ours: 1, theirs: undefined, uncounted: 1 },
    { day, model: 'n', amount, ours: undefined, theirs: 0.5, uncounted: 0 },
  ]);
  const alone = { ...comparison, differs: comparison.differs.slice(0, 1) };
  t.same(
    billRows(alone).map(({ amount, ours, theirs }) => [amount, amountText(amount, ours), amountText(amount, theirs)]),
    [
      ['usd', '$1.000000', '–'],
      ['input', '3', '–'],
      ['output', '2', '–'],
    ],
  );
  t.equal(comparedText(alone), '1 line of gpu agrees, 1 differs.');
  t.equal(comparedText({ connection: 'gpu', matched: 2, differs: [] }), '2 lines of gpu agree, 0 differ.');
  t.equal(MAX_BILL_BYTES, schemas.MAX_BILL_BYTES);
  await t.rejects(compareBill(new Blob(['x'.repeat(MAX_BILL_BYTES + 1)]), { connection: '', columns: '' }), { code: 'BODY_TOO_LARGE' });
});
