import t from 'tap';
import { translate } from '../../../adapters/ollama/options.ts';

t.test('sampling and the form of the answer have their own names', async (t) => {
  t.same(translate('qwen3', undefined), { options: {}, fields: {}, offersTools: true, warnings: [] });
  const options = {
    topP: 0.5,
    topK: 3,
    stop: ['END'],
    seed: 1,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    output: { type: 'json_schema', schema: { type: 'object' } },
  } as const;
  t.match(translate('qwen3', options), {
    options: { top_p: 0.5, top_k: 3, stop: ['END'], seed: 1, presence_penalty: 0.1, frequency_penalty: 0.2 },
    fields: { format: { type: 'object' } },
  });
  t.same(translate('qwen3', { output: { type: 'json' } }).fields, { format: 'json' });
});

t.test('a model thinks or not; only gpt-oss has levels', async (t) => {
  const thinks = (model: string, effort: 'none' | 'minimal' | 'high' | 'max') => translate(model, { reasoning: { effort } }).fields.think;
  t.same([thinks('qwen3', 'none'), thinks('qwen3', 'high')], [false, true]);
  t.same([thinks('gpt-oss:20b', 'none'), thinks('gpt-oss:20b', 'minimal'), thinks('gpt-oss:20b', 'max')], ['low', 'low', 'high']);
  t.equal(translate('qwen3', { reasoning: { summary: true } }).fields.think, true);
  t.match(translate('qwen3', { reasoning: { budgetTokens: 5 } }).warnings, [{ field: 'config.reasoning.budgetTokens' }]);
});

t.test('a model that must not call tools does not see them, and none can be made to', async (t) => {
  t.equal(translate('qwen3', { toolChoice: 'none' }).offersTools, false);
  for (const toolChoice of ['required', { name: 'f' }] as const)
    t.match(translate('qwen3', { toolChoice }), { offersTools: true, warnings: [{ field: 'toolChoice' }] });
  t.same(translate('qwen3', { toolChoice: 'auto' }).warnings, []);
});
