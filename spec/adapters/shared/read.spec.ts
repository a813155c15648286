import t from 'tap';
import {
  asArray,
  asCount,
  asObject,
  asPart,
  assertParseable,
  assertRecord,
  asString,
  countOfRequest,
  expectList,
  expectObject,
  expectText,
  lookUp,
  metadataOf,
  parseArguments,
  shortened,
  sumCounts,
} from '../../../adapters/shared/read.ts';

t.test('a value of the expected type is read as it is, another one as nothing', async (t) => {
  const object = { a: 1 };
  const array = [1];
  t.equal(asObject(object), object);
  t.equal(asArray(array), array);
  t.equal(asString(''), '');
  for (const other of [undefined, null, 1, 'x', true, array]) t.same(asObject(other), {});
  for (const other of [undefined, null, 1, 'x', true, object]) t.same(asArray(other), []);
  for (const other of [undefined, null, 1, true, array, object]) t.equal(asString(other), undefined);
});

t.test('a count is a whole number from 0 that JavaScript can hold', async (t) => {
  for (const [value, count] of [
    [0, 0],
    [17, 17],
    [1.6, 2],
    ['5', 5],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ])
    t.equal(asCount(value), count);
  for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, '5.', '-5', '', '9'.repeat(17), null, undefined, {}, true])
    t.equal(asCount(value), undefined);
});

t.test('a sum counts unknown parts as 0 and is unknown without its first', async (t) => {
  t.equal(sumCounts(1, 2, undefined, 3), 6);
  t.equal(sumCounts(0), 0);
  t.equal(sumCounts(undefined, 2), undefined);
});

t.test("a provider's word is looked up among our own entries only", async (t) => {
  const table = { stop: 'end_turn' };
  t.equal(lookUp(table, 'stop'), 'end_turn');
  for (const word of ['constructor', '__proto__', 'toString', 'other', '', 1, null, undefined, ['stop']]) t.equal(lookUp(table, word), undefined);
});

t.test('arguments are a JSON object, blank text stands for none', async (t) => {
  t.same(parseArguments('{"a":[1]}'), { a: [1] });
  t.same(parseArguments(''), {});
  t.same(parseArguments(' \n'), {});
  for (const text of ['{"a":', '[1]', '"x"', 'null', '1', 'x']) t.equal(parseArguments(text), undefined, text);
});

t.test('arguments that would take seconds to parse are not parsed', async (t) => {
  const many = (count: number): string => `{"a":[${'1,'.repeat(count)}1]}`;
  t.equal((parseArguments(many(199_000)) as { a: unknown[] }).a.length, 199_001);
  const parses = t.capture(JSON, 'parse', JSON.parse);
  t.throws(() => parseArguments(many(201_000)), { code: 'UPSTREAM_MALFORMED', message: /more than 200000 JSON values/ });
  t.throws(() => parseArguments(`{"a":${'['.repeat(150_000)}${']'.repeat(150_000)}}`), {
    code: 'UPSTREAM_MALFORMED',
    message: /nests deeper than 1000 levels/,
  });
  const fields = Array.from({ length: 30_000 }, (_, at) => `"field${at}":1`);
  t.throws(() => parseArguments(`{${fields.join(',')}}`), { code: 'UPSTREAM_MALFORMED', message: /an object with more than 10000 fields/ });
  t.throws(() => assertParseable(Buffer.from(`{"choices":[],"more":{${fields.join(',')}}}`)), /an object with more than 10000 fields/, 'nor is a whole answer');
  t.equal(parses().length, 0);
});

t.test("metadata is the adapter's own, and an object", async (t) => {
  t.same(metadataOf({ providerMetadata: { acme: { a: 1 } } }, 'acme'), { a: 1 });
  for (const own of [undefined, null, 'x', 1, [1]]) t.equal(metadataOf({ providerMetadata: { acme: own } }, 'acme'), undefined);
  t.equal(metadataOf({ providerMetadata: { other: { a: 1 } } }, 'acme'), undefined);
  t.equal(metadataOf({}, 'acme'), undefined);
});

t.test('a long record is shortened to what matters, and what is no whole object stays as it is', async (t) => {
  const wanted = { type: 'whole', response: ['usage'] } as const;
  const long = 'x'.repeat(256 * 1024);
  const of = (record: object) => shortened(JSON.stringify({ ...record, long }), wanted);
  t.equal(of({ type: { a: [1] }, a: 2, response: { usage: { b: [3] }, c: 4 } }), '{"type":{"a":[1]},"response":{"usage":{"b":[3]}}}');
  for (const response of [null, 'x', [1], 5]) t.equal(of({ response }), JSON.stringify({ response }));
  t.equal(shortened(long, wanted), long);
  t.equal(shortened('{"a":1}', wanted), '{"a":1}', 'a short one stays, too');
});

t.test('what an answer must have may be absent, and is malformed as anything else', async (t) => {
  for (const nothing of [undefined, null]) {
    t.equal(expectText(nothing, 'a text'), '');
    t.same(expectList(nothing, 'a list'), []);
    t.same(expectObject(nothing, 'an object'), {});
  }
  t.equal(expectText('x', 'a text'), 'x');
  t.same(expectList([1], 'a list'), [1]);
  t.same(expectObject({ a: 1 }, 'an object'), { a: 1 });
  t.throws(() => expectText(1, 'the text of a block'), { code: 'UPSTREAM_MALFORMED', message: /the text of a block is not a string/ });
  t.throws(() => expectList({}, 'its content'), { code: 'UPSTREAM_MALFORMED', message: /its content is not a list/ });
  t.throws(() => expectObject([], 'its usage'), { code: 'UPSTREAM_MALFORMED', message: /its usage is not an object/ });
});

t.test('a part of a count is reported where it is more than nothing, and no request has 0 tokens beside an answer', async (t) => {
  for (const [value, part] of [
    [0, undefined],
    [-1, undefined],
    ['7', 7],
    [3, 3],
  ] as const)
    t.equal(asPart(value), part, String(value));
  t.equal(countOfRequest(0, 5), undefined);
  t.equal(countOfRequest(0, 0), 0);
  t.equal(countOfRequest(0, undefined), 0);
  t.equal(countOfRequest(9, 5), 9);
});

t.test('a long answer is refused for its depth or the number of its values before it is parsed', async (t) => {
  const pad = ' '.repeat(256 * 1024);
  const deep = Buffer.from(`${'['.repeat(5000)}${']'.repeat(5000)}${pad}`);
  t.throws(() => assertParseable(deep), { code: 'UPSTREAM_MALFORMED', message: /it nests deeper than \d+ levels/ });
  t.throws(() => assertParseable(Buffer.from(`[1,2,3]${pad}`), 2), { code: 'UPSTREAM_MALFORMED', message: /it has more than 2 JSON values/ });
  t.throws(() => assertRecord(deep.toString()), { code: 'UPSTREAM_MALFORMED' });
  t.doesNotThrow(() => assertParseable(Buffer.from(`[1,2,3]${pad}`)));
  t.doesNotThrow(() => assertRecord('[1]'));
});
