// `blockhouse completion`: the script that lets a shell complete commands.
import { Command, Option } from 'clipanion';
import { BaseCommand } from '../command/command.ts';
import { COMPLETION_SCRIPTS, isShell, SHELLS } from '../complete/completion-scripts.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';

/** Prints the script, or `{shell, script}`. */
export class CompletionCommand extends BaseCommand {
  static override readonly paths = [['completion']];
  static override readonly usage = Command.Usage({
    category: 'Other',
    description: 'Complete commands, blocks and models in your shell',
    details: `
      Prints a script for bash, zsh or fish. It completes commands, options, and the names of blocks, archives, providers and models.
      Run the line below for your shell once, and open a new shell. The script only defines a function, so your shell starts as fast as
      before, and it stays valid after an upgrade.
    `,
    examples: [
      ['bash', '$0 completion bash >> ~/.bashrc'],
      ['zsh', '$0 completion zsh >> ~/.zshrc'],
      ['fish', '$0 completion fish > ~/.config/fish/completions/blockhouse.fish'],
    ],
  });

  shell = Option.String({ name: 'shell' });

  protected override async run(): Promise<ExitKind> {
    const { shell } = this;
    if (!isShell(shell)) throw new CliError('usage', `There is no completion for this shell; name one of ${SHELLS.join(', ')}.`);
    const script = COMPLETION_SCRIPTS[shell];
    await this.print({ shell, script }, [script.trimEnd()]);
    return 'ok';
  }
}
