// `blockhouse auth`: the credentials in auth.json. A value never comes from the command line, because the shell's history and
// every process list would show it.
import { Command, Option } from 'clipanion';
import type { Adapter, Core } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { BaseCommand } from '../command/command.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { columns, isTerminal } from '../terminal/output.ts';

const category = 'Credentials';

/** Prints `{adapter, fields}`: the fields that were stored, without their values. */
export class AuthSetCommand extends BaseCommand {
  static override readonly paths = [['auth', 'set']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Store the key of a provider',
    details: `
      Asks for the values without showing them, or reads them from standard input: the value of one field, or a JSON object
      with several. There is no way to give a value on the command line, where the shell's history would keep it. A new address
      (another origin, or another path of a host that is not the provider's own) needs the stored key again, in the same change.
    `,
    examples: [
      ['Type the key', '$0 auth set <id>'],
      ['From a password manager', 'pass show my-key | $0 auth set <id>'],
      ['One field alone', 'echo http://10.0.0.5:11434 | $0 auth set <id> --field baseURL'],
    ],
  });

  field = Option.String('--field', { description: 'The one field to set, such as apiKey or baseURL' });
  id = Option.String({ name: 'id' });

  protected override async run(): Promise<ExitKind> {
    const { inWorkspace } = await import('../compose.ts');
    const config = await this.config();
    return this.interruptible((signal) =>
      this.withCore(async (core) => {
        const adapter = adapterOf(core, this.id);
        const values = await this.#values(adapter, core.credentials?.read(adapter.id) ?? {}, signal);
        const fields = Object.keys(values);
        if (fields.length > 0) await inWorkspace(config, async () => core.credentials?.update(adapter.id, values));
        await this.print({ adapter: adapter.id, fields }, []);
        await this.say(
          fields.length === 0
            ? 'Nothing was changed.'
            : `Stored ${adapter.id} ${fields.join(', ')} in auth.json. Check it with \`${this.command} verify ${adapter.id}\`.`,
        );
        return 'ok';
      }),
    );
  }

  /** From the prompt or from standard input. */
  async #values(adapter: Adapter, stored: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Record<string, string>> {
    const { askValues, checkValues, fieldsOf, parseValues } = await import('../input/credentials-input.ts');
    const fields = fieldsOf(adapter, this.field);
    const { stdin } = this.context;
    if (isTerminal(stdin)) return askValues(adapter, fields, stored, { input: stdin, output: this.stderr });
    const { readAll } = await import('../input/input.ts');
    return checkValues(adapter, parseValues(adapter, fields, await readAll(stdin, signal)));
  }
}

/** Prints `{from, settings: [{adapter, field, value, source}]}`, or a table; secrets are masked. */
export class AuthListCommand extends ServerCommand {
  static override readonly paths = [
    ['auth', 'list'],
    ['auth', 'ls'],
  ];
  static override readonly usage = Command.Usage({
    category,
    description: 'Show what is stored or set, with secrets masked',
    details: `
      Names the source of each value: auth.json, or the environment variable. auth.json wins over the environment. Asks the running
      server, which has an environment of its own; without one, it shows the environment of this shell.
    `,
    examples: [['Where does the key come from?', '$0 auth list']],
  });

  protected override async run(): Promise<ExitKind> {
    const asked = { server: (api: Api) => api.settings(), shell: async (core: Core) => ({ settings: core.settings() }) };
    return this.withServerOrShell(asked, async ({ settings }, from) => {
      const rows = settings.map(({ adapter, field, value, source }) => [adapter, field, value, source]);
      await this.print({ from, settings }, rows.length === 0 ? [] : columns([['PROVIDER', 'FIELD', 'VALUE', 'SOURCE'], ...rows]));
      if (rows.length === 0) await this.say(`Nothing is stored, and no environment variable is set; \`${this.hint('auth', 'set', '<id>')}\` stores a key.`);
      return 'ok';
    });
  }
}

/** Prints `{adapter, removed}`. */
export class AuthRemoveCommand extends BaseCommand {
  static override readonly paths = [['auth', 'rm']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Remove everything stored for a provider',
    details: 'Environment variables stay as they are.',
    examples: [['Forget a key', '$0 auth rm <id>']],
  });

  id = Option.String({ name: 'id' });

  protected override async run(): Promise<ExitKind> {
    const { inWorkspace } = await import('../compose.ts');
    const config = await this.config();
    return this.withCore(async (core) => {
      // An entry that belongs to no provider can be removed, too.
      const id = core.credentials?.ids().includes(this.id) ? this.id : adapterOf(core, this.id).id;
      const removed = await inWorkspace(config, async () => (await core.credentials?.remove(id)) ?? false);
      await this.print({ adapter: id, removed }, []);
      await this.say(removed ? `Removed ${id} from auth.json.` : `auth.json has no entry for ${id}.`);
      return 'ok';
    });
  }
}

/** `blockhouse auth` alone: names its subcommands and fails. */
export class AuthCommand extends BaseCommand {
  static override readonly paths = [['auth']];
  static override readonly usage = Command.Usage({
    description: 'Store, list and remove credentials',
    details:
      '`blockhouse auth set <id>` stores a key, `blockhouse auth list` shows what is there, `blockhouse auth rm <id>` removes it. Each has a --help of its own.',
  });

  protected override run(): Promise<ExitKind> {
    throw new CliError('usage', 'A subcommand is missing. Use auth set <id>, auth list or auth rm <id>.');
  }
}

/** Checks the id first, because the core's message repeats it, and it may be a key in the wrong place. */
function adapterOf(core: Core, id: string): Adapter {
  if (!/^[a-z]{1,16}$/.test(id)) throw new CliError('usage', `There is no such provider. Use one of ${core.adapterIds().join(', ')}.`);
  return core.adapter(id);
}
