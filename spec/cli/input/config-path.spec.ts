import t from 'tap';
import { parseAssignment, parsePath, patchOf, readPath } from '../../../cli/input/config-path.ts';

const CONFIG = {
  description: 'd',
  adapter: null,
  memory: { keepMessages: 20, thresholdPercent: 80 },
  tags: ['a', 'b'],
  fallbacks: [{ provider: 'p', model: 'm' }],
};

function patch(...texts: string[]): Record<string, unknown> {
  return patchOf(CONFIG, texts.map(parseAssignment));
}

t.test('a value is JSON where it reads as JSON, and a string otherwise', async (t) => {
  for (const [text, value] of [
    ['a=5', 5],
    ['a=true', true],
    ['a=null', null],
    ['a="5"', '5'],
    ['a=["x"]', ['x']],
    ['a=plain words', 'plain words'],
    ['a=x=y', 'x=y'],
    ['a=', ''],
  ] as const)
    t.same(parseAssignment(text), { path: ['a'], value }, text);
});

t.test('a nested change sends its whole top-level field', async (t) => {
  t.same(patch('memory.keepMessages=5'), { memory: { keepMessages: 5, thresholdPercent: 80 } });
  t.same(patch('memory.keepMessages=5', 'memory.thresholdPercent=50', 'description=x'), {
    memory: { keepMessages: 5, thresholdPercent: 50 },
    description: 'x',
  });
  t.same(patch('adapter.provider=p', 'adapter.model=m'), { adapter: { provider: 'p', model: 'm' } });
  t.same(patch('unknown.deep.field=1'), { unknown: { deep: { field: 1 } } });
  t.same(
    patch('toString.x=1', 'memory.valueOf.x=1'),
    { toString: { x: 1 }, memory: { ...CONFIG.memory, valueOf: { x: 1 } } },
    'every object inherits these names',
  );
  t.same(CONFIG.memory, { keepMessages: 20, thresholdPercent: 80 }, 'what was read stays as it was');
});

t.test('an element of a list is changed or added', async (t) => {
  t.same(patch('tags.1=x'), { tags: ['a', 'x'] });
  t.same(patch('tags.2=x'), { tags: ['a', 'b', 'x'] });
  t.same(patch('fallbacks.0.model=n'), { fallbacks: [{ provider: 'p', model: 'n' }] });
  t.throws(() => patch('tags.9=x'), { message: 'tags is a list of 2; use an index from 0 to 2.' });
  t.throws(() => patch('tags.x=x'), { message: /list/ });
});

t.test('what can be no path, or leads through a value, is refused without an echo of the value', async (t) => {
  for (const text of ['canary', '=canary', 'a..b=canary', '.a=canary', '__proto__.x=canary', 'a.constructor=canary', 'sk canary=1'])
    t.throws(() => patch(text), { kind: 'usage', message: /^(?!.*canary)/ }, text);
  t.throws(() => patch('description.x=canary'), { message: 'description has no fields; it is a string.' });
});

t.test('a path is read through objects and lists, own fields only', async (t) => {
  t.equal(readPath(CONFIG, parsePath('memory.keepMessages')), 20);
  t.equal(readPath(CONFIG, parsePath('fallbacks.0.model')), 'm');
  t.equal(readPath(CONFIG, parsePath('adapter')), null);
  t.equal(readPath(CONFIG, parsePath('adapter.model')), undefined);
  t.equal(readPath(CONFIG, parsePath('memory.toString')), undefined);
  t.equal(readPath(CONFIG, []), CONFIG);
});
