import { Command, Option } from 'clipanion';
import t from 'tap';
import { groupOverview, overview, ReadableCli, wrapped } from '../../../cli/main/usage.ts';

t.test('the overview has a line for each command, by category', async (t) => {
  const listed = [
    { paths: [['ask']], category: 'Some', description: 'Ask it' },
    { paths: [['tell', 'it'], ['say']], category: 'Some', description: 'Tell it' },
    { paths: [['both']], description: 'Points elsewhere' },
  ];
  const text = overview(listed, 'The label');
  t.match(text, /^The label\n\nUsage: blockhouse <command> \[options\]\n\nSome\n {2}ask .*Ask it\n {2}tell it +Tell it\n/);
  t.notMatch(text, 'Points elsewhere', 'what has no category is not in the overview');
});

t.test('the overview of a group has its commands alone, and says which of them the group is when it is alone', async (t) => {
  const listed = [
    { paths: [['ask', 'ls'], ['ask', 'list'], ['ask']], category: 'Some', description: 'List them' },
    { paths: [['ask', 'more']], category: 'Some', description: 'Ask for more' },
    { paths: [['asking', 'x']], category: 'Some', description: 'Another' },
    { paths: [['one']], category: 'Some', description: 'One' },
  ];
  t.equal(
    groupOverview(['ask'], listed),
    'Usage: blockhouse ask <command> [options]\n\n  ask ls             List them\n  ask more           Ask for more\n\n`blockhouse ask` alone is `blockhouse ask ls`.\nEvery command takes --workspace <folder>, --json and --help.\n',
  );
  t.match(groupOverview(['asking'], listed), /^Usage: blockhouse asking <command> \[options\]\n\n {2}asking x +Another\n\nEvery/);
  t.equal(groupOverview(['ask', 'more'], listed), undefined);
  t.equal(groupOverview(['one'], listed), undefined);
});

class Ask extends Command {
  static override readonly paths = [['ask']];
  static override readonly usage = Command.Usage({
    category: 'Some',
    description: 'Ask it',
    details: `
      A paragraph that goes on
      in a second line, with \`$0\`.

      Another one.
    `,
    examples: [['First', '$0 ask x']],
  });
  workspace = Option.String('--workspace', { description: 'Folder' });
  json = Option.Boolean('--json', false, { description: 'JSON' });
  quiet = Option.Boolean('-q,--quiet', false, { description: 'Names' });
  limit = Option.String('-n,--limit', { description: 'How many of all the things that there are, which may be a great many of them' });
  adapter = Option.String('-a,--adapter,--provider', { description: 'Which' });
  what = Option.String({ name: 'what' });
  async execute(): Promise<void> {}
}

const cli = new ReadableCli({ binaryName: 'blockhouse', binaryLabel: 'The label', enableColors: false });
cli.register(Ask);

t.test('the help of a command has its usage, options with the names of their values, details and examples', async (t) => {
  t.equal(
    cli.usage(Ask, { detailed: true }),
    `Ask it

Usage: blockhouse ask [options] <what>

Options:
  -q, --quiet                 Names
  -n, --limit <count>         How many of all the things that there are, which
                              may be a great many of them
  -a, --provider <id>         Which
      --workspace <folder>    Folder
      --json                  JSON
  -h, --help                  This text

A paragraph that goes on in a second line, with \`blockhouse\`.

Another one.

Examples:
  First
    $ blockhouse ask x
`,
  );
});

t.test('a terminal with colours gets headings in bold', async (t) => {
  t.match(cli.usage(Ask, { colored: true }), '\x1b[1mUsage:\x1b[0m blockhouse ask');
});

t.test('a text is wrapped between words', async (t) => {
  t.same(wrapped('one two three', 7), ['one two', 'three']);
  t.same(wrapped('incomprehensible', 7), ['incomprehensible']);
});

t.test('in a narrow terminal the texts are as wide as it is; a wide one changes nothing', async (t) => {
  const narrow = new ReadableCli({ binaryName: 'blockhouse', binaryLabel: 'The label', enableColors: false });
  narrow.register(Ask);
  narrow.columns = 50;
  const long = (text: string): readonly string[] => text.split('\n').filter((line) => line.length > 50);
  t.same(long(narrow.usage(Ask)), []);
  const listed = [{ paths: [['ask']], category: 'Some', description: 'Ask it, and say in some more words what comes of that' }];
  t.same(long(overview(listed, 'The label', 50)), ['Every command takes --workspace <folder>, --json and --help.']);
  t.match(overview(listed, 'The label', 50), /^ {2}ask {16}Ask it, and say in some more\n {21}words what comes of that$/m);
  t.equal(overview(listed, 'The label', 500), overview(listed, 'The label'));
});
