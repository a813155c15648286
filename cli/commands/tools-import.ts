// `blockhouse tools import`: the servers of tools of another program.
import { readFile } from 'node:fs/promises';
import { Command, Option } from 'clipanion';
import { ServerCommand } from '../command/server-command.ts';
import { fileFault } from '../input/file-fault.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';
import { visible } from '../terminal/unseen.ts';

const category = 'Tools';

/** Prints nothing, or `{imported, skipped}`. */
export class ToolsImportCommand extends ServerCommand {
  static override readonly paths = [['tools', 'import']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Take over the servers of tools of another program',
    details: `
      Reads files with \`mcpServers\`, with \`servers\` as editors write them, openclaw.json, and the \`extensions\` of a config.yaml. Secrets that stand there in clear move to
      auth.json. Nothing is started: each server is held until it is approved. Servers whose names are there already stay as they are, unless --replace is given.
    `,
    examples: [['From a file', '$0 tools import ~/.cursor/mcp.json']],
  });

  replace = Option.Boolean('--replace', false, { description: 'Replace servers of the same names' });
  file = Option.String({ name: 'file' });

  protected override async run(): Promise<ExitKind> {
    const bytes = await readFile(this.file).catch((error: unknown) => {
      throw new CliError('usage', `${oneLine(this.file)} ${fileFault(error)}.`, error);
    });
    const { readServerFile } = await import('../input/server-files.ts');
    const { servers, skipped } = await readServerFile(bytes);
    return this.withServer(async (api) => {
      const known = new Set((await api.toolServers()).servers.map(({ name }) => name));
      const imported: string[] = [];
      const failed = [...skipped];
      for (const { name, server, secrets, notes } of servers) {
        if (known.has(name) && !this.replace) {
          failed.push(`${name} is there already; add --replace to replace it`);
          continue;
        }
        try {
          await api.putToolServer(name, { server });
          for (const [field, value] of Object.entries(secrets)) await api.setToolSecret(name, field, value);
        } catch (error) {
          if (!(error instanceof CliError) || error.kind === 'interrupted' || error.kind === 'server') throw error;
          failed.push(error.message);
          continue;
        }
        imported.push(name);
        if (!this.json) for (const line of [`${name} is imported, and held.`, ...notes.map((note) => `  ${note}`)]) await this.say(visible(line));
      }
      await this.print({ imported, skipped: failed }, []);
      if (!this.json) for (const line of failed) await this.say(oneLine(visible(`not imported: ${line}`)));
      const [first] = imported;
      if (first !== undefined && !this.json) await this.say(`Look at each, then approve it: \`${this.hint('tools', 'test', first)}\``);
      return imported.length > 0 || failed.length === 0 ? 'ok' : 'unexpected';
    });
  }
}
