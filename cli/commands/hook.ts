// `blockhouse hook`: doors of a block for other programs, whose signed deliveries become messages.
import { Command, Option } from 'clipanion';
import { DestructiveCommand } from '../command/destructive-command.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';
import { hookTable } from '../views/schedule-text.ts';

const category = 'Blocks';

/** Prints `{hooks}`, or a table. */
export class HookListCommand extends ServerCommand {
  static override readonly paths = [['hook', 'ls'], ['hook', 'list'], ['hook']];
  static override readonly usage = Command.Usage({
    category,
    description: 'List the hooks of a block, without their secrets',
    examples: [['All of them', '$0 hook ls my-block']],
  });

  block = Option.String({ name: 'block' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const list = await api.hooks(this.block);
      await this.print(list, this.json || list.hooks.length === 0 ? [] : hookTable(list.hooks, { width: this.width, style: this.style }));
      if (list.hooks.length === 0 && !this.json) {
        const hint = this.hint('hook', 'new', this.block, 'issues', '--style', 'github', '--message', 'A new issue came in. Sort it.');
        await this.say(`${oneLine(this.block)} has no hooks. For example: \`${hint}\``);
      }
      return 'ok';
    });
  }
}

/** Prints the secret, or `{success, hook, secret}`. */
export class HookNewCommand extends ServerCommand {
  static override readonly paths = [['hook', 'new']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Let another program send a block messages, with a secret',
    details: `
      Prints the secret, once: give it to the program that delivers, with the address. \`--style github\` is for webhooks of GitHub (content type application/json), \`standard\` for
      programs that sign as Standard Webhooks says. Messages of a hook are data from outside, and say so. \`--replace\` changes a hook that is there and keeps its secret, unless
      \`--new-secret\` is given. With \`--secret-stdin\`, the secret is read from standard input.
    `,
    examples: [
      ['For a repository', '$0 hook new my-block issues --style github --message "A new issue came in. Sort it."'],
      ['Another secret', '$0 hook new my-block issues --replace --new-secret'],
    ],
  });

  signature = Option.String('--style', { description: 'How deliveries are signed: standard (by default) or github' });
  message = Option.String('--message', { description: 'What the block is to do with what is delivered' });
  window = Option.String('--window', { description: 'How many earlier exchanges the model sees, or all; 3 by default' });
  perHour = Option.String('--per-hour', { description: 'The most deliveries an hour; 60 by default' });
  replace = Option.Boolean('--replace', false, { description: 'Change the hook of this name' });
  newSecret = Option.Boolean('--new-secret', false, { description: 'Make another secret' });
  secretStdin = Option.Boolean('--secret-stdin', false, { description: 'Read the secret from standard input' });
  block = Option.String({ name: 'block' });
  id = Option.String({ name: 'hook' });

  protected override async run(): Promise<ExitKind> {
    const secret = this.secretStdin ? await this.#readSecret() : undefined;
    return this.withServer(async (api) => {
      const isKnown = (await api.hooks(this.block)).hooks.some(({ id }) => id === this.id);
      if (isKnown && !this.replace) throw new CliError('usage', `${oneLine(this.block)} has a hook ${oneLine(this.id)} already. Add --replace to change it.`);
      const given = {
        style: this.signature,
        message: this.message,
        window: this.window === 'all' ? 'all' : wholeNumber('--window', this.window),
        perHour: wholeNumber('--per-hour', this.perHour),
        secret,
        newSecret: this.newSecret ? true : undefined,
      };
      const set = await api.setHook(this.block, this.id, Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)));
      await this.print(set, set.secret === undefined ? [] : [oneLine(set.secret)]);
      if (!this.json)
        await this.say(
          `Deliveries go to ${api.client.place.url.origin}${oneLine(set.hook.path)}${set.secret === undefined ? '.' : '. The secret is shown this once.'}`,
        );
      return 'ok';
    });
  }

  async #readSecret(): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.context.stdin) chunks.push(Buffer.from(chunk as Buffer));
    return Buffer.concat(chunks).toString('utf8').trim();
  }
}

/** Prints nothing, or `{success, message}`. */
export class HookRemoveCommand extends DestructiveCommand {
  static override readonly paths = [['hook', 'rm']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Remove a hook of a block, with its secret',
    details: 'Messages that it has taken stay. At a terminal, it asks first; elsewhere it needs `--yes`.',
    examples: [['Remove one', '$0 hook rm my-block issues']],
  });

  block = Option.String({ name: 'block' });
  id = Option.String({ name: 'hook' });

  protected override async run(): Promise<ExitKind> {
    const [block, id] = [oneLine(this.block), oneLine(this.id)];
    return this.onceAgreed(`Remove the hook ${id} of ${block}, with its secret?`, `This removes the hook ${id} of ${block}.`, () =>
      this.withServer(async (api) => {
        const removed = await api.removeHook(this.block, this.id);
        await this.print(removed, []);
        await this.say(oneLine(removed.message));
        return 'ok';
      }),
    );
  }
}

/** Undefined for an option that is not given. Throws a CliError. */
function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new CliError('usage', `${option} must be a whole number, not ${oneLine(text)}.`);
  return Number(text);
}
