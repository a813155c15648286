import t from 'tap';
import { visible, visibleLine } from '../../../cli/terminal/unseen.ts';

t.test('what a person does not see is an escape; other letters stay', async (t) => {
  t.equal(visible('pay\u200b\u202e €\u{e0041}\ufe0f'), 'pay\\u200b\\u202e €\\u{e0041}\\ufe0f');
  t.equal(visible('two\nlines'), 'two\nlines');
  t.notMatch(visibleLine('two\nlines'), /\n/);
});

t.test('so are fillers, joiners, code points that nobody has given a sign, and blanks that are no spaces', async (t) => {
  for (const code of [0x00a0, 0x034f, 0x115f, 0x1160, 0x17b4, 0x180f, 0x2000, 0x2028, 0x2065, 0x2800, 0x3000, 0x3164, 0xffa0, 0xfff0, 0xe000, 0xe0080, 0xe01f0])
    t.equal(visible(`a${String.fromCodePoint(code)}b`), `a\\u${code > 0xffff ? `{${code.toString(16)}}` : code.toString(16).padStart(4, '0')}b`);
  for (const text of ['e\u0301', 'שלום', '日本語', '“quotes” – dash']) t.equal(visible(text), text);
});
