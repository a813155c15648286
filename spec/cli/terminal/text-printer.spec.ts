import { PassThrough } from 'node:stream';
import t from 'tap';
import { displayWidth } from '../../../cli/terminal/layout.ts';
import { TextPrinter } from '../../../cli/terminal/text-printer.ts';

t.test('a printed text ends with exactly one newline', async (t) => {
  for (const [pieces, expected] of [
    [['a', 'b'], 'ab\n'],
    [['a\n'], 'a\n'],
    [['a\n', '\x1b[0m'], 'a\n'],
    [[], ''],
  ] as const) {
    const stream = new PassThrough();
    const printer = new TextPrinter(stream);
    for (const piece of pieces) await printer.print(piece);
    await printer.end();
    t.equal(String(stream.read() ?? ''), expected);
  }
});

/** What a stream gets of a text that comes in these pieces. */
async function printed(pieces: Iterable<string>, terminal?: { readonly columns: number }): Promise<string> {
  const stream = Object.assign(new PassThrough(), terminal && { isTTY: true, ...terminal });
  const printer = new TextPrinter(stream);
  for (const piece of pieces) await printer.print(piece);
  await printer.end();
  return String(stream.read() ?? '');
}

const PROSE = 'A line of some words that is much longer than a narrow terminal\n\n- with `a bit of code` in it, and\n  an end.';

t.test('on a terminal, lines end between words, however the text comes; a file and a pipe get it unchanged', async (t) => {
  const folded = 'A line of some words that\nis much longer than a\nnarrow terminal\n\n- with `a bit of code` in\nit, and\n  an end.\n';
  t.equal(await printed([PROSE], { columns: 26 }), folded);
  t.equal(await printed(PROSE, { columns: 26 }), folded);
  t.equal(await printed([PROSE]), `${PROSE}\n`);
  t.equal(await printed([PROSE], { columns: 10 }), `${PROSE}\n`, 'so narrow that it helps nobody');
  t.equal(await printed(['see `git log --oneline -n 5` now'], { columns: 26 }), 'see\n`git log --oneline -n 5`\nnow\n');
});

t.test('a whole word shows at once, and one that is longer than a line does not wait for its end', async (t) => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 20 });
  const printer = new TextPrinter(stream);
  const shown = async (piece: string) => {
    await printer.print(piece);
    return String(stream.read() ?? '');
  };
  t.same([await shown('one tw'), await shown('o '), await shown('three')], ['one', ' two', '']);
  t.equal(await shown('x'.repeat(20)), `\nthree${'x'.repeat(20)}`);
  t.equal(await shown('yy'), 'yy');
  t.equal(await shown(' z ends'), ' z');
  await printer.end();
  t.equal(String(stream.read()), ' ends\n');
});

t.test('code, tables and their words keep their form', async (t) => {
  const long = 'const value = another(value, of, a, long, line);';
  for (const text of [
    `\`\`\`ts\n${long}\n  \`a b\` ${long}\n\`\`\`\n`,
    `  ~~~\n${long}\n\`\`\`\n${long}\n  ~~~\n`,
    `    ${long}\n`,
    `\t${long}\n`,
    '| a | table | that | is | wider | than | all |\n',
  ]) {
    t.equal(await printed(text, { columns: 24 }), text);
    t.equal(await printed([`${text}words after it are folded again`], { columns: 24 }), `${text}words after it are\nfolded again\n`);
  }
  t.equal(await printed(['    - a list in a list of words'], { columns: 24 }), '    - a list in a list\nof words\n');
});

t.test('wide characters count as wide, and a terminal ends lines between ideographs by itself', async (t) => {
  const ideographs = '漢字かな'.repeat(8);
  t.equal(await printed(ideographs, { columns: 21 }), `${ideographs}\n`);
  t.equal(await printed(['漢字漢字漢字漢字漢 word'], { columns: 21 }), '漢字漢字漢字漢字漢\nword\n');
  t.equal(await printed([`${'漢'.repeat(11)}${'字'.repeat(8)} word`], { columns: 21 }), `${'漢'.repeat(11)}${'字'.repeat(8)}\nword\n`);
  const emoji = await printed('👩‍👩‍👧 family 👩‍👩‍👧 family 👩‍👩‍👧', { columns: 21 });
  for (const line of emoji.split('\n')) t.ok(displayWidth(line) <= 21, line);
  t.equal(emoji, '👩‍👩‍👧 family 👩‍👩‍👧 family\n👩‍👩‍👧\n');
});
