import t from 'tap';
import { hasFixedSampling, isGemini3, isGemini4, takesBudget } from '../../../adapters/google/models.ts';

t.test('an id tells the generation', async (t) => {
  const kinds = (model: string): boolean[] => [takesBudget(model), isGemini3(model), isGemini4(model)];
  t.same(kinds('gemini-2.5-flash-lite'), [true, false, false]);
  for (const model of ['gemini-3-flash-preview', 'gemini-3.8-flash', 'gemini-10-pro', 'gemini-flash-latest', 'gemini-pro-latest'])
    t.same(kinds(model), [false, true, false], model);
  t.same(kinds('gemini-4-argon'), [false, true, true]);
  for (const model of ['gemini-2.0-flash', 'gemini-1.5-pro', 'gemma-3-27b-it', 'tunedModels/gemini-3']) t.same(kinds(model), [false, false, false], model);
});

t.test('newer models have fixed sampling', async (t) => {
  for (const model of ['gemini-3.6-flash', 'gemini-3.8-flash', 'gemini-3.10-flash', 'gemini-3.5-flash-lite', 'gemini-4-argon', 'gemini-flash-latest'])
    t.ok(hasFixedSampling(model), model);
  for (const model of ['gemini-3.5-flash', 'gemini-3.1-pro-preview', 'gemini-3.1-flash-lite', 'gemini-3-flash-preview', 'gemini-2.5-pro', 'gemini-pro-latest'])
    t.notOk(hasFixedSampling(model), model);
});
