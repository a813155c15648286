import t from 'tap';
import { parseJson } from '../../../core/base/json.ts';
import { membersBetween, membersOf, repeatedMember } from '../../../core/base/json-members.ts';
import { parseInSlices } from '../../../core/base/json-slices.ts';
import { Random } from '../../support/crash/random.ts';

/** The JSON of each member found; undefined for what is no whole object. */
function found(text: string, ...names: string[]): string[] | undefined {
  const bytes = Buffer.from(text);
  return membersOf(bytes, names)?.map(({ name, start, end }) => `${name}=${bytes.toString('utf8', start, end)}`);
}

t.test('the members of the outermost object are found, however they are written', async (t) => {
  t.strictSame(found('{"a":1,"b":{"a":2},"c":[{"a":3}],"a":"4"}', 'a'), ['a=1', 'a="4"']);
  t.strictSame(found(' \r\n{ "a" :\t true , "b" : null }\n', 'a', 'b'), ['a=true', 'b=null']);
  t.strictSame(found('{"\\u0061":1,"x\\"a":2,"\\\\":3}', 'a', '\\'), ['a=1', '\\=3']);
  t.strictSame(found('{"text":"\\"a\\":1, \\\\","a":{"x":"}"}}', 'a'), ['a={"x":"}"}']);
  t.strictSame(found('\ufeff{"ä":1,"a":-1.5e3}', 'a'), ['a=-1.5e3']);
  t.strictSame(found('{}', 'a'), []);
});

t.test('what is no object, or a part of one, is told', async (t) => {
  for (const text of [
    '',
    ' ',
    '[]',
    '"a"',
    '1',
    'null',
    '{',
    '{"a"',
    '{"a":',
    '{"a":}',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{"a" 1}',
    '{a:1}',
    '{"a":1}x',
    '{"a":[1}',
    '{"a":"x}',
  ])
    t.equal(found(text, 'a'), undefined, text);
});

t.test('cut anywhere, no text is taken for a whole one; whole, it says what JSON.parse says', async (t) => {
  const random = new Random(11);
  const value = (depth: number): unknown => {
    const kind = random.below(depth > 0 ? 6 : 4);
    if (kind === 0) return random.below(1000) / 8;
    if (kind === 1) return random.pick([true, false, null]);
    if (kind < 4) return Array.from({ length: random.below(80) }, () => random.pick(['a', '"', '\\', '{', '}', ',', ':', 'ü', '\n', '[', ']'])).join('');
    if (kind === 4) return Array.from({ length: random.below(4) }, () => value(depth - 1));
    return Object.fromEntries(Array.from({ length: random.below(5) }, () => [random.pick(['a', 'b', 'usage', '"', '\\']), value(depth - 1)]));
  };
  for (let round = 0; round < 300; round += 1) {
    const object = { ...(value(3) as object), usage: value(2) };
    const text = JSON.stringify(object, undefined, random.pick([0, 1]));
    const bytes = Buffer.from(text);
    const member = membersOf(bytes, ['usage'])?.at(-1);
    if (member === undefined) return t.fail(text);
    if (JSON.stringify(JSON.parse(bytes.toString('utf8', member.start, member.end))) !== JSON.stringify(object.usage)) return t.fail(text);
    const cut = random.below(bytes.length);
    if (membersOf(bytes.subarray(0, cut), ['usage']) !== undefined) return t.fail(`${cut}: ${text}`);
  }
  t.pass('300 objects');
});

const repeated = (text: string): string | undefined => repeatedMember(Buffer.from(text), parseJson(text));

t.test('a name that an object has twice is found at any depth, however it is written', async (t) => {
  for (const [text, name] of [
    ['{"a":1,"a":1}', 'a'],
    ['{"a":{"x":1,"y":2},"a":1}', 'a'],
    ['{"model":1,"mod\\u0065l":2}', 'model'],
    ['{"b" : 1, "c": [ {"a":1}, {"a\\"":1 , "a\\u0022":2} ] }', 'a"'],
    ['[{"ü":1,"\\u00fc":2}]', 'ü'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"":1,"":2}', ''],
    ['{"a":{"b":":,{"},"c":[[{"d":1,"e":{},"d":null}]]}', 'd'],
  ] as const)
    t.equal(repeated(text), name, text);
});

t.test('names that stand once in each object, and texts that look like members, are fine', async (t) => {
  for (const text of [
    '{}',
    '[]',
    '1',
    '"a:a:"',
    '{"a":{"a":{"a":[{"a":1},{"a":1}]}}}',
    '{"a":"\\"a\\":1,\\"a\\":2","b":"a:"}',
    '{"a":1,"A":2,"__proto__":3,"length":4}',
  ])
    t.equal(repeated(text), undefined, text);
  t.equal(repeated(`${'['.repeat(5000)}${']'.repeat(5000)}`), undefined, 'deep nesting');
});

t.test('random objects with and without a repeated name are told apart', async (t) => {
  const random = new Random(7);
  const pick = (most: number): number => Math.floor(random.next() * most);
  /** Written by hand, because JSON.stringify repeats no name. */
  const write = (levels: number, names: string[]): string => {
    if (levels === 0 || pick(4) === 0) return ['1', 'null', '"a:{"', '"\\\\"', '[]'][pick(5)] as string;
    if (pick(3) === 0) return `[${Array.from({ length: pick(4) }, () => write(levels - 1, names)).join(', ')}]`;
    const own = names.slice(0, pick(names.length + 1));
    return `{${own.map((name) => `${JSON.stringify(name)} :${write(levels - 1, names)}`).join(' ,')}}`;
  };
  for (let round = 0; round < 300; round += 1) {
    const plain = write(5, ['a', 'b"', 'ü', 'type']);
    t.equal(repeated(plain), undefined, plain);
    const doubled = `{"x":${plain},"y":{"n":1,"m":${write(3, ['n'])},"n":${write(3, ['n'])}}}`;
    t.equal(repeated(doubled), 'n', doubled);
  }
});

t.test('the outline of a parsed text finds the same members, and counts all of them', async (t) => {
  const names = ['model', 'stream', 'a"b'];
  for (const text of [
    '{}',
    ' { } ',
    '{"model":"m"}',
    '\n{ "model" : "m" , "x":[1,{"model":"no","y":[","]}], "str\\u0065am"\t:\ttrue }\n',
    '{"model":1,"a\\"b":{"stream":2},"model":[3,4] ,"é":"}"}',
    '{"x":"model","model":"x, \\"model\\": 1"}',
  ]) {
    const bytes = Buffer.from(text);
    for (const sliceBytes of [1, 7, 1000]) {
      const outline = { commas: [], members: 0, values: 0 };
      const value = await parseInSlices(bytes, { values: 1000, sliceBytes, outline, turn: async () => undefined });
      t.same(membersBetween(bytes, names, outline.commas), membersOf(bytes, names), text);
      t.equal(repeatedMember(bytes, value, outline), repeatedMember(bytes, value), text);
    }
  }
});
