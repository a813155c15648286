import { PassThrough } from 'node:stream';
import t from 'tap';
import {
  columns,
  folded,
  foldedInside,
  harmless,
  isColored,
  oneLine,
  type SanitizeState,
  sanitize,
  styleFor,
  toJson,
  write,
  writeLines,
} from '../../../cli/terminal/output.ts';

const clean = (text: string): string => sanitize(text).text;

t.test('plain text, newlines, tabs and every script pass unchanged', async (t) => {
  const text = 'Grüße,\n\t日本語 👩‍👩‍👧 عربي ✓';
  t.equal(clean(text), text);
});

t.test('escape sequences of every kind are taken out whole', async (t) => {
  for (const sequence of [
    '\x1b[31m',
    '\x1b[2J',
    '\x1b[?1049h',
    '\x1b]0;title\x07',
    '\x1b]8;;http://evil\x1b\\',
    '\x1bP1$r\x1b\\',
    '\x1b_x\x9c',
    '\x1bc',
    '\x1b(B',
    '\x9b31m',
    '\x9dtitle\x07',
  ])
    t.equal(clean(`a${sequence}b`), 'ab', JSON.stringify(sequence));
});

t.test('control characters and bidi overrides are taken out', async (t) => {
  t.equal(clean('a\x00\x07\x08\r\x0b\x7f\x85\u202eb\u2066c\u2069'), 'abc');
  t.equal(clean('a\u2028b\u2029c'), 'a\nb\nc', 'what ends a line in some programs does so here');
  t.equal(oneLine('a\u2028\x85b\u2029'), 'a b');
});

t.test('an unfinished sequence hides no more than its line', async (t) => {
  t.equal(clean('a\x1b]0;never ended\nb'), 'a\nb');
  t.equal(clean('a\x1b[31\nb'), 'a\nb');
  t.equal(clean('a\x1b[3é'), 'aé');
  t.equal(clean('\x1b]x\x1b[1mb'), 'b');
});

t.test('wherever a text is split, the result is the same', async (t) => {
  const text = 'a\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x07 \x9b1m\x1b\x1b[Kend\u202e!';
  const whole = clean(text);
  t.equal(whole, 'ared link end!');
  for (let cut = 0; cut <= text.length; cut += 1) {
    const first = sanitize(text.slice(0, cut));
    t.equal(first.text + sanitize(text.slice(cut), first.state).text, whole, `cut at ${cut}`);
  }
  let state: SanitizeState = 'text';
  let joined = '';
  for (const char of text) {
    const step = sanitize(char, state);
    joined += step.text;
    state = step.state;
  }
  t.equal(joined, whole);
});

t.test('JSON output parses to the same value and holds nothing raw', async (t) => {
  const value = { text: 'a\x1b[31m\x9b\x7f\u202e é 👋' };
  const json = toJson(value);
  t.same(JSON.parse(json), value);
  t.notOk(['\x1b', '\x9b', '\x7f', '\u202e'].some((char) => json.includes(char)));
});

t.test('a message becomes one harmless line, and columns are aligned', async (t) => {
  t.equal(oneLine('one\r\n  two\x1b[1m\n'), 'one two');
  t.same(
    columns([
      ['a', 'b'],
      ['long\nname', ''],
    ]),
    ['a          b', 'long name'],
  );
});

t.test('colours are for terminals, and not under NO_COLOR', async (t) => {
  t.equal(isColored({ isTTY: true }, {}), true);
  t.equal(isColored({ isTTY: true }, { NO_COLOR: '1' }), false);
  t.equal(isColored({ isTTY: true }, { TERM: 'dumb' }), false);
  t.equal(isColored({}, {}), false);
  t.equal(styleFor(false).bad('x'), 'x');
  t.equal(styleFor(true).bold('x'), '\x1b[1mx\x1b[0m');
});

t.test('writing waits for a slow reader', async (t) => {
  const stream = new PassThrough({ highWaterMark: 2 });
  let done = false;
  const writing = write(stream, 'longer').then(() => {
    done = true;
  });
  await new Promise(setImmediate);
  t.equal(done, false);
  stream.resume();
  await writing;
});

t.test('writing to a reader that is gone neither waits nor fails', async (t) => {
  const stream = new PassThrough({ highWaterMark: 2 });
  stream.on('error', () => undefined);
  const writing = write(stream, 'longer');
  stream.destroy(new Error('EPIPE'));
  await writing;
  await write(stream, 'more');
  t.ok(stream.destroyed);
  t.equal(stream.listenerCount('drain'), 0);
});

t.test('the last door lets nothing through but text, colours and the ends of lines', async (t) => {
  t.equal(harmless('\x1b[1mbold\x1b[0m\ta\r\nb\n'), '\x1b[1mbold\x1b[0m\ta\r\nb\n');
  t.equal(harmless('\x1b[1;31mred\x1b[m'), '\x1b[1;31mred\x1b[m');
  t.equal(harmless('a\x1b[2Jb\x9b2Jc\x1b]0;t\x07d\re\u202ef\u2028g\x85h\x00'), 'a[2Jb2Jc]0;tdefgh');
  const stream = new PassThrough();
  await writeLines(stream, ['a\x9b', 'b']);
  t.equal(String(stream.read()), 'a\nb\n');
});

t.test('a sentence is folded between words; commands, what has a form of its own and narrow terminals are left alone', async (t) => {
  const text = 'The key is refused. Store another with `blockhouse auth set openai --workspace /srv/blocks`, and try again.';
  t.same(folded(text, Number.POSITIVE_INFINITY), [text]);
  t.same(folded(text, text.length), [text]);
  t.same(foldedInside(`  ${'word '.repeat(9).trim()}`, 41), ['  word word word word word word word word', '  word']);
  t.same(folded(text, 40, 4), ['The key is refused. Store another with', '    `blockhouse auth set openai --workspace /srv/blocks`,', '    and try again.']);
  t.same(folded('one `unclosed two three four five', 20), ['one `unclosed two', 'three four five']);
  for (const kept of [`  ${text}`, `${text}\n${text}`]) t.same(folded(kept, 40), [kept]);
  t.same(folded(text, 12), [text]);
  t.same(folded('', 40), ['']);
});
