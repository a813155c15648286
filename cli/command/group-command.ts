// The base of a word that only groups commands: alone, it lists them.
import { COMMAND_INDEX } from '../main/command-index.ts';
import { PROGRAM } from '../main/manual.ts';
import type { ExitKind } from '../terminal/exit-codes.ts';
import { columns } from '../terminal/output.ts';
import { BaseCommand } from './command.ts';

/** Prints `{commands: [{command, description}]}`, or a line for each. */
export abstract class GroupCommand extends BaseCommand {
  protected override async run(): Promise<ExitKind> {
    const [group] = this.path;
    const found = COMMAND_INDEX.flatMap(({ paths: [path = []], description = '' }) => (path[0] === group && path.length > 1 ? [{ path, description }] : []));
    const commands = found.map(({ path, description }) => ({ command: `${PROGRAM} ${path.join(' ')}`, description }));
    await this.print({ commands }, this.json ? [] : columns(commands.map(({ command, description }) => [command, description])));
    return 'ok';
  }
}
