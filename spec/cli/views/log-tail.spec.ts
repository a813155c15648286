import t from 'tap';
import { atLeast, isLevel, LogTail, levelOf } from '../../../cli/views/log-tail.ts';

const file = (name: string, content: string, size = Buffer.byteLength(content)) => ({
  file: name,
  content,
  size,
  modifiedAt: '2026-11-20T14:00:00.000Z',
  truncated: size > Buffer.byteLength(content),
});

t.test('lines come oldest first, and each one once', async (t) => {
  const tail = new LogTail();
  t.same(tail.take([file('b', 'three\n'), file('a', 'one\ntwo\n')]), ['one', 'two', 'three']);
  t.same(tail.take([file('b', 'three\nfour\n'), file('a', 'one\ntwo\n')]), ['four']);
  t.same(tail.take([file('c', 'five\n'), file('b', 'three\nfour\n')]), ['five']);
});

t.test('a line is taken when it is complete', async (t) => {
  const tail = new LogTail();
  t.same(tail.take([file('a', 'one\ntw')]), ['one']);
  t.same(tail.take([file('a', 'one\ntwö\n')]), ['twö']);
});

t.test('only the end of a large file is there, and what was seen of it is not taken again', async (t) => {
  const tail = new LogTail();
  t.same(tail.take([file('a', 'x1\nx2\n', 100)]), ['x1', 'x2']);
  t.same(tail.take([file('a', 'x2\nx3\n', 103)]), ['x3']);
  t.same(tail.take([file('a', 'y8\ny9\n', 900)]), ['y8', 'y9']);
});

t.test('a level takes those above it, and the lines that belong to a line', async (t) => {
  const lines = [
    '2026-11-20T14:00:00.000Z INFO a',
    '2026-11-20T14:00:01.000Z ERROR b',
    '  at somewhere',
    '2026-11-20T14:00:02.000Z WARN c',
    '2026-11-20T14:00:03.000Z DEBUG d',
  ];
  t.same(atLeast(lines, 'warn'), lines.slice(1, 4));
  t.same(atLeast(lines, 'error'), lines.slice(1, 3));
  t.equal(levelOf('  at somewhere'), undefined);
  t.ok(isLevel('warn'));
  t.notOk(isLevel('loud'));
});
