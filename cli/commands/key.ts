// `blockhouse key`: a key for each application that uses the gateway.
import { Command, Option } from 'clipanion';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';
import { keyTable } from '../views/client-tables.ts';

const category = 'Clients';
const DAY_MS = 86_400_000;

/** Prints the key, or `{success, name, key, warnings?}`. */
export class KeyNewCommand extends ServerCommand {
  static override readonly paths = [['key', 'new']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Make a key for one application',
    details: `
      The key is accepted only where models are asked, and shown only now: the workspace keeps a hash of it. A cap can be passed by the calls
      that are under way when it is reached. A call without a known price counts as 0 USD, so a key with a cap in USD alone refuses such calls;
      a note names the models. Days begin at 00:00 UTC.
    `,
    examples: [
      ['A key without limits', '$0 key new my-app'],
      [
        'At most 5 USD a day, for some models, until new year',
        '$0 key new my-app --usd-per-day 5 --models "small-*" --models "<provider>/*" --expires 2027-01-01',
      ],
    ],
  });

  usdPerDay = Option.String('--usd-per-day', { description: 'The most USD that it may spend in a day' });
  tokensPerDay = Option.String('--tokens-per-day', { description: 'The most tokens, input and output, in a day' });
  unpriced = Option.String('--unpriced', {
    description: 'allow or refuse calls whose price is not known; default: refuse with --usd-per-day alone, else allow',
  });
  models = Option.Array('--models', { description: 'A model that it may use; * stands for any characters. May be repeated' });
  expires = Option.String('--expires', { description: 'When it ends: a time, or a number of days such as 30d' });
  name = Option.String({ name: 'name' });

  protected override async run(): Promise<ExitKind> {
    const caps = { usdPerDay: numberOf(this.usdPerDay, '--usd-per-day'), tokensPerDay: numberOf(this.tokensPerDay, '--tokens-per-day') };
    const limits = {
      ...caps,
      unpriced: choiceOf(this.unpriced) ?? (caps.usdPerDay !== null && caps.tokensPerDay === null ? 'refuse' : 'allow'),
      models: this.models,
      expiresAt: timeOf(this.expires),
    };
    return this.withServer(async (api) => {
      const created = await api.createKey({ name: this.name, ...limits });
      await this.print(created, [created.key]);
      await this.sayWarnings(created.warnings);
      await this.say(
        `Give it to ${oneLine(this.name)} only; it is not shown again. Clients send it as their API key, with ${api.client.place.url.origin}/v1 as base URL; some add the /v1 themselves. \`${this.hint('key', 'rm', this.name)}\` revokes it.`,
      );
      return 'ok';
    });
  }
}

/** Prints `{keys}`, or a table. */
export class KeyListCommand extends ServerCommand {
  static override readonly paths = [['key', 'ls'], ['key', 'list'], ['key']];
  static override readonly usage = Command.Usage({
    category,
    description: 'List the keys of applications',
    details: 'Shows the limits of each and what it has spent today (UTC). The keys themselves are never shown again.',
    examples: [['All of them', '$0 key ls']],
  });

  quiet = Option.Boolean('-q,--quiet', false, { description: 'Only the names, one per line' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const { keys } = await api.keys();
      const lines = (): string[] =>
        this.quiet ? keys.map(({ name }) => oneLine(name)) : keyTable(keys, { now: Date.now(), width: this.width, style: this.style });
      await this.print({ keys }, this.json || keys.length === 0 ? [] : lines());
      if (keys.length === 0 && !this.json && !this.quiet) await this.say(`There are no keys yet. \`${this.hint('key', 'new', '<name>')}\` makes one.`);
      return 'ok';
    });
  }
}

/** Prints nothing, or `{success, message}`. */
export class KeyRemoveCommand extends ServerCommand {
  static override readonly paths = [['key', 'rm']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Revoke a key; it is refused at once',
    details: 'At a terminal, it asks first.',
    examples: [['Revoke one', '$0 key rm my-app']],
  });

  yes = Option.Boolean('-y,--yes', false, { description: 'Do not ask' });
  name = Option.String({ name: 'name' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      if (!this.yes && !(await this.agreed(`Revoke the key ${oneLine(this.name)}? Its application is refused from then on.`, () => true))) {
        await this.say('Nothing was done.');
        return 'unexpected';
      }
      const revoked = await api.revokeKey(this.name);
      await this.print(revoked, []);
      await this.say(oneLine(revoked.message));
      return 'ok';
    });
  }
}

function numberOf(text: string | undefined, option: string): number | null {
  if (text === undefined) return null;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || value < 0) throw new CliError('usage', `${option} must be a number of 0 or more, not ${oneLine(text)}.`);
  return value;
}

function choiceOf(text: string | undefined): 'allow' | 'refuse' | undefined {
  if (text === undefined || text === 'allow' || text === 'refuse') return text;
  throw new CliError('usage', `--unpriced must be allow or refuse, not ${oneLine(text)}.`);
}

/** ISO 8601. */
function timeOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const ms = days === undefined ? Date.parse(text) : Date.now() + Number(days) * DAY_MS;
  if (Number.isNaN(ms)) throw new CliError('usage', `--expires must be a time such as 2027-01-01, or a number of days such as 30d, not ${oneLine(text)}.`);
  return new Date(ms).toISOString();
}
