import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { editMembers } from '../../../core/base/json-edit.ts';

const edit = (text: string, edits: Parameters<typeof editMembers>[1]) => editMembers(Buffer.from(text), edits).toString();

t.test('what is not edited stays byte for byte, in its order', async (t) => {
  const text = '{ "a" : 1,\n\t"b":{"a":2, "c":"\\u00e9"},  "c":[ ] }';
  for (const [edits, wanted] of [
    [{}, text],
    [{ drop: ['x'] }, text],
    [{ drop: ['a'] }, '{ \n\t"b":{"a":2, "c":"\\u00e9"},  "c":[ ] }'],
    [{ drop: ['b'] }, '{ "a" : 1,\n\t  "c":[ ] }'],
    [{ drop: ['c'] }, '{ "a" : 1,\n\t"b":{"a":2, "c":"\\u00e9"} }'],
    [{ drop: ['b', 'c'] }, '{ "a" : 1 }'],
    [{ rename: { a: 'z' } }, text.replace('"a" :', '"z" :')],
    [{ set: { c: '5', d: 'true' } }, `{"d":true,${text.slice(1).replace('[ ]', '5')}`],
    [{ set: { d: '1' }, drop: ['a', 'b', 'c'] }, /^\{"d":1\s*\}$/],
  ] as const)
    t.match(edit(text, edits), wanted, JSON.stringify(edits));
  const bytes = Buffer.from(text);
  t.equal(editMembers(bytes, { drop: ['x'], rename: { y: 'z' } }), bytes, 'and nothing is copied without an edit');
});

t.test('with its commas, the values of a large text are not looked at', async (t) => {
  const text = '{"a":[[["unread],"b":1,"c":2}';
  const commas = [text.indexOf(',"b"'), text.indexOf(',"c"')];
  const edited = editMembers(Buffer.from(text), { set: { d: '3' }, drop: ['b'], rename: { c: 'e' } }, commas);
  t.equal(edited.toString(), '{"d":3,"a":[[["unread],"e":2}');
});

t.test('every edit of any object is what the same edit of its value is', async (t) => {
  const names = ['a', 'b', 'c', 'd'];
  const texts = ['{}', '{"a":1}', '{"\\u0061":1,"b":2}', '{"a":"x,}\\"","b":[1,{"a":2}],"c":null}', '{\n"d":0 ,\n"c":{} ,\n"a":"" }', '{"a":1,"a":2,"b":3}'];
  const wrong: string[] = [];
  for (const text of texts) {
    for (let choice = 0; choice < 4 ** names.length; choice += 1) {
      const kinds = names.map((_, index) => Math.floor(choice / 4 ** index) % 4);
      const of = (kind: number) => names.filter((_, index) => kinds[index] === kind);
      const edits = {
        drop: of(1),
        set: Object.fromEntries(of(2).map((name) => [name, '"new"'])),
        rename: Object.fromEntries(of(3).map((name) => [name, `${name}2`])),
      };
      const wanted: Record<string, unknown> = { ...(JSON.parse(text) as object) };
      for (const name of edits.drop) delete wanted[name];
      for (const name in edits.set) wanted[name] = 'new';
      for (const name in edits.rename) {
        if (wanted[name] === undefined) continue;
        wanted[`${name}2`] = wanted[name];
        delete wanted[name];
      }
      const got = edit(text, edits);
      if (!isDeepStrictEqual(JSON.parse(got), wanted)) wrong.push(`${text} ${JSON.stringify(edits)} ${got}`);
    }
  }
  t.same(wrong, []);
});
