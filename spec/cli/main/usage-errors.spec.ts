import { Command, Option } from 'clipanion';
import t from 'tap';
import { isNumber } from 'typanion';
import { ReadableCli } from '../../../cli/main/usage.ts';
import { usageLines } from '../../../cli/main/usage-errors.ts';

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

class Move extends Command {
  static override readonly paths = [['move']];
  slow = Option.Boolean('--slow', false);
  level = Option.String('-l,--level');
  from = Option.String({ name: 'from' });
  to = Option.String({ name: 'to' });
  async execute(): Promise<void> {}
}

class HideSome extends Command {
  static override readonly paths = [['hide', 'some']];
  names = Option.Rest({ name: 'name', required: 1 });
  async execute(): Promise<void> {}
}

class Hide extends Tell {
  static override readonly paths = [['hide'], ['hide', 'more'], ['hide', 'most'], ['hush']];
}

const cli = new ReadableCli({ binaryName: 'blockhouse', binaryLabel: 'The label', enableColors: false });
for (const command of [Ask, Tell, Move, Hide, HideSome]) cli.register(command);

/** What is said of words that the command line refuses. */
function refusedLines(of: ReadableCli, argv: string[], paths: string[][] = []): string[] {
  try {
    of.process(argv, ReadableCli.defaultContext);
  } catch (error) {
    return usageLines(error, argv, paths);
  }
  throw new Error('it was not refused');
}

const refusal = (...argv: string[]) => refusedLines(cli, argv);

t.test('each mistake is named in one line, with a hint', async (t) => {
  t.equal(refusal('ask', '--who', 'me')[0], 'blockhouse: ask needs <what>.');
  t.equal(refusal('move', '--slow', 'a')[0], 'blockhouse: move needs <to>.');
  t.equal(refusal('move')[0], 'blockhouse: move needs <from> <to>.');
  t.equal(refusal('move', '--level', 'low')[0], 'blockhouse: move needs <from> <to>.', 'the value of an option is no argument');
  t.equal(refusal('hide', 'some')[0], 'blockhouse: hide some needs <name>.');
  t.match(refusal('ask', 'x', '--who')[0], 'blockhouse: --who needs <value>.');
  t.equal(refusal('move', 'a', 'b', '-l')[0], 'blockhouse: -l needs <level>.');
  t.match(refusal('ask', '--nope', 'x', '--who', 'me')[0], 'blockhouse: There is no option --nope.');
  t.equal(refusal('ask', '--whoo', 'x')[0], 'blockhouse: There is no option --whoo; did you mean --who?');
  t.match(refusal('ask', 'x', 'y', '--who', 'me')[0], 'blockhouse: There is one argument too many.');
  t.same(refusal('ask', 'x', '--who', 'me', '--warmth', 'canary'), ['blockhouse: Invalid value for --warmth: expected a number.', 'See blockhouse --help.']);
  t.match(refusal('ask', 'x')[1], 'Usage: blockhouse ask [options] --who <value> <what>');
});

t.test('a wrong value leads to the help of its command, and a range is said in words', async (t) => {
  const paths = [['ask'], ['ask', 'more'], ['tell']];
  const fault = new Error('Invalid value for --warmth: expected to be in the [0; 1] range (got 3)');
  t.same(usageLines(fault, ['ask', '--warmth', '3'], paths), [
    'blockhouse: Invalid value for --warmth: expected a number from 0 to 1.',
    'See blockhouse ask --help.',
  ]);
  t.equal(usageLines(fault, ['ask', 'more', 'x'], paths)[1], 'See blockhouse ask more --help.');
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

t.test('an unknown subcommand is named, with those that there are', async (t) => {
  const paths = [['tell'], ['tell', 'more'], ['tell', 'most']];
  const lines = (...argv: string[]) => refusedLines(cli, argv, paths);
  t.same(lines('tell', 'mroe'), ['blockhouse: There is no command tell mroe; did you mean tell more?', 'There are tell more, tell most.']);
  t.same(lines('tell', 'less'), ['blockhouse: There is no command tell less.', 'There are tell more, tell most.']);
  t.notMatch(lines('tell', 'sk-Canary123').join(' '), 'Canary');
  t.match(lines('tell', '--nope')[0], 'There is no option --nope.');
});

t.test('a word behind a group that lists something when it is alone is a subcommand, too', async (t) => {
  class List extends Command {
    static override readonly paths = [['bag', 'ls'], ['bag', 'list'], ['bag']];
    async execute(): Promise<void> {}
  }
  const own = new ReadableCli({ binaryName: 'blockhouse', binaryLabel: 'The label', enableColors: false });
  own.register(List);
  const paths = [...List.paths, ['bag', 'group', 'set'], ['bag', 'group', 'rm']];
  const lines = (...argv: string[]) => refusedLines(own, argv, paths);
  t.same(lines('bag', 'gruop'), ['blockhouse: There is no command bag gruop; did you mean bag group?', 'There are bag ls, bag list, bag group.']);
  t.equal(lines('bag', 'ls', 'x')[0], 'blockhouse: There is one argument too many.');
  t.equal(lines('bag', '--nope')[0], 'blockhouse: There is no option --nope.');
});

t.test('a third word that is missing or unknown is named, with those that there are', async (t) => {
  class Keep extends Tell {
    static override readonly paths = [
      ['tell', 'secret', 'set'],
      ['tell', 'secret', 'rm'],
    ];
    what = Option.String({ name: 'what' });
  }
  const own = new ReadableCli({ binaryName: 'blockhouse', binaryLabel: 'The label', enableColors: false });
  for (const command of [Tell, Keep]) own.register(command);
  const paths = [['tell'], ['tell', 'secret', 'set'], ['tell', 'secret', 'rm']];
  const lines = (...argv: string[]) => refusedLines(own, argv, paths);
  own.register(Ask);
  paths.push(['ask']);
  t.equal(lines('ask', '--who', 'me')[0], 'blockhouse: ask needs <what>.', 'a command of one word is no such group');
  t.equal(lines('ask')[0], 'blockhouse: ask needs <what>.');
  const there = 'There are tell secret set, tell secret rm.';
  t.same(lines('tell', 'secret', 'ls'), ['blockhouse: There is no command tell secret ls.', there]);
  t.same(lines('tell', 'secret'), ['blockhouse: tell secret lacks its last word.', there]);
  t.same(lines('tell', 'secret', '--json'), ['blockhouse: tell secret lacks its last word.', there]);
  t.same(lines('tell', 'secret', 'sk-Canary1'), ['blockhouse: There is no command tell secret like this.', there]);
  t.equal(lines('tell', 'secret', 'set')[0], 'blockhouse: tell secret set needs <what>.');
  t.same(lines('tell', 'secret', 'rm'), ['blockhouse: tell secret rm needs <what>.', 'Usage: blockhouse tell secret rm [options] <what>'], 'as it was called');
  paths.push(['tell', 'secret']);
  own.register(
    class extends Tell {
      static override readonly paths = [['tell', 'secret']];
    },
  );
  t.same(lines('tell', 'secret', 'foo'), ['blockhouse: There is no command tell secret foo.', there], 'also where the two alone are a command');
  t.match(lines('tell', 'secret', '--nope')[0], 'There is no option --nope.');
});
