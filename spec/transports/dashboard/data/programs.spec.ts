import t from 'tap';
import type { Connection } from '../../../../transports/dashboard/data/connections.ts';
import { optionsFor } from '../../../../transports/dashboard/data/models.ts';
import {
  capsOfKey,
  curlLine,
  firstModel,
  limitsOf,
  type ProgramKey,
  targetsOf,
  typedLimits,
  withAgents,
} from '../../../../transports/dashboard/data/programs.ts';

const spend = (usd: number, tokens: number) => ({ usd, tokens, calls: 1, unpricedCalls: 0 });
const KEY: ProgramKey = {
  name: 'app',
  createdAt: '2026-11-22T12:00:00.000Z',
  rev: 'r',
  usdPerDay: 5,
  usdPerWeek: null,
  usdPerMonth: 50,
  tokensPerDay: null,
  tokensPerMonth: 1_000_000,
  inFlight: 4,
  requestsPerMinute: null,
  tokensPerMinute: null,
  unpriced: 'allow',
  group: null,
  rights: [],
  blocks: null,
  models: ['a/*', 'b/x'],
  expiresAt: '2027-01-31T12:34:56.000Z',
  spentToday: spend(1, 10),
  spentThisWeek: spend(2, 20),
  spentThisMonth: spend(3, 30),
  lastUsedOn: '2026-11-22',
};

t.test('each cap stands beside what is spent of it', async (t) => {
  t.same(capsOfKey(KEY), [
    { field: 'usdPerDay', cap: 5, spent: 1 },
    { field: 'usdPerMonth', cap: 50, spent: 3 },
    { field: 'tokensPerMonth', cap: 1_000_000, spent: 30 },
  ]);
});

t.test('only what was changed is sent, so that the exact end of a key and what others change stay', async (t) => {
  const before = typedLimits(KEY);
  t.same(limitsOf(before, before), {});
  t.same(limitsOf({ ...before, usdPerDay: '7,50', usdPerMonth: '' }, before), { usdPerDay: 7.5, usdPerMonth: null });
  t.same(limitsOf({ ...before, tokensPerMonth: '2,000,000', models: ' c/y \n\n' }, before), { tokensPerMonth: 2_000_000, models: ['c/y'] });
  t.same(limitsOf({ ...before, lastDay: '', models: '' }, before), { expiresAt: null, models: null });
  t.same(limitsOf({ ...before, usdPerDay: 'much', inFlight: '0' }, before), new Set(['usdPerDay', 'inFlight']));
});

t.test('a new key whose only caps are in USD refuses what they would not count, unless a person chooses otherwise', async (t) => {
  const none = typedLimits();
  t.match(limitsOf(none, undefined), { usdPerDay: null, unpriced: 'allow' });
  t.match(limitsOf({ ...none, usdPerDay: '5' }, undefined), { usdPerDay: 5, unpriced: 'refuse' });
  t.match(limitsOf({ ...none, usdPerDay: '5', tokensPerDay: '9' }, undefined), { unpriced: 'allow' });
  t.match(limitsOf({ ...none, usdPerDay: '5', refuses: false }, undefined), { unpriced: 'allow' });
  const { expiresAt } = limitsOf({ ...none, lastDay: '2027-01-31' }, undefined) as { readonly expiresAt: string };
  t.equal(new Date(expiresAt).getDate(), 31);
  t.equal(Date.parse(expiresAt) - new Date('2027-01-31T00:00:00').getTime(), 86_399_000, 'the whole day');
});

t.test('a key of an agent keeps its rights with another list of blocks, and loses them without one', async (t) => {
  const agent = typedLimits({ ...KEY, rights: ['mcp'] });
  t.equal(agent.blocks, '*');
  t.same(limitsOf({ ...agent, blocks: 'ada' }, agent), { rights: ['mcp'], blocks: ['ada'] });
  t.same(limitsOf({ ...agent, blocks: '' }, agent), { rights: [], blocks: null });
  t.same(limitsOf({ ...agent, usdPerDay: '6' }, agent), { usdPerDay: 6 });
});

t.test('a key is given the right of other agents, and loses it, and asks the same blocks as models', async (t) => {
  const key = typedLimits({ ...KEY, blocks: ['ada'] });
  const agent = { ...key, rights: withAgents(key.rights, true) };
  t.same(limitsOf(agent, key), { rights: ['blocks', 'mcp'] });
  t.same(limitsOf({ ...agent, rights: withAgents(agent.rights, false) }, agent), { rights: ['blocks'] });
  t.match(limitsOf({ ...typedLimits(), blocks: '*', rights: withAgents([], true) }, undefined), { rights: ['blocks', 'mcp'], blocks: null });
});

t.test('the blocks of a key are typed in lines: none, some, or all with a star', async (t) => {
  const none = typedLimits(KEY);
  t.equal(none.blocks, '');
  t.same(limitsOf({ ...none, blocks: ' ada \n team-*\n' }, none), { rights: ['blocks'], blocks: ['ada', 'team-*'] });
  t.same(limitsOf({ ...none, blocks: '*' }, none), { rights: ['blocks'], blocks: null });
  const all = typedLimits({ ...KEY, rights: ['blocks'] });
  t.equal(all.blocks, '*');
  t.same(limitsOf({ ...all, blocks: '' }, all), { rights: [], blocks: null });
  t.same(limitsOf(all, all), {}, 'what nobody has touched stays');
  t.equal(typedLimits({ ...KEY, blocks: ['ada'] }).blocks, 'ada');
});

t.test('the models of an alias keep their order and weights; a row without a provider is a fault, an empty one is none', async (t) => {
  const row = (model: string, weight = '') => ({ model, weight });
  t.same(targetsOf([row('a/x', '3'), row(''), row(' b/y ')]), [{ model: 'a/x', weight: 3 }, 'b/y']);
  for (const wrong of [[row('x')], [row('a/x', '0')], [row('a/x', '1001')], [row('')]]) t.equal(targetsOf(wrong), undefined);
});

t.test('the line for a shell asks a model that the key may use, and is one argument whatever the name is', async (t) => {
  const names = {
    defaultProvider: null,
    aliases: [{ name: 'fast-*', targets: ['a/x'] }],
    models: [
      { id: 'a/x', adapter: 'a' },
      { id: 'b/x.y', adapter: 'b' },
    ],
  };
  t.equal(firstModel(names, null), 'a/x');
  t.equal(firstModel({ ...names, aliases: [{ name: 'coder', targets: ['a/x'] }] }, null), 'coder');
  t.equal(firstModel(names, ['b/*']), 'b/x.y');
  t.equal(firstModel(names, ['b/x?y', 'c/z']), 'b/x?y');
  t.equal(firstModel(names, ['c/*']), undefined);
  t.match(curlLine('http://h', 'bhk_1', "it's"), /^curl http:\/\/h\/v1\/chat\/completions .*"model":"it'\\''s".*'$/);
});

t.test('who chooses a model is offered providers first, ready ones before others, and then the models that fit; a provider has its own alone', async (t) => {
  const connections = [
    { name: 'openai', ready: false },
    { name: 'ollama', ready: true },
  ] as unknown as readonly Connection[];
  const models = [
    ...['ollama/gemma4', 'ollama/qwen3', 'openai/gpt-5'].map((id) => ({ id, adapter: id.slice(0, id.indexOf('/')) })),
    { id: 'coder', adapter: 'ollama' },
  ];
  const values = (asked: Partial<Parameters<typeof optionsFor>[0]>) => optionsFor({ models, connections, text: '', ...asked }).map(({ value }) => value);
  t.same(values({}), ['ollama/', 'openai/']);
  t.same(values({ text: 'ollama/' }), ['ollama/gemma4', 'ollama/qwen3']);
  t.same(values({ text: 'gpt' }), ['openai/gpt-5']);
  t.same(values({ text: 'OLLAMA/Q' }), ['ollama/qwen3']);
  t.same(values({ text: 'none/at-all' }), []);
  t.same(values({ of: 'ollama', text: 'gem' }), ['gemma4']);
  t.same(values({ isProvider: true }), ['ollama', 'openai']);
  t.same(values({ hasAliases: true }), ['ollama/', 'openai/', 'coder']);
  t.same(values({ hasAliases: true, text: 'cod' }), ['coder']);
  t.same(values({ text: 'cod' }), [], 'a block has no alias');
});
