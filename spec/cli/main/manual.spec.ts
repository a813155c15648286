import { Command, Option } from 'clipanion';
import t from 'tap';
import { allCommands } from '../../../cli/main/command-modules.ts';
import { manualOf, usageLine } from '../../../cli/main/manual.ts';

class Ask extends Command {
  static override readonly paths = [['ask'], ['question']];
  static override readonly usage = Command.Usage({
    category: 'Some',
    description: 'Ask it',
    details: `
      One
      paragraph of $0:

      - an item
      - another
    `,
    examples: [['First', '$0 ask']],
  });
  json = Option.Boolean('--json', false, { description: 'JSON' });
  model = Option.String('-m,--model', { description: 'Model' });
  name = Option.String({ name: 'name' });
  message = Option.String({ required: false, name: 'message' });
  async execute(): Promise<void> {}
}

t.test('a manual has all that a command says about itself', async (t) => {
  t.same(manualOf(Ask), {
    paths: [['ask'], ['question']],
    category: 'Some',
    description: 'Ask it',
    usage: 'blockhouse ask [options] <name> [message]',
    arguments: ['name', 'message'],
    isRepeated: false,
    options: [
      { names: ['-m', '--model'], value: 'model', description: 'Model' },
      { names: ['--json'], description: 'JSON' },
    ],
    details: ['One paragraph of blockhouse:', '- an item', '- another'],
    examples: [['First', 'blockhouse ask']],
  });
});

t.test('arguments that may be missing or repeated are marked', async (t) => {
  t.equal(usageLine('blockhouse start [--all] ...'), 'blockhouse start [options] [block] ...');
  t.equal(usageLine('blockhouse rm [-y,--yes] <name> ...'), 'blockhouse rm [options] <name> ...');
  t.equal(usageLine('blockhouse ask <-w,--who #0> [what]'), 'blockhouse ask [options] --who <value> [what]');
});

t.test('every command has a manual: a description, an example, and a description of each option', async (t) => {
  for (const { paths, category, description, examples, options } of (await allCommands()).map(manualOf)) {
    const name = String(paths[0]?.join(' '));
    t.ok(description, name);
    if (category !== undefined) t.ok(examples.length > 0, `${name}: an example`);
    for (const option of options) t.ok(option.description, `${name} ${option.names.join()}`);
  }
});
