// `blockhouse --version`.
import { BaseCommand } from '../command.ts';
import type { ExitKind } from '../exit-codes.ts';

/** Prints the version, or `{version}`. */
export class VersionCommand extends BaseCommand {
  static override readonly paths = [['-v'], ['--version']];

  protected override async run(): Promise<ExitKind> {
    const { VERSION } = await import('../../core/index.ts');
    await this.print({ version: VERSION }, [VERSION]);
    return 'ok';
  }
}
