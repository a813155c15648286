import t from 'tap';
import { toJsonText } from '../../../core/base/json-text.ts';

const PROSE = 'Say in one sentence what a gateway is good for, and in another one what it costs. ';
const long = (piece: string): string => piece.repeat(Math.ceil(5000 / piece.length));

const TEXTS: Readonly<Record<string, string>> = {
  'plain prose': long(PROSE),
  'prose in lines': long(`${PROSE}${PROSE}\r\n`),
  'quotes, tabs and backslashes': long(`${PROSE}"so" \\ and\t${PROSE}${PROSE}`),
  'source code': long('if (a) {\n\treturn "b\\n";\n}\n'),
  'a late control character': `${long(PROSE)}\u0000\u001f\u007f`,
  umlauts: long('Größe und Übermaß. '),
  'another script': long('一段中文文本。'),
  emoji: long('so 😀 it goes '),
  'a lone surrogate': `${long(PROSE)}\ud83d`,
  'line separators': `${long(PROSE)}\u2028\u2029`,
};

for (const [what, text] of Object.entries(TEXTS)) {
  t.test(`${what}: the text is that of JSON.stringify`, async (t) => {
    const value = {
      model: 'm',
      messages: [{ role: 'user', content: text }, undefined, null, { role: 'user', content: [{ text, type: 'text', none: undefined }, 1.5, true] }],
      'a "key"': text,
      tools: [{ deep: { deeper: { deepest: { text } } } }],
      none: undefined,
    };
    t.equal(toJsonText(value), JSON.stringify(value));
    t.equal(toJsonText(text), JSON.stringify(text));
    t.equal(toJsonText([text, text.slice(0, 10)]), JSON.stringify([text, text.slice(0, 10)]));
  });
}

t.test('any mix of characters, in texts of any length around the limits', async (t) => {
  const alphabet = ['a', ' ', 'word ', '"', '\\', '\n', '\t', '\r', '\b', '\u0001', 'é', '你', '😀', '\ud800', '\udc00', '\u2028'];
  let seed = 7;
  const next = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % below;
  };
  for (let round = 0; round < 400; round += 1) {
    const used = 1 + next(alphabet.length);
    const length = 900 + next(1500);
    let text = '';
    while (text.length < length) text += next(12) === 0 ? (alphabet[next(used)] ?? '') : 'prose ';
    if (toJsonText({ text }) !== JSON.stringify({ text })) t.fail(`round ${round}: ${JSON.stringify(text).slice(0, 300)}`);
  }
  t.pass('400 texts');
});

t.test('what has no long text is written as JSON.stringify writes it', async (t) => {
  for (const value of [null, 1, 'a', [], {}, { a: [1, { b: 'c' }] }, [undefined, null]]) t.equal(toJsonText(value), JSON.stringify(value));
});
