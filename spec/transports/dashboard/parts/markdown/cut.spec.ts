import t from 'tap';
import { beginningOf, linesOf, MAX_CHARACTERS, steadyPieces } from '../../../../../transports/dashboard/parts/markdown/cut.ts';

t.test('a long text is cut at the end of a line, and never within a character', async (t) => {
  t.equal(beginningOf('short'), 'short');
  t.equal(beginningOf('aaaa\nbbbb\ncccc', 11), 'aaaa\nbbbb\n');
  t.equal(beginningOf(`${'x'.repeat(9)}😀x`, 10), 'x'.repeat(9));
  t.ok(beginningOf('y'.repeat(2_000_000)).length <= MAX_CHARACTERS);
});

t.test('long code is cut after its first lines', async (t) => {
  t.equal(linesOf('a\nb\nc', 2), 'a\nb');
  t.equal(linesOf('a\nb', 2), 'a\nb');
  t.equal(linesOf('x\n'.repeat(20_000)).split('\n').length, 400);
});

t.test('the pieces of a text that grows are the text, and all but the last stay', async (t) => {
  const text = 'Words of several lengths, with 😀 and\nlines, '.repeat(60) + 'x'.repeat(500);
  let before: readonly string[] = [];
  for (let end = 0; end <= text.length; end += 7) {
    const pieces = steadyPieces(text.slice(0, end));
    if (pieces.join('') !== text.slice(0, end)) t.fail(`pieces at ${end}`);
    const settled = before.slice(0, -1);
    if (JSON.stringify(pieces.slice(0, settled.length)) !== JSON.stringify(settled)) t.fail(`a settled piece changed at ${end}`);
    before = pieces;
  }
  t.ok(before.length > 20);
});
