import t from 'tap';
import { readSkillText } from '../../../../adapters/tools/skills/front-matter.ts';

const read = (...lines: string[]) => readSkillText(lines.join('\n'), 'invoice');
const described = (...lines: string[]): string => read('---', 'name: invoice', ...lines, '---', 'Text.').description;
function fault(...lines: string[]): string {
  try {
    read(...lines);
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
}
const faultOf = (...lines: string[]): string => fault('---', 'name: invoice', ...lines, '---');

t.test('name and description are plain lines, and the text comes after them', async (t) => {
  t.strictSame(read('---', 'name: invoice', 'description: How we write: one line, with # and "quotes".', '---', '', 'First.', '---', 'Last.', ''), {
    name: 'invoice',
    description: 'How we write: one line, with # and "quotes".',
    body: 'First.\n---\nLast.',
  });
  t.match(readSkillText('\ufeff---\r\nname: invoice\r\ndescription: d\r\n---\r\na\r\nb', 'invoice'), { description: 'd', body: 'a\nb' });
});

t.test('what other programs write is read: more fields, quotes, and text of several lines', async (t) => {
  t.equal(described('description: >', '  Folded', '  text.', '', '  More.'), 'Folded text. More.');
  t.equal(described('description: |-', '    One.', '      Two.'), 'One. Two.');
  t.equal(described('description: Plain', '  over two lines'), 'Plain over two lines');
  t.equal(described('description:', '  below'), 'below');
  t.equal(described('description: "A \\"quoted\\" one\\n\\u00e9\\x21" # note'), 'A "quoted" one é!');
  t.equal(described(`description: 'It''s', # no`.replace(', # no', "' # note").replace("s''", "s'")), "It's");
  t.equal(described('"description": d'), 'd');
  const openclaw = ['description: d', 'homepage: https://x.example', 'metadata:', '  {', '    "openclaw": { "requires": { "bins": ["jq"] } }', '  }'];
  t.equal(described(...openclaw), 'd');
  t.equal(
    described('license: MIT', '# a note', 'allowed-tools:', '- Read', '- Bash(git:*)', 'metadata:', '  description: of others', 'description: mine'),
    'mine',
  );
});

t.test('what can not be read truthfully is refused with its line and what to write', async (t) => {
  t.match(fault('# Invoice'), /^SKILL\.md, line 1: there is no front matter; begin with a line ---, then `name: invoice`/);
  t.match(fault('---', 'name: invoice'), /line 1: the front matter has no end; put a line --- after it/);
  t.match(fault('---', 'description: d', '---'), /line 1: name is missing; add `name: invoice`/);
  t.match(faultOf(), /line 1: description is missing; add `description: what it is for/);
  t.match(faultOf('description:'), /line 3: description is empty/);
  t.match(faultOf('description: a', 'description: b'), /line 4: description stands there twice/);
  t.match(faultOf('description: a', 'no field'), /line 4: this is no `key: value`/);
  t.match(faultOf('description: a', '- b'), /line 4: this is no `key: value`/);
  t.match(faultOf(`description: ${'x'.repeat(1025)}`), /line 3: description has 1025 characters; shorten it to 1024/);
  t.match(fault('---', 'description: d', 'name: other', '---'), /line 3: name is other, and the folder is invoice; rename one of them/);
  t.match(fault('---', 'name: Invoice', 'description: d', '---'), /line 2: name must be 1 to 64 characters from a-z, 0-9 and -/);
  for (const begin of ['[a, b]', '{a: b}', '&x a', '*x', '!!str a', '%a', '@a', '`a`'])
    t.match(faultOf(`description: ${begin}`), /line 3: description begins with ., which is no text in YAML; put the text into quotes/, begin);
  t.match(faultOf('description:', '  - a'), /must be one text/);
  t.match(faultOf('description:', '  a: b'), /must be one text/);
  t.match(faultOf('description: "open'), /begins with " and does not end with it/);
  t.match(faultOf("description: 'it's'"), /begins with ' and does not end with it/);
  t.match(faultOf('description: "a\\q"'), /has \\q, which is no escape/);
  t.match(faultOf('description: "a\\', '  b"'), /has a line that ends with \\/);
  t.match(faultOf('description: "\\U00110000"'), /which is no escape/);
  t.match(faultOf('description: > text'), /begins with >, so the text must begin on the next line/);
  t.match(faultOf('description: >', '    a', '  b'), /indented less than its first one/);
  t.match(faultOf('description: >', '\ta'), /indented with a tab/);
  t.match(faultOf('description: "a\\e[2J"'), /has control characters/);
});

t.test('a description of 1,024 characters is read, whatever they are', async (t) => {
  t.equal([...described(`description: ${'\u{1f4a1}'.repeat(1024)}`)].length, 1024);
});

t.test('a front matter that is all one field takes no time', async (t) => {
  const lines = Array.from({ length: 30_000 }, () => ' a');
  t.match(faultOf('description: b', ...lines), /shorten it/);
  t.match(faultOf(`description: "${'\\\\'.repeat(30_000)}`), /does not end with it/);
});

t.test('a file takes no long time, whatever is repeated in it', async (t) => {
  const blanks = ' '.repeat(64_000);
  const begin = process.cpuUsage();
  for (const line of [`a${blanks}`, `"a"${blanks}`, `a:${blanks}b\u2028c`, `description: "x"${blanks}#\u2028`, `- ${blanks}`]) t.match(faultOf(line), /SKILL\.md/);
  t.ok(process.cpuUsage(begin).user < 2_000_000, 'processor time: some milliseconds, and seven seconds for each if blanks are looked at again and again');
});
