// `blockhouse --version`.
import { Command } from 'clipanion';
import { BaseCommand } from '../command/command.ts';
import type { ExitKind } from '../terminal/exit-codes.ts';

/** Prints the version, or `{version}`. */
export class VersionCommand extends BaseCommand {
  static override readonly paths = [['--version'], ['-v'], ['-V'], ['version']];
  static override readonly usage = Command.Usage({
    category: 'Other',
    description: 'Print the version',
    examples: [['In a bug report', '$0 --version']],
  });

  protected override async run(): Promise<ExitKind> {
    const { VERSION } = await import('../../core/client-parts.ts');
    await this.print({ version: VERSION }, [VERSION]);
    return 'ok';
  }
}
