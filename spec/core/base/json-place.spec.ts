import t from 'tap';
import { faultIn, faultPlace, placeIn } from '../../../core/base/json-place.ts';

t.test('a place is told as editors count it', (t) => {
  const text = 'ab\ncd\r\n\nf';
  t.equal(placeIn(text, 0), 'line 1, column 1');
  t.equal(placeIn(text, 2), 'line 1, column 3', 'the end of a line');
  t.equal(placeIn(text, 3), 'line 2, column 1');
  t.equal(placeIn(text, 8), 'line 4, column 1');
  t.equal(placeIn(text, text.length), 'line 4, column 2');
  t.end();
});

t.test('the first character that no JSON has there is the fault', (t) => {
  const places: readonly [text: string, place: string | undefined][] = [
    [' {"a": [1, -2.5e+3, "x\\u00e9\\n", {}, []], "b": null}\n', undefined],
    ['', 'line 1, column 1'],
    ['{\n  "a": 1,\n  "b": sk-canary\n}', 'line 3, column 8'],
    ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3'],
    ['{\n  "a": 1,\n}', 'line 3, column 1'],
    ['{"a": "x', 'line 1, column 9'],
    ['{"a": "x\n"}', 'line 1, column 9'],
    ['{"a": "\\x"}', 'line 1, column 9'],
    ['{"a": "\\u12g4"}', 'line 1, column 12'],
    ['{"a": tru }', 'line 1, column 10'],
    ['[1, 02]', 'line 1, column 6'],
    ['[1.]', 'line 1, column 4'],
    ['{a: 1}', 'line 1, column 2'],
    ["{'a': 1}", 'line 1, column 2'],
    ['[1]]', 'line 1, column 4'],
    ['{} // a comment', 'line 1, column 4'],
  ];
  for (const [text, place] of places) t.equal(faultPlace(text), place, text);
  t.end();
});

t.test('same-judge: text has a fault here if and only if JSON.parse refuses it', (t) => {
  const good = '{"a":[1,-0.5e-3,true,false,null,"x\\"\\\\\\u00E9"],"b":{"c":{}},"d":[]}';
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  let wrong = 0;
  for (let at = 0; at <= good.length; at += 1) {
    const changed = [...' {}[],:"\\-+.0e1tnfu\n\u0001é'].flatMap((char) => [
      good.slice(0, at) + char + good.slice(at + 1),
      good.slice(0, at) + char + good.slice(at),
    ]);
    for (const text of [good.slice(0, at), good.slice(0, at) + good.slice(at + 1), ...changed]) {
      const fault = faultIn(text);
      if ((fault === undefined) !== isJson(text)) t.fail(JSON.stringify(text));
      // No text that begins like this up to the fault, with the fault, is JSON; up to it, one may be.
      if (fault !== undefined) wrong += 1;
    }
  }
  t.ok(wrong > 1000);
  t.equal(faultIn(`${'['.repeat(100_000)}x`), 100_000, 'depth takes no stack');
  t.end();
});
