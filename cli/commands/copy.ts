// `blockhouse copy`: a workspace from its folder into a database, and back.
import { Command, Option } from 'clipanion';
import { BaseCommand } from '../command/command.ts';
import type { CopyComparison, CopyOptions, CopyReport } from '../copy-parts.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { plural } from '../terminal/format.ts';
import { isColored, oneLine, styleFor } from '../terminal/output.ts';
import { isWatched, Spinner } from '../terminal/spinner.ts';

/** Prints what was copied, or `{from, to, blocks, others, failed, left}`; with `--verify` each difference, or `{from, to, compared, differences}`. */
export class CopyCommand extends BaseCommand {
  static override readonly paths = [['copy']];
  static override readonly usage = Command.Usage({
    category: 'Server',
    description: 'Copy a workspace from its folder into a database, or back',
    details: `
      No server may use either side. The target is empty, or holds an earlier copy of the same source that no server has used: then what has changed is copied, and what is gone is
      removed. A copy that was interrupted goes on when the command is run again.

      \`--verify\` copies nothing. It reads both sides, names each difference, and ends with exit code 1 if there is one.

      A side that is left out is the database in BLOCKHOUSE_STORE. Credentials of providers (auth.json) belong to each machine and are not copied. A database has only a hash of the
      token, so a folder gets a new one with the first start of its server.
    `,
    examples: [
      ['Into a database', '$0 copy --from ~/.blockhouse --to postgres://blockhouse@db.internal/blockhouse'],
      ['And back', '$0 copy --from postgres://blockhouse@db.internal/blockhouse --to /var/lib/blockhouse'],
      ['Whether both hold the same', '$0 copy --from ~/.blockhouse --to postgres://blockhouse@db.internal/blockhouse --verify'],
    ],
  });

  from = Option.String('--from', { description: 'The folder or database that is copied' });
  to = Option.String('--to', { description: 'The folder or database that it is copied into' });
  only = Option.String('--only', { description: 'Only blocks whose names fit, with * and ?' });
  verify = Option.Boolean('--verify', false, { description: 'Copy nothing, and compare both sides' });
  dryRun = Option.Boolean('--dry-run', false, { description: 'Write nothing, and say what would be copied' });

  protected override async run(): Promise<ExitKind> {
    if (this.verify && this.dryRun) throw new CliError('usage', '--verify writes nothing, so it has no --dry-run.');
    const { env } = this.context;
    const store = env['BLOCKHOUSE_STORE_DIRECT'] || env['BLOCKHOUSE_STORE'] || undefined;
    const [from, to] = [this.from ?? store, this.to ?? store];
    if ((this.from ?? this.to) === undefined || from === undefined || to === undefined)
      throw new CliError('usage', 'Name both sides with --from and --to, or one of them, and the other one in BLOCKHOUSE_STORE.');
    const { compareWorkspaces, copyWorkspace } = await import('../copy-parts.ts');
    return this.interruptible(async (signal) => {
      let at = '';
      const spinner = new Spinner(this.stderr, isWatched(this.stderr, env));
      spinner.wait(() => at);
      const options: CopyOptions = {
        from,
        to,
        only: this.only,
        isTrial: this.dryRun,
        signal,
        onProgress: (progress) => {
          at = progress.total === 0 ? progress.at : `${progress.done + 1} of ${progress.total}  ${progress.at}`;
        },
      };
      try {
        if (this.verify) return await this.#showComparison(await compareWorkspaces(options), spinner);
        return await this.#showCopy(await copyWorkspace(options), spinner);
      } finally {
        spinner.stop();
      }
    });
  }

  async #showCopy(report: CopyReport, spinner: Spinner): Promise<ExitKind> {
    spinner.stop();
    const { blocks, others, failed, left } = report;
    const { bad, dim } = styleFor(isColored(this.stdout, this.context.env));
    const would = this.dryRun ? 'to copy' : 'copied';
    const lines = [
      `${would}: ${plural(blocks.copied, 'block')}${others.length === 0 ? '' : `, ${others.join(', ')}`}`,
      ...(blocks.same > 0 ? [`the same: ${plural(blocks.same, 'block')}`] : []),
      ...(blocks.removed > 0 ? [`${this.dryRun ? 'to remove' : 'removed'}: ${plural(blocks.removed, 'block')}`] : []),
      ...left.map((what) => dim(oneLine(`left out: ${what}`))),
      ...failed.map(({ place, problem }) => bad(oneLine(`failed: ${place}: ${problem}`))),
    ];
    await this.print(report, lines);
    if (failed.length > 0) await this.say('The copy is not whole, so no server uses it. Repair what has failed, and run the command again.');
    else await this.say(this.dryRun ? 'Nothing was written (--dry-run).' : 'Copied. Compare both sides with --verify before the first server starts.');
    return failed.length > 0 ? 'unexpected' : 'ok';
  }

  async #showComparison(comparison: CopyComparison, spinner: Spinner): Promise<ExitKind> {
    spinner.stop();
    const { compared, differences } = comparison;
    await this.print(
      comparison,
      differences.map(({ place, problem }) => oneLine(`${place}: ${problem}`)),
    );
    const all = [
      plural(compared.blocks, 'block'),
      plural(compared.messages, 'message'),
      plural(compared.ledgerLines, 'ledger line'),
      plural(compared.clientCalls, 'call of a client', 'calls of clients'),
    ];
    await this.say(`Compared ${all.join(', ')}: ${differences.length === 0 ? 'no difference' : plural(differences.length, 'difference')}.`);
    return differences.length === 0 ? 'ok' : 'unexpected';
  }
}
