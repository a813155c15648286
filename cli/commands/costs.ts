// `blockhouse costs`: what was spent, and the comparison with a provider's bill.
import { readFile, stat } from 'node:fs/promises';
import { Command, Option } from 'clipanion';
import { ServerCommand } from '../command/server-command.ts';
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
  name = Option.String({ required: false, name: 'block' });

  protected override async run(): Promise<ExitKind> {
    if (this.reconcile !== undefined) return this.#reconcile(this.reconcile);
    const alone = Object.entries({ '--connection': this.connection, '--tolerance': this.tolerance, '--columns': this.columns }).find(
      ([, value]) => value !== undefined,
    );
    if (alone !== undefined) throw new CliError('usage', `${alone[0]} belongs to --reconcile <file>.`);
    const ways = this.gateway ? GATEWAY_WAYS : WAYS;
    const by = this.by ?? (this.gateway ? 'key' : this.name === undefined ? 'block' : 'model');
    if (!ways.includes(by)) {
      const elsewhere = by === 'key' ? ' By key are the calls of clients: add --gateway.' : '';
      throw new CliError('usage', `--by must be one of ${ways.join(', ')}.${elsewhere}`);
    }
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
    const bill = await billAt(file);
    const { connection, tolerance, columns } = this;
    return this.withServer(async (api) => {
      const { differs, ...rest } = await api.reconcile(bill, { connection, tolerance, columns }).catch((error: unknown) => {
        throw inWordsOfOptions(error, file);
      });
      const { differenceTable } = await import('../views/bill-table.ts');
      await this.print({ ...rest, differs }, this.json || differs.length === 0 ? [] : differenceTable(differs, { width: this.width, style: this.style }));
      const { matched } = rest;
      await this.say(
        `${plural(matched, 'line')} of ${oneLine(rest.connection)} ${matched === 1 ? 'agrees' : 'agree'}, ${differs.length} ${differs.length === 1 ? 'differs' : 'differ'}.`,
      );
      if (matched === 0 && differs.length > 0 && differs.every(({ ours }) => ours === null))
        await this.say(`No call of ${oneLine(rest.connection)} is counted on the days of this bill; --connection says whose bill it is.`);
      return differs.length === 0 ? 'ok' : 'unexpected';
    });
  }
}

async function billAt(file: string): Promise<Buffer> {
  const { schemas } = await import('../../core/index.ts');
  try {
    const { size } = await stat(file);
    if (size === 0) throw new CliError('usage', `${oneLine(file)} is empty.`);
    if (size > schemas.MAX_BILL_BYTES)
      throw new CliError('usage', `${oneLine(file)} is larger than ${schemas.MAX_BILL_BYTES / 1024 / 1024} MiB; export fewer days, or without further groups.`);
    return await readFile(file);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError('usage', `${oneLine(file)} ${fileFault(error as Error)}.`, error);
  }
}

/** The server names a choice as the API does, and knows no file. */
function inWordsOfOptions(error: unknown, file: string): unknown {
  if (!(error instanceof CliError) || error.body?.code !== 'INVALID_REQUEST') return error;
  const path = error.body.details?.[0]?.path ?? '';
  const message = path === '' ? error.message.replace(/^The bill /, `${oneLine(file)} `).replace('with columns', 'with --columns') : `--${error.message}`;
  return new CliError(error.kind, message, error, error.body);
}

const DAY_MS = 86_400_000;

/** The UTC day that a person means by `7d`, which has today as the last of its days, or by a date. Throws a CliError. */
function dayOf(option: string, text: string | undefined, now: number): string | undefined {
  if (text === undefined) return undefined;
  const days = /^([1-9]\d{0,3})d$/.exec(text)?.[1];
  const day = days === undefined ? text : new Date(now - (Number(days) - 1) * DAY_MS).toISOString().slice(0, 10);
  const at = /^(?!0000)\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  if (!Number.isNaN(at) && new Date(at).toISOString().startsWith(day)) return day; // `Date.parse` takes 31 February for 3 March
  throw new CliError('usage', `${option} must be a date such as 2026-11-01, or days such as 7d.`);
}
