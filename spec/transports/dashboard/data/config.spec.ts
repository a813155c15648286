import t from 'tap';
import { BlockConfigPatch } from '../../../../core/schemas/block-config.ts';
import {
  changedPaths,
  fieldsOf,
  isSame,
  leavesOf,
  parsed,
  patchOf,
  type Schema,
  settable,
  typed,
  unknownFields,
  valueAt,
  withValue,
} from '../../../../transports/dashboard/data/config.ts';

const SCHEMA = BlockConfigPatch as unknown as Schema;
const fields = fieldsOf(SCHEMA);
const field = (path: string) => {
  const found = fields.find((each) => each.path === path);
  if (found === undefined) throw new Error(path);
  return found;
};

t.test('each field of the contract has a control of its kind', async (t) => {
  const kinds = Object.fromEntries(fields.map(({ path, kind }) => [path, kind]));
  t.match(kinds, {
    description: 'text',
    systemPrompt: 'long',
    goals: 'list',
    tags: 'list',
    fallbacks: 'json',
    'tools.servers': 'list',
    'tools.allow': 'rules',
    'tools.default': 'choice',
    'tools.limits.steps': 'number',
    'adapter.model': 'text',
    'adapter.cacheControl': 'flag',
    'budget.dailyUsd': 'number',
    'memory.keepMessages': 'number',
    autoStart: 'flag',
  });
  t.ok(field('budget.dailyUsd').isNullable);
  t.notOk(fields.some(({ path }) => path === 'rev'));
});

t.test('what is typed becomes its value, or is told what is wrong', async (t) => {
  t.same(parsed(field('budget.dailyUsd'), '2.5'), { value: 2.5 });
  t.same(parsed(field('budget.dailyUsd'), ''), { value: null }, 'no cap');
  t.match(parsed(field('memory.keepMessages'), 'many'), /number/);
  t.match(parsed(field('memory.thresholdPercent'), '-1'), /least/);
  t.same(parsed(field('tags'), 'a\n\nb'), { value: ['a', 'b'] });
  t.match(parsed(field('fallbacks'), '[{'), /not JSON/);
  t.same(parsed(field('description'), ''), { value: '' });
  t.same(parsed(field('tools.allow'), ''), { value: [] });
  t.match(parsed(field('tools.allow'), 'bank/*\n{"tool":'), /not JSON/);
  for (const [path, value] of [
    ['tags', ['a', 'b']],
    ['budget.dailyUsd', 2.5],
    ['fallbacks', [{ provider: 'p', model: 'm' }]],
    ['description', 'x'],
    ['tools.allow', ['bank/list_*', { tool: 'files/write', where: { path: '~/x/**' } }]],
  ] as const)
    t.same(parsed(field(path), typed(field(path), value)), { value }, path);
});

t.test('a patch has the changed fields as a whole, and null for one that is gone', async (t) => {
  const base = { description: 'a', budget: { dailyUsd: 1, warnAt: 0.8 }, tags: ['x'], systemPrompt: 's' };
  const draft = withValue(withValue({ ...base, systemPrompt: undefined }, 'budget.dailyUsd', 2), 'tags', ['x']);
  t.same(patchOf(base, draft), { budget: { dailyUsd: 2, warnAt: 0.8 }, systemPrompt: null });
  t.same(changedPaths(fields, base, draft), ['systemPrompt', 'budget.dailyUsd']);
  t.equal(valueAt(draft, 'budget.warnAt'), 0.8);
  t.equal(valueAt(draft, 'nothing.there'), undefined);
  t.same(patchOf(base, { ...base }), {});
});

t.test('what the server counts is no field, and what nobody knows is kept apart', async (t) => {
  const config = { name: 'a', rev: 3, createdAt: 'x', description: 'd', plugin: { on: true } };
  t.same(settable(config, SCHEMA), { description: 'd' });
  t.same(unknownFields(config, SCHEMA), { plugin: { on: true } });
});

t.test('values are equal whatever the order of their fields, and have their leaves', async (t) => {
  t.ok(isSame({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }));
  t.notOk(isSame({ a: [1, 2] }, { a: [2, 1] }));
  t.same([...leavesOf([{ a: { b: 1 } }, { a: { c: 2 }, d: [1] }])].sort(), ['a.b', 'a.c', 'd']);
});
