// `blockhouse tools secret`: secrets of servers of tools, which are written and never read; the list has their names, and whether they are stored.
import { Command, Option } from 'clipanion';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { columns, isTerminal, oneLine } from '../terminal/output.ts';

const category = 'Tools';

/** Prints nothing, or `{success, message}`. */
export class ToolsSecretCommand extends ServerCommand {
  static override readonly paths = [
    ['tools', 'secret', 'set'],
    ['tools', 'secret', 'rm'],
  ];
  static override readonly usage = Command.Usage({
    category,
    description: 'Store or remove a secret of a server of tools',
    details:
      'An entry of mcp.json refers to it as `${auth:<server>.<field>}`. The value is read from standard input, or asked for at a terminal, and is never shown again.',
    examples: [
      ['Asked for', '$0 tools secret set github.token'],
      ['From a program', 'pass github | $0 tools secret set github.token'],
      ['Remove it', '$0 tools secret rm github.token'],
    ],
  });

  secret = Option.String({ name: 'secret' });

  protected override async run(): Promise<ExitKind> {
    const at = this.secret.indexOf('.');
    const [server, field] = [this.secret.slice(0, Math.max(0, at)), this.secret.slice(at + 1)];
    if (server === '' || field === '') throw new CliError('usage', `A secret is named <server>.<field>, such as github.token, not ${oneLine(this.secret)}.`);
    return this.withServer(async (api, signal) => {
      const done = await api.setToolSecret(server, field, this.path.includes('rm') ? undefined : await this.#value(signal));
      await this.print(done, []);
      await this.say(oneLine(done.message));
      return 'ok';
    });
  }

  async #value(signal: AbortSignal): Promise<string> {
    const { stdin } = this.context;
    const value = isTerminal(stdin) ? await this.#ask() : await (await import('../input/input.ts')).readAll(stdin, signal);
    const plain = value.replace(/\r?\n$/, '');
    if (plain === '') throw new CliError('usage', 'The secret is empty. Give it on standard input.');
    return plain;
  }

  async #ask(): Promise<string> {
    const { createPrompter } = await import('../terminal/prompt.ts');
    const prompter = createPrompter({ input: this.context.stdin, output: this.stderr });
    try {
      return await prompter.ask(`${oneLine(this.secret)} (hidden): `, { hidden: true });
    } finally {
      prompter.close();
    }
  }
}

/** Prints `{secrets: [{name, server, isStored}]}`, or a table. */
export class ToolsSecretListCommand extends ServerCommand {
  static override readonly paths = [
    ['tools', 'secret', 'ls'],
    ['tools', 'secret', 'list'],
    ['tools', 'secret'],
  ];
  static override readonly usage = Command.Usage({
    category,
    description: 'List the secrets that servers of tools need, and what is missing',
    details: 'Those that entries of mcp.json refer to as `${auth:<server>.<field>}`, and those of sign-ins. Of a secret, nothing but its name is shown.',
    examples: [['Which are missing?', '$0 tools secret ls']],
  });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const { servers } = await api.toolServers();
      const secrets = servers.flatMap(({ name: server, secrets: own }) => (own ?? []).map(({ name, isStored }) => ({ name, server, isStored })));
      const rows = secrets.map(({ name, server, isStored }) => [name, server, isStored ? 'stored' : 'missing']);
      await this.print({ secrets }, rows.length === 0 ? [] : columns([['SECRET', 'SERVER', 'STATE'], ...rows]));
      if (this.json) return 'ok';
      const missing = new Set(secrets.filter(({ isStored }) => !isStored).map(({ name }) => name));
      for (const name of missing) await this.say(`${oneLine(name)} is missing. \`${this.hint('tools', 'secret', 'set', name)}\` stores it.`);
      if (secrets.length === 0) await this.say('No server of tools needs a secret.');
      return 'ok';
    });
  }
}
