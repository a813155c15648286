import t from 'tap';
import { membersBetween, membersOf } from '../../../../../core/base/json-members.ts';
import { parseInSlices } from '../../../../../core/base/json-slices.ts';
import { withMembers } from '../../../../../transports/http/dialects/shared/json-edit.ts';

const edit = (text: string, members: Record<string, string>): string => withMembers(Buffer.from(text), members).body.toString();

t.test('only the bytes of the named values change', async (t) => {
  const text = '{ "n":1.0,"e":1e3,"s":"a\\/b \\"model\\":1","model" : "x/y" ,\n"model2":[{"model":"keep","deep":{"model":[1]}}],"b":true,"z":null}';
  t.equal(edit(text, { model: '"y"' }), text.replace('"x/y"', '"y"'));
});

t.test('all of several members with one name change', async (t) => {
  t.equal(edit('{"model":"a","x":1,"mod\\u0065l":"b","model":{"q":"}"}}', { model: '"c"' }), '{"model":"c","x":1,"mod\\u0065l":"c","model":"c"}');
});

t.test('a missing member is put first', async (t) => {
  t.equal(edit('{"a":1}', { o: '{"u":true}' }), '{"o":{"u":true},"a":1}');
  t.equal(edit(' { }', { o: '1', p: '2' }), ' {"o":1,"p":2 }');
});

t.test('quotes, backslashes and other scripts in texts do not end them', async (t) => {
  for (const value of ['\\', '\\\\"', '"', '{"model":"no"}', '日本語 \u2028', 'a\\']) {
    const text = `{"before":${JSON.stringify(value)},"model":"m","after":[${JSON.stringify(value)},{"model":${JSON.stringify(value)}}]}`;
    t.equal(edit(text, { model: '"n"' }), text.replace('"model":"m"', '"model":"n"'), value);
  }
});

t.test('a member named like a property of objects is no member', async (t) => {
  t.equal(edit('{"toString":1,"__proto__":2}', { model: '"m"' }), '{"model":"m","toString":1,"__proto__":2}');
});

t.test('the result parses to the same object with the new value, whatever the object', async (t) => {
  let seed = 7;
  const random = (most: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % most;
  };
  const make = (depth: number): unknown => {
    switch (random(depth > 3 ? 4 : 6)) {
      case 0:
        return random(1000) / 7;
      case 1:
        return ['"', '\\', '}', ']', 'é', 'model', '\n'].slice(random(7)).join('');
      case 2:
        return null;
      case 3:
        return random(2) === 1;
      case 4:
        return Array.from({ length: random(4) }, () => make(depth + 1));
      default:
        return Object.fromEntries(Array.from({ length: random(4) }, (_, n) => [['model', 'a"b', 'c'][random(3)] ?? n, make(depth + 1)]));
    }
  };
  for (let round = 0; round < 500; round += 1) {
    const value = { first: make(0), model: make(0), last: make(0) };
    const text = JSON.stringify(value, null, random(2) * 2);
    t.same(JSON.parse(edit(text, { model: '"new"' })), { ...value, model: 'new' });
    const outline = { commas: [], members: 0, values: 0 };
    await parseInSlices(Buffer.from(text), { values: 10_000, outline });
    const { body, commas = [] } = withMembers(Buffer.from(text), { model: '"né,w"', added: '{"a":[1,2]}', other: '"é"' }, outline);
    const names = ['first', 'model', 'last', 'added', 'other'];
    t.same(membersBetween(body, names, commas), membersOf(body, names), 'and its commas are known');
  }
});
