import t from 'tap';
import { configWarnings } from '../../../../core/block/status/config-warnings.ts';

const fieldsOf = (patch: unknown): string[] => configWarnings(patch).map(({ field }) => field);

/** What the first warning takes an unknown field for. */
const meant = (patch: unknown): string | undefined => /Did you mean (.*)\?$/.exec(configWarnings(patch)[0]?.message ?? '')?.[1];

t.test('known fields get no warning at any depth, and neither do those of the server', async (t) => {
  const known = [
    {},
    { name: 'a', createdAt: 'x', updatedAt: 'x', rev: 1 },
    { description: 'x', tags: ['a'], goals: [], adapter: null, autoStart: true },
    { adapter: { provider: 'p', model: 'm', maxTokens: 1, baseURL: 'http://x' }, fallbacks: [{ provider: 'p', model: 'm' }] },
    { budget: { dailyTokens: null }, memory: { keepMessages: 5 } },
  ];
  for (const patch of known) t.same(fieldsOf(patch), [], JSON.stringify(patch));
  for (const value of [null, undefined, [], 'x']) t.same(fieldsOf(value), []);
});

t.test('an unknown field is named by its path, and its contents are not checked', async (t) => {
  t.same(fieldsOf({ systmPrompt: 'x', own: { deep: { field: 1 } } }), ['systmPrompt', 'own']);
  t.same(fieldsOf({ budget: { dailyToken: 1, dailyUsd: 2 }, fallbacks: [{ provider: 'p', model: 'm', modle: 'n' }] }), [
    'budget.dailyToken',
    'fallbacks[0].modle',
  ]);
  t.same(configWarnings({ mine: 1 }, 'config.'), [{ field: 'config.mine', message: 'This field is unknown to this version. It was saved but has no effect.' }]);
  t.same(fieldsOf(JSON.parse('{"__proto__":1,"constructor":2,"memory":{"toString":3}}')), ['__proto__', 'constructor', 'memory.toString']);
});

t.test('a similar known field is suggested: other letters, another spelling, a part of a name, a field elsewhere', async (t) => {
  const cases: [patch: unknown, near: string | undefined][] = [
    [{ systmPrompt: 'x' }, 'systemPrompt'],
    [{ system_prompt: 'x' }, 'systemPrompt'],
    [{ SystemPrompt: 'x' }, 'systemPrompt'],
    [{ system: 'x' }, 'systemPrompt'],
    [{ desc: 'x' }, 'description'],
    [{ tag: ['x'] }, 'tags'],
    [{ adapter: { provider: 'p', modle: 'm' } }, 'adapter.model'],
    [{ adapter: { max_tokens: 5 } }, 'adapter.maxTokens'],
    [{ model: 'm' }, 'adapter.model'],
    [{ maxTokens: 5 }, 'adapter.maxTokens'],
    [{ fallbacks: [{ provder: 'p' }] }, 'fallbacks[0].provider'],
    [{ yours: 1 }, undefined],
    [{ x: 1 }, undefined],
    [{ ['systemPrompt'.repeat(100)]: 1 }, undefined],
  ];
  for (const [patch, near] of cases) t.equal(meant(patch), near, JSON.stringify(patch).slice(0, 60));
  t.match(configWarnings({ modle: 1 }, 'config.')[0]?.message, /Did you mean config\.adapter\.model\?$|effect\.$/);
});

t.test('the first twenty unknown fields get a warning, and very long names are cut', async (t) => {
  t.equal(configWarnings(Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`field${n}`, n]))).length, 20);
  t.ok((configWarnings({ ['x'.repeat(100_000)]: 1 })[0]?.field.length ?? 0) < 200);
});
