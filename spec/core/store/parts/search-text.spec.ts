import t from 'tap';
import { excerptOf, folded, wordsOf } from '../../../../core/store/parts/search-text.ts';

t.test('case, accents, width, blanks and signs that nobody sees make no difference', async (t) => {
  for (const [text, same] of [
    ['Straße  ÉTÉ', 'straße ete'],
    ['ＡＢＣ　１', 'abc 1'],
    ['e\u0301t\u00ad\u200be', 'ete'],
    ['a\tb\n\nc\0', 'a b c '],
    ['ΣΟΦΟΣ', 'σοφοσ'],
    ['İstanbul', 'istanbul'],
    ['\ud800x', ' x'],
    ['日本語', '日本語'],
  ] as const)
    t.equal(folded(text), same, JSON.stringify(text));
});

t.test('a query has words, and texts between quotation marks', async (t) => {
  t.same(wordsOf(' one  "two three" four'), ['one', 'two three', 'four']);
  t.same(wordsOf('"never closed'), ['"never', 'closed']);
  for (const query of ['', ' ', '""', '\u0301', '\u200b'])
    t.throws(() => wordsOf(query), { code: 'INVALID_REQUEST', details: [{ path: 'q' }] }, JSON.stringify(query));
  t.throws(() => wordsOf('a b c d e f g h i'), { code: 'INVALID_REQUEST' });
  t.throws(() => wordsOf('x'.repeat(257)), { code: 'INVALID_REQUEST' });
});

t.test('an excerpt has the first word and marks for all that stand in it', async (t) => {
  const marked = (text: string, ...words: string[]): string => {
    const { excerpt, marks } = excerptOf(text, words.map(folded));
    let [shown, at] = ['', 0];
    for (const [from, to] of marks) {
      shown += `${excerpt.slice(at, from)}[${excerpt.slice(from, to)}]`;
      at = to;
    }
    return shown + excerpt.slice(at);
  };
  t.equal(marked('The naïve Needle', 'naive', 'needle'), 'The [naïve] [Needle]');
  t.equal(marked('e\u0301te\u0301 and été', 'ete'), '[e\u0301te\u0301] and [été]', 'also where a letter has two characters');
  t.equal(marked('abcabc', 'abca', 'bc'), '[abcabc]', 'words that overlap are one mark');
  t.match(marked(`${'x '.repeat(500)}here${' y'.repeat(500)}`, 'here'), /^….{60}\[here\].{176}…$/s);
  t.match(marked(`${'😀'.repeat(100)}here${'😀'.repeat(300)}`, 'here'), /^…(?:😀)+\[here\](?:😀)+…$/u, 'no character is cut in two');
  t.equal(marked('no such word', 'other'), 'no such word');
});
