import t from 'tap';
import { excerptOf, folded, foldedInSteps, wordsOf } from '../../../../core/store/parts/search-text.ts';

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

t.test('accents are taken off before letters are taken apart, because to put thousands of them in order takes as long as their number squared', async (t) => {
  const { normalize } = String.prototype;
  t.teardown(() => (String.prototype.normalize = normalize));
  const given: string[] = [];
  String.prototype.normalize = function (this: string, form?: string) {
    given.push(String(this));
    return normalize.call(this, form);
  };
  const marks = '\u0315'.repeat(2000) + '\u0316'.repeat(2000);
  t.equal(folded(`é${marks}x`), 'ex');
  excerptOf(`é${marks}x`, ['ex']);
  t.ok(given.length > 1);
  t.notOk(given.some((text) => /\p{M}{2}/u.test(text)));
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

t.test('an excerpt looks at few characters one by one, however long the text is', async (t) => {
  const { toLowerCase } = String.prototype;
  t.teardown(() => (String.prototype.toLowerCase = toLowerCase));
  let looks = 0;
  String.prototype.toLowerCase = function (this: string) {
    looks += 1;
    return toLowerCase.call(this);
  };
  for (const [text, word] of [
    [`${'x '.repeat(50_000)}here${' y'.repeat(50_000)}`, 'here'],
    ['é'.repeat(100_000), 'e'],
    ['😀'.repeat(50_000), 'none'],
  ] as const)
    excerptOf(text, [word]);
  t.ok(looks < 30_000, `${looks}`);
});

t.test('what stands at the edge of a piece of a long text is found', async (t) => {
  for (let before = 4000; before < 4200; before += 7) {
    const { excerpt, marks } = excerptOf(`${'x'.repeat(before)}needle in 😀${'y'.repeat(9000)}`, ['needle in 😀']);
    t.match(excerpt, /^…x{60}needle in 😀y{168}…$/u);
    t.same(marks, [[61, 73]]);
  }
});

t.test('a long text is folded in steps, to what it is as a whole', async (t) => {
  const edge = 'x'.repeat(4095);
  for (const text of [
    '',
    'Ada',
    `${edge}😀 B`,
    `${edge}  B`,
    `${edge} \u0301  \u00c9`,
    `${' '.repeat(9000)}\u00e9`,
    `${edge}e\u0301`,
    '\ufdfa'.repeat(9000),
    `${edge}\ud800`,
    'É '.repeat(9000),
  ]) {
    const pieces: string[] = [];
    for await (const piece of foldedInSteps(text)) pieces.push(piece);
    t.equal(pieces.join(''), folded(text), `${text.length} characters`);
    t.ok(pieces.every(({ length }) => length <= 18 * 4097));
  }
});

t.test('others are served while a text is folded that becomes eighteen times as long', async (t) => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  let length = 0;
  for await (const piece of foldedInSteps('\ufdfa'.repeat(100_000))) length += piece.length;
  isOver = true;
  t.equal(length, 1_800_000);
  t.ok(turns >= 5, `${turns} turns`);
});

t.test('an excerpt of a very long text is not looked for beyond two million letters', (t) => {
  const { excerpt, marks } = excerptOf(`${'\ufdfa'.repeat(200_000)} Ada`, ['ada']);
  t.same([excerpt.length, marks], [241, []]);
  t.end();
});
