// `blockhouse alias`: aliases, which are other names of models.
import { Command, Option } from 'clipanion';
import type { SetAlias } from '../../core/index.ts';
import { DestructiveCommand } from '../command/destructive-command.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';
import { aliasTable } from '../views/client-tables.ts';

const category = 'Clients';

/** Prints the server's answer, or nothing. */
export class AliasSetCommand extends ServerCommand {
  static override readonly paths = [['alias', 'set']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Let a model name stand for another model',
    details: `
      Clients that ask for the name get the model. With a * at its end, the name stands for all that begin so. With several models, the next is asked
      when the one before it fails before its answer begins. Of neighbours with a weight, such as a/x@3 b/y@1, one is drawn by weight, and each conversation
      stays with the one that it has drawn; the others follow when that fails.

      --on names the failures after which the next is asked: rate (a limit, no quota), down, key (refused, or none), context (the prompt is too long), content (a
      filter refused it). Without it, these are all but content.
    `,
    examples: [
      ['Another model for a client that knows only one name', '$0 alias set small-model <provider>/<model>'],
      ['For all names that begin so, with a second choice', '$0 alias set "small-*" <provider>/<model> <other>/<model>'],
      ['Three of four conversations here, the fourth there', '$0 alias set coder <provider>/<model>@3 <other>/<model>@1 --on rate,down'],
    ],
  });

  on = Option.String('--on', { description: 'The failures that lead on: rate,down,key,context,content' });
  name = Option.String({ name: 'name' });
  targets = Option.Rest({ name: 'provider/model', required: 1 });

  protected override async run(): Promise<ExitKind> {
    const bare = this.targets.find((target) => !target.includes('/'));
    if (bare !== undefined) throw new CliError('usage', oneLine(`${JSON.stringify(bare)} names no provider; write <provider>/<model>.`));
    return this.withServer(async (api) => {
      const changed = await api.setAlias(this.name, { targets: this.targets.map(weighed), ...(this.on !== undefined && { on: classesIn(this.on) }) });
      await this.print(changed, []);
      await this.say(oneLine(changed.message));
      return 'ok';
    });
  }
}

/** `provider/model@3` is a model with the weight 3. A name that ends so itself needs a weight, too. */
function weighed(text: string): SetAlias['targets'][number] {
  const [, model, weight] = /^(.+)@(\d{1,4})$/.exec(text) ?? [];
  return model === undefined ? text : { model, weight: Number(weight) };
}

/** The server says which of them are none. */
function classesIn(text: string): NonNullable<SetAlias['on']> {
  return text.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()])) as NonNullable<SetAlias['on']>;
}

/** Prints `{defaultProvider, aliases}`, or a table. */
export class AliasListCommand extends ServerCommand {
  static override readonly paths = [['alias', 'ls'], ['alias', 'list'], ['alias']];
  static override readonly usage = Command.Usage({
    category,
    description: 'List the aliases of models, and the default provider',
    examples: [['All of them', '$0 alias ls']],
  });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const { defaultProvider, aliases } = await api.modelNames();
      await this.print({ defaultProvider, aliases }, this.json || aliases.length === 0 ? [] : aliasTable(aliases, { width: this.width, style: this.style }));
      if (this.json) return 'ok';
      if (aliases.length === 0) await this.say(`There are no aliases yet. \`${this.hint('alias', 'set', '<name>', '<provider>/<model>')}\` sets one.`);
      if (defaultProvider !== null) await this.say(`Other names go to ${oneLine(defaultProvider)}.`);
      return 'ok';
    });
  }
}

/** Prints the server's answer, or nothing. */
export class AliasRemoveCommand extends DestructiveCommand {
  static override readonly paths = [['alias', 'rm']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Remove an alias',
    details: 'At a terminal, it asks first; elsewhere it needs `--yes`.',
    examples: [['Remove one', '$0 alias rm small-model']],
  });

  name = Option.String({ name: 'name' });

  protected override async run(): Promise<ExitKind> {
    const name = oneLine(this.name);
    return this.onceAgreed(`Remove the alias ${name}? Programs that ask for it are refused from then on.`, `This removes the alias ${name}.`, () =>
      this.withServer(async (api) => {
        const changed = await api.removeAlias(this.name);
        await this.print(changed, []);
        await this.say(oneLine(changed.message));
        return 'ok';
      }),
    );
  }
}

/** Prints the server's answer, or nothing. */
export class AliasDefaultCommand extends ServerCommand {
  static override readonly paths = [['alias', 'default']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Set the provider of model names that nothing else resolves',
    examples: [
      ['One provider answers all other names', '$0 alias default <provider>'],
      ['Refuse them again', '$0 alias default none'],
    ],
  });

  provider = Option.String({ name: 'provider' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const changed = await api.setDefaultProvider(this.provider === 'none' ? null : this.provider);
      await this.print(changed, []);
      await this.say(oneLine(changed.message));
      return 'ok';
    });
  }
}
