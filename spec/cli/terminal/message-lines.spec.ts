import t from 'tap';
import { MessageLines } from '../../../cli/terminal/message-lines.ts';

/** The messages that typed lines make. */
function typed(...lines: string[]): string[] {
  const reader = new MessageLines();
  return lines.flatMap((line) => reader.enter(line) ?? []);
}

t.test('a line is a message, and a backslash at its end continues it', async (t) => {
  t.same(typed('one', ' two ', ''), ['one', ' two ', '']);
  t.same(typed('a \\', 'b\\', '', 'c'), ['a \nb\n', 'c']);
});

t.test('quotes open and close a message of several lines', async (t) => {
  t.same(typed('"""', 'a', '', '  b \\', '"""', 'c'), ['a\n\n  b \\', 'c']);
  t.same(typed('"""a', 'b"""', '"""in one line"""'), ['a\nb', 'in one line']);
  t.same(typed(' """', '', '"""'), ['']);
  t.same(typed('say """', 'x'), ['say """', 'x'], 'only at the beginning');
});

t.test('pasted lines are one message with the line that is typed after them, whatever they say', async (t) => {
  const reader = new MessageLines();
  for (const line of ['def f():', '"""', 'x\\', '/bye']) reader.paste(line);
  t.ok(reader.isOpen);
  t.equal(reader.enter('end'), 'def f():\n"""\nx\\\n/bye\nend');
  t.notOk(reader.isOpen);
  reader.enter('"""');
  reader.paste('a"""');
  t.equal(reader.enter('b"""'), 'a"""\nb');
});

t.test('what has begun can be forgotten', async (t) => {
  const reader = new MessageLines();
  reader.enter('"""');
  reader.enter('a');
  reader.clear();
  t.notOk(reader.isOpen);
  t.equal(reader.enter('b'), 'b');
});
