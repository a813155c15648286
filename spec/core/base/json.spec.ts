import t from 'tap';
import { exceededLimit, hasMoreThan, holdsMoreThan, inOrder, isDeeperThan, isObject, parseJson, tryParseJson } from '../../../core/base/json.ts';

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

t.test('text that is not JSON throws, or answers undefined where that is expected', async (t) => {
  for (const text of ['', '{', '[1,]', '{}x', 'undefined', "{'a':1}", '\ufeff{}']) {
    t.throws(() => parseJson(text), SyntaxError, JSON.stringify(text));
    t.equal(tryParseJson(text), undefined, JSON.stringify(text));
  }
  t.same(parseJson('{"a":[1,null]}'), { a: [1, null] });
  t.equal(tryParseJson('null'), null, 'null is JSON');
});

t.test('a __proto__ key stays a plain key', async (t) => {
  const parsed = parseJson('{"__proto__":{"polluted":1}}') as Record<string, unknown>;
  t.ok(Object.hasOwn(parsed, '__proto__'));
  t.equal(Object.getPrototypeOf(parsed), Object.prototype);
  t.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

t.test('only plain objects are objects', async (t) => {
  t.ok(isObject({}));
  for (const other of [null, undefined, [], 'x', 1, true]) t.notOk(isObject(other), String(other));
});

t.test('depth counts arrays and objects, wherever they are', async (t) => {
  for (const [value, limit, deeper] of [
    [1, 0, false],
    ['x', 0, false],
    [null, 0, false],
    [{}, 0, true],
    [{}, 1, false],
    [[[]], 1, true],
    [{ a: 1, b: { c: [] } }, 2, true],
    [{ a: 1, b: { c: [] } }, 3, false],
    [nested(100), 100, false],
    [nested(101), 100, true],
  ] as const) {
    t.equal(isDeeperThan(value, limit), deeper, `${JSON.stringify(value)?.slice(0, 30)} against ${limit}`);
  }
});

t.test('values are counted inside arrays and objects, up to what is asked', async (t) => {
  for (const [value, limit, more] of [
    [1, 0, false],
    [{}, 0, false],
    [[1], 0, true],
    [[1, [2, { a: 3 }]], 5, false],
    [[1, [2, { a: 3 }]], 4, true],
    [{ a: { b: { c: 1 } } }, 3, false],
    [{ a: { b: { c: 1 } } }, 2, true],
    [new Array(1_000_000).fill(0), 10, true],
  ] as const)
    t.equal(hasMoreThan(value, limit), more, `${JSON.stringify(value).slice(0, 30)} against ${limit}`);
});

t.test('text nested a million deep neither overflows the parser nor the depth check', async (t) => {
  const text = '['.repeat(1_000_000) + ']'.repeat(1_000_000);
  t.equal(isDeeperThan(tryParseJson(text), 100), true);
});

t.test('values are counted before text is parsed, and what strings hold is not', async (t) => {
  const holds = (text: string, limit: number): boolean => holdsMoreThan(Buffer.from(text), limit);
  t.ok(holds('[1,2,3]', 2));
  t.notOk(holds('[1,2,3]', 3));
  t.ok(holds('{"a":1,"b":{"c":[]}}', 3));
  t.notOk(holds('{"a":1,"b":{"c":[]}}', 4));
  for (const text of ['",,,[[[{{{"', '"\\",,,,,,"', '"\\\\\\",,,,,"', '["é,,,,,,🙂,,"]']) t.notOk(holds(text, 1), text);
  t.ok(holds('["\\\\",0,0]', 2), 'an escaped backslash does not hide the end of its string');
  t.ok(holds(',,,,,,"unfinished', 3), 'it need not be JSON');
});

t.test('the limit that text goes beyond is found before it is parsed', async (t) => {
  const limits = { values: 3, depth: 2 };
  for (const [text, exceeded] of [
    ['[1,2,3]', undefined],
    ['[1,2,3,4]', 'values'],
    ['[[1],[2]]', 'values'],
    ['[[1]]', undefined],
    ['[[[', 'depth'],
    ['{"a":{"b":{}}}', 'depth'],
    ['"[[["', undefined],
    ['"\\"[[["', undefined],
    [`"${'x'.repeat(1000)}[[[[\\"[[[["`, undefined],
    [`"${'x'.repeat(1000)}\\\\"[[[`, 'depth'],
    [`"${'x'.repeat(1000)}`, undefined],
    ['', undefined],
  ] as const) {
    t.equal(exceededLimit(Buffer.from(text), limits), exceeded, text.slice(0, 40));
  }
});

t.test('values that differ only in the order of their fields are the same in order, at any depth', async (t) => {
  const text = (value: unknown): string => JSON.stringify(inOrder(value));
  t.equal(text({ b: [{ d: 1, c: 2 }], a: null }), '{"a":null,"b":[{"c":2,"d":1}]}');
  t.not(text([1, 2]), text([2, 1]), 'the order of a list counts');
});
