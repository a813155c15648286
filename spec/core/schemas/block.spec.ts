import t from 'tap';
import { freshMemory, freshPulse } from '../../../core/block/document-codecs.ts';
import { noCosts } from '../../../core/monitor/costs.ts';
import * as schemas from '../../../core/schemas/block.ts';
import { compile, type Validator } from '../../../core/schemas/validate.ts';

const takes = (schema: object, value: unknown): boolean => {
  const check: Validator<object> = compile(schema as { readonly type: 'object' });
  try {
    check(value);
    return true;
  } catch {
    return false;
  }
};

t.test('every schema compiles', async (t) => {
  const all = Object.entries(schemas).filter(([, schema]) => typeof schema === 'object' && !Array.isArray(schema));
  t.ok(all.length > 12);
  for (const [name, schema] of all) t.doesNotThrow(() => takes(schema as object, {}), name);
});

t.test('what is fresh is valid', async (t) => {
  t.ok(takes(schemas.MemoryFile, freshMemory()));
  t.ok(takes(schemas.CostsFile, noCosts()));
  t.ok(takes(schemas.PulseFile, freshPulse()));
});

t.test('a configuration on disk needs a name and nothing else; a change needs nothing', async (t) => {
  t.ok(takes(schemas.BlockConfigFile, { name: 'ada' }));
  t.notOk(takes(schemas.BlockConfigFile, {}));
  t.notOk(takes(schemas.BlockConfigFile, { name: 'Ada' }));
  t.ok(takes(schemas.BlockConfigPatch, {}));
  t.ok(takes(schemas.BlockConfigPatch, { somethingElse: 1 }));
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
  for (const [field, value] of Object.entries(wrong)) t.notOk(takes(schemas.BlockConfigPatch, { [field]: value }), field);
  t.ok(takes(schemas.BlockConfigPatch, { adapter: null, budget: { dailyUsd: null, monthlyUsd: 0 } }));
});

t.test('a model id can not leave its place in a URL', async (t) => {
  t.notOk(takes(schemas.BlockAdapter, { provider: 'p', model: '../m' }));
  t.ok(takes(schemas.BlockAdapter, { provider: 'p', model: 'org/m:1b' }));
});
