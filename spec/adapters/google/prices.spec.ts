import t from 'tap';
import { pricedModel } from '../../../adapters/google/prices.ts';

t.test('a model is priced as Google calls it, and a tuned one is not', async (t) => {
  for (const model of ['gemini-2.5-pro', 'models/gemini-2.5-pro']) t.equal(pricedModel({ model }), 'gemini-2.5-pro', model);
  for (const model of ['tunedModels/gemini-2.5-pro', 'models/tunedModels/x']) t.equal(pricedModel({ model }), undefined, model);
});
