// The short way of assertions in a whole run (spec/support/cheap-assertions.ts) never says yes where tap says no.
import t from 'tap';
import { match, same, strict } from 'tcompare';
import { isSurelyMatch, isSurelySame } from './support/alike.ts';

class Other {
  a = 1;
}
const circle: Record<string, unknown> = { a: 1 };
circle['self'] = circle;
const sparse: unknown[] = [1];
sparse[2] = 3;
const bare = Object.assign(Object.create(null) as object, { a: 1 });

const VALUES: readonly unknown[] = [
  ...[undefined, null, true, false, 0, -0, 1, Number.NaN, '', '1', 'a', 'abc', 1n, Symbol.iterator],
  ...[[], [1], [1, 2], [1, undefined, 3], [undefined], sparse, ['a'], [[1]], [{ a: 1 }]],
  ...[{}, { a: 1 }, { a: '1' }, { a: 1, b: 2 }, { a: undefined }, { b: undefined }, { a: { b: [1, { c: 'abc' }] } }, { a: { b: [1, { c: 'abc', d: 1 }] } }],
  ...[new Other(), bare, circle, new Map([[1, 2]]), new Map(), new Set([1]), new Set(), new Date(0), new Date(1)],
  ...[/b/, /^b/, /b/g, new Error('abc'), new TypeError('abc'), Buffer.from('abc'), Buffer.from('abd'), Number, String, Object, Array, () => 1],
  ...[{ length: 1, 0: 1 }, { a: /b/ }, { a: Number }, { c: /^z/ }, { a: { b: [1, { c: /b/ }] } }, { a: { b: [Number] } }, [/a/], [Number, Number]],
];

const verdictOf = (judge: typeof same, found: unknown, wanted: unknown): boolean => judge(found, wanted).match;

t.test('what is surely the same, or surely fits, is so for tap', async (t) => {
  const wrong: string[] = [];
  let surely = 0;
  for (const [at, found] of VALUES.entries())
    for (const [to, wanted] of VALUES.entries()) {
      const isSame = isSurelySame(found, wanted);
      const isMatch = isSurelyMatch(found, wanted);
      surely += Number(isSame) + Number(isMatch);
      if (isSame && !(verdictOf(same, found, wanted) && verdictOf(strict, found, wanted))) wrong.push(`${at} is not the same as ${to}`);
      if (isMatch && !verdictOf(match, found, wanted)) wrong.push(`${at} does not fit ${to}`);
    }
  t.equal(wrong.join('\n'), '');
  t.ok(surely > 2 * VALUES.length, `${surely}`);
});

t.test('values of JSON that are the same, or fit, surely are so', async (t) => {
  const value = { a: [1, 'two', { three: null, four: [true, {}] }], b: '' };
  t.ok(isSurelySame(value, structuredClone(value)));
  t.notOk(isSurelySame(value, { ...structuredClone(value), c: 1 }));
  t.notOk(isSurelySame({ ...value, c: 1 }, value));
  t.ok(isSurelyMatch(value, { a: [1, /w/, { four: [true, {}] }] }));
  t.notOk(isSurelyMatch(value, { a: [1, /W/, { four: [true, {}] }] }));
  t.notOk(isSurelyMatch(value, { a: [1, 'two', { five: undefined }] }));
});
