import t from 'tap';
import { generationOptions, toolConfig } from '../../../adapters/google/options.ts';

const MODEL = 'gemini-3.8-flash';

t.test('sampling and the form of the answer have their own names', async (t) => {
  t.same(generationOptions(MODEL, undefined), { fields: {}, warnings: [] });
  const options = {
    topP: 0.5,
    topK: 3,
    stop: ['END'],
    seed: 1,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    output: { type: 'json_schema', schema: { type: 'object' } },
  } as const;
  t.same(generationOptions(MODEL, options).fields, {
    topP: 0.5,
    topK: 3,
    stopSequences: ['END'],
    seed: 1,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    responseMimeType: 'application/json',
    responseJsonSchema: { type: 'object' },
  });
  t.same(generationOptions(MODEL, { output: { type: 'json' } }).fields, { responseMimeType: 'application/json' });
});

t.test('an effort is a level, or a budget for the models before levels', async (t) => {
  const thinking = (model: string, reasoning: object) => generationOptions(model, { reasoning });
  t.same(thinking(MODEL, { effort: 'low', summary: true }), { fields: { thinkingConfig: { thinkingLevel: 'low', includeThoughts: true } }, warnings: [] });
  for (const [effort, level] of [
    ['none', 'minimal'],
    ['xhigh', 'high'],
  ])
    t.match(thinking(MODEL, { effort }), { fields: { thinkingConfig: { thinkingLevel: level } }, warnings: [{ field: 'config.reasoning.effort' }] });
  t.match(thinking(MODEL, { budgetTokens: 100 }), { fields: {}, warnings: [{ field: 'config.reasoning.budgetTokens' }] });
  t.same(thinking('gemini-2.5-flash', { effort: 'none' }).fields, { thinkingConfig: { thinkingBudget: 0 } });
  t.same(thinking('gemini-2.5-pro', { effort: 'low', budgetTokens: 100 }).fields, { thinkingConfig: { thinkingBudget: 100 } });
});

t.test('the choice of a tool is a mode', async (t) => {
  const modeOf = (choice: Parameters<typeof toolConfig>[0]) => toolConfig(choice).functionCallingConfig;
  t.same(
    [undefined, 'auto', 'required', 'none'].map((choice) => modeOf(choice as 'auto').mode),
    ['AUTO', 'AUTO', 'ANY', 'NONE'],
  );
  t.same(modeOf({ name: 'f' }), { mode: 'ANY', allowedFunctionNames: ['f'] });
});
