import { Command, Option } from 'clipanion';
import t from 'tap';
import { isNumber } from 'typanion';
import { overview, ReadableCli, usageLines } from '../../cli/usage.ts';

class Ask extends Command {
  static override readonly paths = [['ask']];
  static override readonly usage = Command.Usage({ category: 'Some', description: 'Ask it' });
  who = Option.String('--who', { required: true });
  warmth = Option.String('--warmth', { validator: isNumber() });
  what = Option.String({ name: 'what' });
  async execute(): Promise<void> {}
}

class Tell extends Command {
  static override readonly paths = [['tell']];
  static override readonly usage = Command.Usage({ category: 'Some', description: 'Tell it' });
  async execute(): Promise<void> {}
}

class Hide extends Tell {
  static override readonly paths = [['hide'], ['hide', 'more'], ['hide', 'most'], ['hush']];
}

const cli = new ReadableCli({ binaryName: 'blockhouse', binaryLabel: 'The label', enableColors: false });
for (const command of [Ask, Tell, Hide]) cli.register(command);

function refusal(...argv: string[]): string[] {
  try {
    cli.process(argv, ReadableCli.defaultContext);
  } catch (error) {
    return usageLines(error, argv);
  }
  throw new Error('it was not refused');
}

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

t.test('the usage of a command names its values', async (t) => {
  t.match(cli.usage(Ask, { detailed: true }), /--who <value>/);
  t.notMatch(cli.usage(Ask, { detailed: true }), '#0');
});

class Both extends Command {
  static override readonly paths = [['both']];
  static override readonly usage = Command.Usage({ description: 'Points elsewhere' });
  workspace = Option.String('--workspace', { description: 'Folder' });
  json = Option.Boolean('--json', false, { description: 'JSON' });
  quiet = Option.Boolean('-q,--quiet', false, { description: 'Names' });
  lines = Option.String('-n,--lines', { description: 'How many' });
  async execute(): Promise<void> {}
}

t.test('options that every command takes come last, and short forms are aligned', async (t) => {
  cli.register(Both);
  const text = cli.usage(Both, { detailed: true });
  t.match(text, / {2}-q,--quiet {14,}Names\n {2}-n,--lines <value> +How many\n {2}--workspace <value> .*\n {2}--json /);
});

t.test('each mistake is named in one line, with a hint', async (t) => {
  t.match(refusal('ask', '--who', 'me')[0], 'blockhouse: An argument is missing.');
  t.match(refusal('ask', 'x', '--who')[0], 'blockhouse: --who lacks its value.');
  t.match(refusal('ask', '--nope', 'x', '--who', 'me')[0], 'blockhouse: There is no option --nope.');
  t.match(refusal('ask', 'x', 'y', '--who', 'me')[0], 'blockhouse: There is one argument too many.');
  t.same(refusal('ask', 'x', '--who', 'me', '--warmth', 'canary'), ['blockhouse: Invalid value for --warmth: expected a number.', 'See blockhouse --help.']);
  t.match(refusal('ask', 'x')[1], 'Usage: blockhouse ask --who <value> [--warmth <value>] <what>');
});

t.test('an unknown command is named only where it looks like one', async (t) => {
  t.same(refusal('query'), ['blockhouse: There is no command query.', 'See blockhouse --help.']);
  t.same(refusal('sk-Canary123'), ['blockhouse: There is no such command.', 'See blockhouse --help.']);
});

t.test('a slip of the fingers is recognised', async (t) => {
  for (const word of ['aks', 'akk', 'as', 'sk', 'aask', 'askk']) t.equal(refusal(word)[0], `blockhouse: There is no command ${word}; did you mean ask?`);
  for (const word of ['a', 'xs', 'akks', 'kas']) t.equal(refusal(word)[0], `blockhouse: There is no command ${word}.`);
});

t.test('what was typed is never repeated', async (t) => {
  for (const argv of [
    ['ask', 'x', 'sk-canary1', '--who', 'me'],
    ['ask', 'x', '--key=sk-canary1', '--who', 'me'],
    ['tell', 'sk-canary1'],
  ])
    t.notMatch(refusal(...argv).join('\n'), 'canary');
});
