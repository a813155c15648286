import t from 'tap';
import { withHiddenNamed } from '../../../../transports/dashboard/base/hidden.ts';

const named = (text: string): string => withHiddenNamed(text).join('|');

t.test('what draws nothing has a name', async (t) => {
  const rows: readonly (readonly [text: string, shown: string])[] = [
    ['pay\u200bbob', 'pay|U+200B|bob'],
    ['\u202egnp.exe', '|U+202E|gnp.exe'],
    ['a\u2066b\u2069', 'a|U+2066|b|U+2069|'],
    ['a\u00a0b', 'a|U+00A0|b'],
    ['a\u0000\u007f', 'a|U+0000||U+007F|'],
    ['a\r\n', 'a|U+000D|\n'],
    ['hi\u{e0041}\u{e0042}', 'hi|U+E0041||U+E0042|'],
    ['a\ufe00\ufe0f', 'a|U+FE00||U+FE0F|'],
    ['\u3164\u115f\u2800', '|U+3164||U+115F||U+2800|'],
    ['\u180f\u{e01f0}', '|U+180F||U+E01F0|'],
    ['\ud800', '|U+D800|'],
    ['\u2028', '|U+2028|'],
    ['\ufeff{}', '|U+FEFF|{}'],
  ];
  for (const [text, shown] of rows) t.equal(named(text), shown, shown);
});

t.test('what is to be seen stays as it is', async (t) => {
  for (const text of ['', 'two\nlines\tand a tab', 'שלום عالم', 'Ünïcödé – “quotes”', '❤️', '日本語', 'e\u0301'])
    t.strictSame(withHiddenNamed(text), [text], text);
});
