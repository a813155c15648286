// The words that only group commands: alone, they list them.
import { BaseCommand } from '../command/command.ts';
import { COMPLETION_INDEX } from '../complete/completion-index.ts';
import { Command } from 'clipanion';
import type { ExitKind } from '../terminal/exit-codes.ts';
import { columns } from '../terminal/output.ts';

/** Prints `{commands: [{command, description}]}`, or a line for each. */
abstract class GroupCommand extends BaseCommand {
  protected override async run(): Promise<ExitKind> {
    const [group] = this.path;
    const found = COMPLETION_INDEX.flatMap(({ paths: [path = []], description }) => (path[0] === group && path.length > 1 ? [{ path, description }] : []));
    const commands = found.map(({ path, description }) => ({ command: `blockhouse ${path.join(' ')}`, description }));
    await this.print({ commands }, this.json ? [] : columns(commands.map(({ command, description }) => [command, description])));
    return 'ok';
  }
}

/** `blockhouse config` alone. */
export class ConfigCommand extends GroupCommand {
  static override readonly paths = [['config']];
  static override readonly usage = Command.Usage({
    description: 'Read and change the configuration of a block',
    details:
      '`blockhouse config get <block>` prints it, `blockhouse config set <block> <path>=<value>` changes it, `blockhouse config edit <block>` opens it in your editor.',
  });
}

/** `blockhouse service` alone. */
export class ServiceCommand extends GroupCommand {
  static override readonly paths = [['service']];
  static override readonly usage = Command.Usage({
    description: 'Run the server as a service',
    details: '`blockhouse service install` installs and starts it, `blockhouse service status` shows it, `blockhouse service uninstall` removes it.',
  });
}
