import t from 'tap';
import { membersOf } from '../../core/json-members.ts';
import { Random } from '../support/crash/random.ts';

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
