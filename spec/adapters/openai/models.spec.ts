import t from 'tap';
import { DEFAULT_MODEL, effortFor, isReasoningModel, MODELS } from '../../../adapters/openai/models.ts';

t.test('the default model is listed first, and no id twice', async (t) => {
  t.equal(DEFAULT_MODEL, 'gpt-6.1-terra');
  t.equal(MODELS[0], DEFAULT_MODEL);
  t.equal(new Set(MODELS).size, MODELS.length);
});

t.test('no model with an announced end is listed', async (t) => {
  const ending = [
    'gpt-4',
    'gpt-4-turbo',
    'gpt-3.5-turbo',
    'o1',
    'o3',
    'o3-mini',
    'o4-mini',
    'gpt-4.1',
    'gpt-4.1-mini',
    'gpt-4.1-nano',
    'gpt-4o',
    'gpt-4o-mini',
  ];
  for (const id of [...ending, 'gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'gpt-5.1', 'gpt-5.4-nano']) t.notOk(MODELS.includes(id), id);
});

t.test('every listed model reasons', async (t) => {
  for (const id of MODELS) t.ok(isReasoningModel(id), id);
});

t.test('whether a model reasons follows from its id', async (t) => {
  for (const id of ['o3', 'o4-mini', 'gpt-5', 'gpt-5.4-mini', 'gpt-6-astra', 'gpt-10-x', 'ft:o4-mini:org::1', 'openai/gpt-5.4', 'openai.gpt-6-sol'])
    t.ok(isReasoningModel(id), id);
  for (const id of ['gpt-4.1', 'gpt-4o', 'gpt-5-chat-latest', 'gpt-oss-120b', 'openai/gpt-oss-20b', 'llama-4', 'olmo-2', 'chatgpt-4o-latest', 'vendor/o'])
    t.notOk(isReasoningModel(id), id);
});

t.test('the o series gets the nearest of its three efforts, and every other model what was asked', async (t) => {
  for (const [effort, nearest] of [
    ['none', 'low'],
    ['minimal', 'low'],
    ['low', 'low'],
    ['medium', 'medium'],
    ['high', 'high'],
    ['xhigh', 'high'],
    ['max', 'high'],
  ] as const) {
    t.equal(effortFor('o4-mini', effort), nearest, effort);
    t.equal(effortFor('gpt-6.1-terra', effort), effort);
  }
});
