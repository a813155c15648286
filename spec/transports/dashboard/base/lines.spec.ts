import t from 'tap';
import { compareLines } from '../../../../transports/dashboard/base/lines.ts';

const shown = (before: string, after: string) => compareLines(before, after).map(({ kind, text }) => `${kind[0]} ${text}`);

t.test('lines in common stay, others are added or removed', async (t) => {
  t.same(shown('a\nb\nc', 'a\nx\nc'), ['s a', 'a x', 'r b', 's c']);
  t.same(shown('', 'a'), ['a a']);
  t.same(shown('a', ''), ['r a']);
  t.same(shown('a\nb', 'a\nb'), ['s a', 's b']);
});

t.test('both texts can be read out of the comparison, however they differ', async (t) => {
  for (let turn = 0; turn < 50; turn += 1) {
    const text = (seed: number) => Array.from({ length: (seed * 7) % 12 }, (_, index) => String((index * seed + turn) % 5)).join('\n');
    const [before, after] = [text(turn), text(turn + 3)];
    const lines = compareLines(before, after);
    t.equal(lines.flatMap(({ kind, text: line }) => (kind === 'added' ? [] : [line])).join('\n'), before);
    t.equal(lines.flatMap(({ kind, text: line }) => (kind === 'removed' ? [] : [line])).join('\n'), after);
  }
});

t.test('very long texts are compared as a whole', async (t) => {
  const long = Array.from({ length: 3000 }, (_, index) => String(index)).join('\n');
  t.equal(compareLines(long, 'x').length, 3001);
});
