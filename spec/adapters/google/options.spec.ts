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
  t.same(generationOptions('gemini-3.5-flash', options).fields, {
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

t.test('a model with fixed sampling gets none, and a warning for each setting', async (t) => {
  for (const model of [MODEL, 'gemini-3.6-flash', 'gemini-3.5-flash-lite', 'gemini-4-argon', 'gemini-flash-latest']) {
    const { fields, warnings } = generationOptions(model, { topP: 0.5, topK: 3, seed: 1 });
    t.same(fields, { seed: 1 }, model);
    t.same(
      warnings.map(({ field }) => field),
      ['config.topP', 'config.topK'],
    );
  }
});

t.test('a schema of an answer has only what Gemini takes, and a warning names what is not enforced', async (t) => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { kind: { type: 'string', const: 'cat' }, a: { $ref: '#/definitions/A' } },
    required: ['kind', 'a'],
    additionalProperties: false,
    definitions: { A: { type: 'string', pattern: '^x' } },
  };
  const { fields, warnings } = generationOptions(MODEL, { output: { type: 'json_schema', schema } });
  t.same(fields.responseJsonSchema, {
    type: 'object',
    properties: { kind: { type: 'string', enum: ['cat'] }, a: { $ref: '#/$defs/A' } },
    required: ['kind', 'a'],
    additionalProperties: false,
    $defs: { A: { type: 'string' } },
  });
  t.match(warnings, [{ field: 'config.output', message: /: pattern\.$/ }]);
  t.same(generationOptions(MODEL, { output: { type: 'json_schema', schema: { type: 'string', const: 'a' } } }).warnings, []);
});

t.test('an effort is a level that the model takes, or a budget for the models before levels', async (t) => {
  const thinking = (model: string, reasoning: object) => generationOptions(model, { reasoning });
  t.same(thinking(MODEL, { effort: 'low', summary: true }), { fields: { thinkingConfig: { thinkingLevel: 'low', includeThoughts: true } }, warnings: [] });
  for (const [model, effort, level] of [
    [MODEL, 'none', 'low'],
    [MODEL, 'minimal', 'low'],
    [MODEL, 'xhigh', 'high'],
    ['gemini-3.7-flash', 'minimal', 'low'],
    ['gemini-3.1-pro-preview', 'none', 'low'],
    ['gemini-4-argon', 'minimal', 'low'],
    ['gemini-flash-latest', 'none', 'low'],
    ['gemini-3.6-flash', 'none', 'minimal'],
    ['gemini-3.5-flash-lite', 'none', 'minimal'],
  ] as const)
    t.match(
      thinking(model, { effort }),
      { fields: { thinkingConfig: { thinkingLevel: level } }, warnings: [{ field: 'config.reasoning.effort' }] },
      `${model} ${effort}`,
    );
  for (const model of ['gemini-3-flash-preview', 'gemini-3.5-flash', 'gemini-3.6-flash', 'gemini-3.1-flash-lite'])
    t.same(thinking(model, { effort: 'minimal' }), { fields: { thinkingConfig: { thinkingLevel: 'minimal' } }, warnings: [] }, model);
  t.match(thinking(MODEL, { budgetTokens: 100 }), { fields: {}, warnings: [{ field: 'config.reasoning.budgetTokens' }] });
});

t.test('a model that is not known to think is not asked to', async (t) => {
  for (const model of ['gemma-3-27b-it', 'gemini-2.0-flash', 'gemini-1.5-pro', 'tunedModels/mine'])
    t.match(
      generationOptions(model, { reasoning: { effort: 'high', summary: true } }),
      { fields: { thinkingConfig: undefined }, warnings: [{ field: 'config.reasoning' }] },
      model,
    );
  t.same(generationOptions('gemma-3-27b-it', { reasoning: { effort: 'none' } }), { fields: {}, warnings: [] }, 'it does what was asked');
});

t.test('a budget is one that the model takes', async (t) => {
  for (const [model, reasoning, budget, field] of [
    ['gemini-2.5-flash', { effort: 'none' }, 0, undefined],
    ['gemini-2.5-flash', { budgetTokens: 31_999 }, 24_576, 'config.reasoning.budgetTokens'],
    ['gemini-2.5-flash', { effort: 'high', budgetTokens: 2000 }, 2000, undefined],
    ['gemini-2.5-flash-lite', { effort: 'none' }, 0, undefined],
    ['gemini-2.5-flash-lite', { budgetTokens: 100 }, 512, 'config.reasoning.budgetTokens'],
    ['gemini-2.5-pro', { effort: 'none' }, 128, 'config.reasoning.effort'],
    ['gemini-2.5-pro', { budgetTokens: 0 }, 128, 'config.reasoning.budgetTokens'],
    ['gemini-2.5-pro', { budgetTokens: 31_999 }, 31_999, undefined],
    ['gemini-2.5-pro', { budgetTokens: 100_000 }, 32_768, 'config.reasoning.budgetTokens'],
    ['gemini-2.5-pro', { effort: 'low' }, 1024, undefined],
  ] as const) {
    const { fields, warnings } = generationOptions(model, { reasoning });
    t.same(fields.thinkingConfig, { thinkingBudget: budget }, `${model} ${JSON.stringify(reasoning)}`);
    t.same(
      warnings.map((warning) => warning.field),
      field === undefined ? [] : [field],
    );
  }
  t.same(generationOptions('gemini-2.5-flash', { reasoning: { effort: 'none', summary: true } }).fields.thinkingConfig, { thinkingBudget: 0 });
});

t.test('the choice of a tool is a mode', async (t) => {
  const modeOf = (choice: Parameters<typeof toolConfig>[0]) => toolConfig(choice).functionCallingConfig;
  t.same(
    [undefined, 'auto', 'required', 'none'].map((choice) => modeOf(choice as 'auto').mode),
    ['AUTO', 'AUTO', 'ANY', 'NONE'],
  );
  t.same(modeOf({ name: 'f' }), { mode: 'ANY', allowedFunctionNames: ['f'] });
});
