import t from 'tap';
import { BlockAdapter, BlockConfigFile, BlockConfigPatch } from '../../../core/schemas/block-config.ts';
import { refusedField } from '../../support/refused-field.ts';

t.test('a configuration on disk needs a name and nothing else; a change needs nothing', async (t) => {
  t.equal(refusedField(BlockConfigFile, { name: 'ada' }), undefined);
  t.equal(refusedField(BlockConfigFile, {}), 'name');
  t.equal(refusedField(BlockConfigFile, { name: 'Ada' }), 'name');
  t.equal(refusedField(BlockConfigPatch, {}), undefined);
  t.equal(refusedField(BlockConfigPatch, { somethingElse: 1 }), undefined);
});

t.test('known fields of a configuration have limits', async (t) => {
  const wrong: Record<string, unknown> = {
    adapter: { provider: 'p' },
    goals: 'one',
    memory: { maxContextTokens: 1 },
    pulse: { intervalSeconds: 4 },
    retry: { maxAttempts: 0 },
    budget: { dailyUsd: -1 },
    queue: { cap: 0 },
    logs: { maxFiles: 0 },
    enabled: 'yes',
  };
  for (const [field, value] of Object.entries(wrong)) t.match(refusedField(BlockConfigPatch, { [field]: value }), field);
  t.equal(refusedField(BlockConfigPatch, { adapter: null, budget: { dailyUsd: null, monthlyUsd: 0 } }), undefined);
});

t.test('a model id can not leave its place in a URL', async (t) => {
  t.equal(refusedField(BlockAdapter, { provider: 'p', model: '../m' }), 'model');
  t.equal(refusedField(BlockAdapter, { provider: 'p', model: 'org/m:1b' }), undefined);
});

t.test('the settings of a model have the limits that they have in a chat request', async (t) => {
  const model = { provider: 'p', model: 'm' };
  t.equal(refusedField(BlockAdapter, { ...model, topP: 0.9, topK: 20, reasoning: { effort: 'high', budgetTokens: 2000 } }), undefined);
  t.equal(refusedField(BlockAdapter, { ...model, topP: 1.1 }), 'topP');
  t.equal(refusedField(BlockAdapter, { ...model, topK: 0.5 }), 'topK');
  t.equal(refusedField(BlockAdapter, { ...model, reasoning: { effort: 'most' } }), 'reasoning.effort');
  t.equal(refusedField(BlockAdapter, { ...model, reasoning: { efort: 'high' } }), 'reasoning.efort');
});

t.test('no top-level field of a change has a default, because a missing one stays as it is', async (t) => {
  for (const [name, schema] of Object.entries<object>(BlockConfigPatch.properties)) t.notOk(Object.hasOwn(schema, 'default'), name);
});
