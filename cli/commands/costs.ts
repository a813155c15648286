// `blockhouse costs`: what was spent, and the comparison with a provider's bill.
import { readFile } from 'node:fs/promises';
import { Command, Option } from 'clipanion';
import { ServerCommand } from '../command/server-command.ts';
import type { BillColumns, BillPart } from '../input/bill.ts';
import { fileFault } from '../input/file-fault.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { plural } from '../terminal/format.ts';
import { oneLine, writeLines } from '../terminal/output.ts';
import { costsTable } from '../views/report-tables.ts';

const SHARED_WAYS = ['connection', 'credential', 'model', 'day'];
const WAYS: readonly string[] = ['block', ...SHARED_WAYS, 'purpose'];
const GATEWAY_WAYS: readonly string[] = ['key', ...SHARED_WAYS];

/** Prints `{by, rows, total}`, CSV or a table. */
export class CostsCommand extends ServerCommand {
  static override readonly paths = [['costs']];
  static override readonly usage = Command.Usage({
    category: 'Workspace',
    description: 'Show what was spent, in tokens and USD',
    details: `
      Counts every call, also of blocks that were reset, archived or deleted. A call without a known price counts only in tokens.

      With --reconcile, compares the calls of blocks and of clients with an export of the provider, by UTC day and model, and prints only what differs or is on one side
      alone. Dated snapshots of a model count as the model, and only the days of the export are compared. Ends with exit code 1 if anything differs. Some exports are
      known by their columns (docs/connections.md lists them); for others, --columns says which column is which.

      By credential, a row is a connection with the label of one of its keys, such as gpu b; calls of a connection with one key are a row of its name alone.
    `,
    examples: [
      ['By block', '$0 costs'],
      ['One block, day by day', '$0 costs my-block --by day'],
      ['The calls of clients, by key', '$0 costs --gateway'],
      ['The calls of clients, by key of the connection', '$0 costs --gateway --by credential'],
      ['The last seven days, by model', '$0 costs --since 7d --by model'],
      ['For a spreadsheet', '$0 costs --by day --csv > costs.csv'],
      ["Against the provider's bill", '$0 costs --reconcile costs_2026-11.csv --connection <id>'],
    ],
  });

  by = Option.String('--by', {
    description:
      'block, connection, credential (each key of a connection), model, day or purpose; with --gateway key in place of block, and no purpose. Default: block, or model for a single block; key with --gateway',
  });
  gateway = Option.Boolean('--gateway', false, { description: 'The calls of clients to /v1 instead of those of blocks' });
  since = Option.String('--since', { description: 'Only calls since then: days such as 7d, with today, or a UTC date such as 2026-11-01' });
  until = Option.String('--until', { description: 'Only calls up to this UTC date, with it' });
  csv = Option.Boolean('--csv', false, { description: 'Comma-separated values' });
  reconcile = Option.String('--reconcile', { description: "An export of the provider's bill, as CSV" });
  connection = Option.String('--connection', { description: 'The provider or connection whose bill it is' });
  tolerance = Option.String('--tolerance', { description: 'What may differ; default 0.5%' });
  columns = Option.String('--columns', { description: 'Which column is which: date=…,model=…,usd=…,input=…,output=…' });
  name = Option.String({ required: false, name: 'name' });

  protected override async run(): Promise<ExitKind> {
    if (this.reconcile !== undefined) return this.#reconcile(this.reconcile);
    const alone = Object.entries({ '--connection': this.connection, '--tolerance': this.tolerance, '--columns': this.columns }).find(
      ([, value]) => value !== undefined,
    );
    if (alone !== undefined) throw new CliError('usage', `${alone[0]} belongs to --reconcile <file>.`);
    const ways = this.gateway ? GATEWAY_WAYS : WAYS;
    const by = this.by ?? (this.gateway ? 'key' : this.name === undefined ? 'block' : 'model');
    if (!ways.includes(by)) throw new CliError('usage', `--by must be one of ${ways.join(', ')}.`);
    if (this.gateway && this.name !== undefined) throw new CliError('usage', '--gateway is for the calls of clients and takes no block.');
    if (this.csv && this.json) throw new CliError('usage', 'Give either --csv or --json, not both.');
    const days = { from: dayOf('--since', this.since, Date.now()), to: dayOf('--until', this.until, Date.now()) };
    return this.withServer(async (api) => {
      const report = this.gateway ? await api.gatewayCosts(by, days) : await api.costs(by, this.name, days);
      if (this.name !== undefined && report.total.calls === 0) await api.config(this.name); // throws BLOCK_NOT_FOUND for a misspelt name
      if (this.csv) {
        const { toCsv } = await import('../terminal/csv.ts');
        const head = [by, 'calls', 'input', 'output', 'cacheRead', 'cacheWrite', 'costUsd', 'unpricedCalls'];
        const rows = report.rows.map((row) => [row.key, row.calls, row.input, row.output, row.cacheRead, row.cacheWrite, row.costUsd, row.unpricedCalls]);
        await writeLines(this.stdout, [toCsv([head, ...rows])]);
        return 'ok';
      }
      await this.print(report, this.json ? [] : costsTable(report, { width: this.width, style: this.style }));
      const { unpricedCalls } = report.total;
      if (!this.json && unpricedCalls > 0) await this.say(`note: the price of ${unpricedCalls === 1 ? 'one call is' : `${unpricedCalls} calls is`} unknown.`);
      return 'ok';
    });
  }

  async #reconcile(file: string): Promise<ExitKind> {
    if (this.since !== undefined || this.until !== undefined)
      throw new CliError('usage', '--reconcile compares the days of the export; --since and --until have no meaning there.');
    if (this.by !== undefined || this.gateway || this.csv || this.name !== undefined)
      throw new CliError('usage', '--reconcile compares all calls of a connection; --by, --gateway, --csv and the name of a block have no meaning there.');
    const { connectionsIn, readBill, reconcile } = await import('../input/bill.ts');
    const [named, tolerance] = [columnsOf(this.columns), shareOf(this.tolerance)];
    const bill = await readFile(file, 'utf8').then(
      (text) => {
        try {
          return readBill(text, named);
        } catch (error) {
          throw new CliError('usage', oneLine(`${file} can't be compared: ${(error as Error).message}.`), error);
        }
      },
      (error: Error) => {
        throw new CliError('usage', `${file} ${fileFault(error)}.`, error);
      },
    );
    return this.withServer(async (api) => {
      const blocks = await api.costs('day-model').catch((error: unknown) => {
        if (error instanceof CliError && error.body?.code === 'WRONG_STATE') return undefined; // a server without blocks
        throw error;
      });
      const reports = [...(blocks === undefined ? [] : [blocks]), await api.gatewayCosts('day-model')];
      const { connection = this.#onlyOf(connectionsIn(reports)) } = this;
      const { matched, differs } = reconcile(bill, reports, connection, tolerance);
      const { differenceTable } = await import('../views/bill-table.ts');
      await this.print({ matched, differs }, this.json || differs.length === 0 ? [] : differenceTable(differs, { width: this.width, style: this.style }));
      await this.say(
        `${plural(matched, 'line')} of ${connection} ${matched === 1 ? 'agrees' : 'agree'}, ${differs.length} ${differs.length === 1 ? 'differs' : 'differ'}.`,
      );
      return differs.length === 0 ? 'ok' : 'unexpected';
    });
  }

  /** The one connection that was called. */
  #onlyOf(connections: readonly string[]): string {
    const [connection, ...others] = connections;
    if (connection !== undefined && others.length === 0) return connection;
    throw new CliError(
      'usage',
      `Say with --connection whose bill it is${connection === undefined ? '' : `; there are calls of ${connections.map(oneLine).join(', ')}`}.`,
    );
  }
}

/** `date=Day,usd=Cost,usd=Tax`: a part may have several columns. */
function columnsOf(text: string | undefined): BillColumns {
  const columns: Partial<Record<BillPart, string[]>> = {};
  for (const pair of text?.split(',') ?? []) {
    const [, part, column] = /^(date|model|usd|input|output)=(.+)$/.exec(pair.trim()) ?? [];
    if (part === undefined || column === undefined)
      throw new CliError('usage', '--columns takes date, model, usd, input and output with the names of columns, such as date=Day,model=SKU,usd=Cost.');
    columns[part as BillPart] = [...(columns[part as BillPart] ?? []), column];
  }
  return columns;
}

function shareOf(text = '0.5%'): number {
  const [, number] = /^(\d+(?:\.\d+)?)%$/.exec(text) ?? [];
  if (number === undefined || Number(number) > 100) throw new CliError('usage', '--tolerance must be a share in percent, such as 0.5%.');
  return Number(number) / 100;
}

const DAY_MS = 86_400_000;

/** The UTC day that a person means by `7d`, which has today as the last of its days, or by a date. Throws a CliError. */
function dayOf(option: string, text: string | undefined, now: number): string | undefined {
  if (text === undefined) return undefined;
  const days = /^([1-9]\d{0,3})d$/.exec(text)?.[1];
  const day = days === undefined ? text : new Date(now - (Number(days) - 1) * DAY_MS).toISOString().slice(0, 10);
  if (/^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(`${day}T00:00:00Z`))) return day;
  throw new CliError('usage', `${option} must be a date such as 2026-11-01, or days such as 7d.`);
}
