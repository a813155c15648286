// `blockhouse migrate`, which brings the database of a workspace to this version.
import { Command, Option } from 'clipanion';
import { BaseCommand } from '../command/command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { write } from '../terminal/output.ts';

/** Prints a line for each step that was done, or is to be done; `{done}`, `{pending}` or `{sql}`. */
export class MigrateCommand extends BaseCommand {
  static override readonly paths = [['migrate']];
  static override readonly usage = Command.Usage({
    category: 'Server',
    description: 'Bring the database of a workspace to this version',
    details: `
      Servers of the version before may run meanwhile. \`--check\` changes nothing and ends with exit code 1 when there is something to do.
    `,
    examples: [
      ['The database in BLOCKHOUSE_STORE', '$0 migrate'],
      ['What it would do', '$0 migrate --sql'],
    ],
  });

  store = Option.String('--store', { description: 'The database; default: BLOCKHOUSE_STORE_DIRECT, or BLOCKHOUSE_STORE' });
  check = Option.Boolean('--check', false, { description: 'Only say what is to be done' });
  sql = Option.Boolean('--sql', false, { description: 'Only print the statements, for psql' });

  protected override async run(): Promise<ExitKind> {
    const { env } = this.context;
    const store = this.store ?? (env['BLOCKHOUSE_STORE_DIRECT'] || env['BLOCKHOUSE_STORE']);
    if (store === undefined || store === '')
      throw new CliError('usage', 'There is no database: set BLOCKHOUSE_STORE to postgres://user@host/database, or give --store.');
    const { openStoreSchema } = await import('../../core/index.ts');
    const schema = await openStoreSchema(store);
    if (!this.check && !this.sql) {
      const done: string[] = [];
      await schema.migrate((name) => void done.push(name));
      await this.print({ done }, done.length === 0 ? ['Nothing to do.'] : done.map((name) => `done: ${name}`));
      return 'ok';
    }
    const { names, script } = await schema.plan();
    if (this.sql && !this.json) await write(this.stdout, script);
    else if (this.sql) await this.print({ sql: script }, []);
    else await this.print({ pending: names }, names.length === 0 ? ['Nothing to do.'] : names.map((name) => `to do: ${name}`));
    return this.check && names.length > 0 ? 'unexpected' : 'ok';
  }
}
