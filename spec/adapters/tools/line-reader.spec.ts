// Lines of a server, whole and too long.
import t from 'tap';
import { LineReader } from '../../../adapters/tools/line-reader.ts';

function reader(most: number) {
  const lines: string[] = [];
  const skipped: (readonly string[])[] = [];
  const counts = { blank: 0, bytes: 0 };
  const own = new LineReader(most, {
    line: (bytes) => lines.push(bytes.toString()),
    tooLong: (ids) => skipped.push(ids),
    blank: () => (counts.blank += 1),
    skips: (bytes) => (counts.bytes += bytes),
  });
  return { lines, skipped, counts, read: (text: string) => own.read(Buffer.from(text)) };
}

t.test('lines are whole, in whatever pieces they come', async (t) => {
  const { lines, read } = reader(100);
  for (const piece of ['on', 'e\ntwo\n\nth', 'r', 'ee', '\n', 'rest']) read(piece);
  t.strictSame(lines, ['one', 'two', 'three']);
});

t.test('of a line that is too long, the ids at both ends are told, and the next line is whole', async (t) => {
  const { lines, skipped, read } = reader(1000);
  read(`{"jsonrpc":"2.0","id":12,"result":"${'x'.repeat(2000)}"}\nnext\n`);
  for (const piece of ['{"result":"', ...Array.from({ length: 30 }, () => 'y'.repeat(100)), '","id": "a\\"b"', '}\n']) read(piece);
  read(`${'z'.repeat(700)}"id":5${'z'.repeat(700)}\n`);
  read(`${'k'.repeat(1000)}\n`);
  t.strictSame(skipped, [['12'], ['"a\\"b"'], []]);
  t.strictSame(
    lines.map((line) => line.slice(0, 4)),
    ['next', 'kkkk'],
  );
});

t.test('all-counted: the listener hears of blank lines, and of the bytes of a line that is skipped, also while it does not end', async (t) => {
  const { lines, skipped, counts, read } = reader(100);
  read('\none\n\n\n');
  t.same([lines, counts], [['one'], { blank: 3, bytes: 0 }]);
  for (let piece = 0; piece < 10; piece += 1) read('x'.repeat(100));
  t.same([skipped, counts], [[], { blank: 3, bytes: 800 }], 'two pieces were held before');
  read('\n');
  t.same([skipped, counts.blank], [[[]], 3]);
});
