// `blockhouse key`: a key for each application that uses the gateway.
import { Command, Option } from 'clipanion';
import type { ChangeKey } from '../../core/index.ts';
import { DestructiveCommand } from '../command/destructive-command.ts';
import { LimitsCommand, orNone } from '../command/limits-command.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';
import { keyTable, reachedCaps, reachedGroups } from '../views/client-tables.ts';

const category = 'Clients';
const DAY_MS = 86_400_000;

/** Limits that only a key has. */
abstract class KeyLimitsCommand extends LimitsCommand {
  group = Option.String('--group', { description: 'The group of keys to which it belongs' });
  models = Option.Array('--models', { description: 'A model that it may use; * stands for any characters. May be repeated' });
  rights = Option.Array('--right', {
    description:
      'What it may do besides asking models: blocks lets it ask every block as block/<name>, mcp lets it reach every block over MCP. May be repeated',
  });
  blocks = Option.Array('--block', {
    description: 'A block that its rights are for, and that it may ask as block/<name> where it has none; * stands for any characters. May be repeated',
  });
  trusted = Option.Boolean('--trusted', {
    description: 'Messages that come with it do not taint, so a block may answer them with tools that write or send; --no-trusted takes it back',
  });
  expires = Option.String('--expires', { description: 'When it ends: a time, or a number of days such as 30d' });

  protected keyLimits() {
    return {
      ...this.limits(),
      group: orNone(this.group, (name) => name),
      models: this.models,
      rights: rightsOf(this.rights),
      ...(this.trusted !== undefined && { trusted: this.trusted }),
      blocks: orNone(this.blocks?.join(' '), () => this.blocks ?? []),
      expiresAt: orNone(this.expires, timeOf),
    };
  }
}

/** Prints the key, or `{success, name, key, warnings?}`. */
export class KeyNewCommand extends KeyLimitsCommand {
  static override readonly paths = [['key', 'new']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Make a key for one application',
    details: `
      The key is accepted only where models are asked, and shown only now: the workspace keeps a hash of it. The name of an expired key is free. A cap can be passed by the calls
      that are under way when it is reached. A call without a known price counts as 0 USD, so a key with caps in USD alone refuses such calls, unless
      --unpriced says otherwise; a note names the models. Days, weeks (from Monday) and months begin at 00:00 UTC.
    `,
    examples: [
      ['A key without limits', '$0 key new my-app'],
      [
        'At most 5 USD a day, for some models, until new year',
        '$0 key new my-app --usd-per-day 5 --models "small-*" --models "<provider>/*" --expires 2027-01-01',
      ],
      ['For a chat program that talks to the block ada, with the model block/ada', '$0 key new my-chat --right blocks --block ada'],
      ['For an agent that reaches the block ada over MCP', '$0 key new my-agent --right mcp --block ada'],
      ['At most 50 USD a month, four calls at a time and 60 requests a minute', '$0 key new my-app --usd-per-month 50 --in-flight 4 --rpm 60'],
    ],
  });

  name = Option.String({ name: 'name' });

  protected override async run(): Promise<ExitKind> {
    const limits = this.keyLimits();
    const { usdPerDay, usdPerWeek, usdPerMonth, tokensPerDay, tokensPerMonth } = limits;
    const hasUsd = [usdPerDay, usdPerWeek, usdPerMonth].some((cap) => cap != null);
    const hasTokens = tokensPerDay != null || tokensPerMonth != null;
    const unpriced = limits.unpriced ?? (hasUsd && !hasTokens ? 'refuse' : 'allow');
    return this.withServer(async (api) => {
      const created = await api.createKey({ name: this.name, ...limits, unpriced });
      await this.print(created, [created.key]);
      await this.sayWarnings(created.warnings);
      await this.say(
        `Give it to ${oneLine(this.name)} only; it is not shown again. Clients send it as their API key, with ${api.client.place.url.origin}/v1 as base URL; some add the /v1 themselves. \`${this.hint('key', 'rm', this.name)}\` revokes it.`,
      );
      return 'ok';
    });
  }
}

/** Prints nothing, or `{success, key, warnings?}`. */
export class KeySetCommand extends KeyLimitsCommand {
  static override readonly paths = [['key', 'set']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Change the limits of a key',
    details: 'Limits without an option stay as they are, and `none` lifts one. They hold for calls from now on; the key itself stays the same.',
    examples: [
      ['A cap of 20 USD a week, and no longer one a day', '$0 key set my-app --usd-per-week 20 --usd-per-day none'],
      ['Put it in a group', '$0 key set my-app --group team'],
    ],
  });

  name = Option.String({ name: 'name' });

  protected override async run(): Promise<ExitKind> {
    const limits = Object.fromEntries(Object.entries(this.keyLimits()).filter(([, value]) => value !== undefined));
    if (Object.keys(limits).length === 0) throw new CliError('usage', 'Name a limit to change, such as --usd-per-week 20.');
    return this.withServer(async (api) => {
      const changed = await api.changeKey(this.name, limits);
      await this.print(changed, []);
      await this.sayWarnings(changed.warnings);
      await this.say(`The limits of ${oneLine(this.name)} are changed.`);
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
      const isShort = this.json || this.quiet;
      const used = new Set(keys.map(({ group }) => group));
      const groups = isShort || keys.every(({ group }) => group === null) ? [] : (await api.keyGroups()).groups.filter(({ name }) => used.has(name));
      const lines = (): string[] =>
        this.quiet ? keys.map(({ name }) => oneLine(name)) : keyTable(keys, { now: Date.now(), width: this.width, style: this.style }, groups);
      await this.print({ keys }, this.json || keys.length === 0 ? [] : lines());
      for (const key of keys)
        for (const { cap, option, value } of isShort ? [] : reachedCaps(key))
          await this.say(`${oneLine(key.name)} has reached its cap of ${cap}. \`${this.hint('key', 'set', key.name, option, value)}\` raises it.`);
      for (const line of reachedGroups(keys, groups, (...words) => this.hint(...words))) await this.say(line);
      for (const { name, debugUntil } of keys)
        if (debugUntil !== undefined && !isShort) await this.say(`What the calls of ${oneLine(name)} send and get is kept ${until(debugUntil)}.`);
      if (keys.length === 0 && !isShort) await this.say(`There are no keys yet. \`${this.hint('key', 'new', '<name>')}\` makes one.`);
      return 'ok';
    });
  }
}

/** Prints nothing, or `{success, name, debugUntil}`; with `--off`, `{success, message}`. */
export class KeyDebugCommand extends ServerCommand {
  static override readonly paths = [['key', 'debug']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Keep what the calls of a key send and get, for some minutes',
    details: `
      The page shows the bodies with each request of the gateway. They hold what people have written: secrets in them are masked, each is cut at 64 KiB, and the file in
      the workspace has 8 MiB at most. It is deleted when the time ends, with \`--off\`, with the key and with the server. Again, the command sets another end.
    `,
    examples: [
      ['For half an hour', '$0 key debug my-app --minutes 30'],
      ['No longer', '$0 key debug my-app --off'],
    ],
  });

  name = Option.String({ name: 'name' });
  minutes = Option.String('--minutes', { description: 'From 1 to 60; without it, 15' });
  off = Option.Boolean('--off', false, { description: 'Delete what was kept, and keep no more' });

  protected override async run(): Promise<ExitKind> {
    if (this.off && this.minutes !== undefined) throw new CliError('usage', '--minutes cannot stand beside --off, which ends it at once.');
    const body = this.minutes === undefined ? {} : { minutes: minutesOf(this.minutes) };
    return this.withServer(async (api) => {
      if (this.off) {
        const ended = await api.endDebugKey(this.name);
        await this.print(ended, []);
        await this.say(oneLine(ended.message));
        return 'ok';
      }
      const debugged = await api.debugKey(this.name, body);
      await this.print(debugged, []);
      await this.say(
        `What the calls of ${oneLine(this.name)} send and get is kept ${until(debugged.debugUntil)}, for the page: Gateway, then a request. \`${this.hint('key', 'debug', this.name, '--off')}\` deletes it.`,
      );
      return 'ok';
    });
  }
}

/** Prints nothing, or `{success, message}`. */
export class KeyRemoveCommand extends DestructiveCommand {
  static override readonly paths = [['key', 'rm']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Revoke a key; it is refused at once',
    details: 'At a terminal, it asks first; elsewhere it needs `--yes`.',
    examples: [['Revoke one', '$0 key rm my-app']],
  });

  name = Option.String({ name: 'name' });

  protected override async run(): Promise<ExitKind> {
    const name = oneLine(this.name);
    return this.onceAgreed(`Revoke the key ${name}? Its application is refused from then on.`, `This revokes the key ${name}.`, () =>
      this.withServer(async (api) => {
        const revoked = await api.revokeKey(this.name);
        await this.print(revoked, []);
        await this.say(oneLine(revoked.message));
        return 'ok';
      }),
    );
  }
}

type Right = NonNullable<ChangeKey['rights']>[number];
const RIGHTS: readonly Right[] = ['blocks', 'mcp'];

/** `none` takes all of them. */
function rightsOf(given: readonly string[] | undefined): readonly Right[] | undefined {
  if (given === undefined) return undefined;
  if (given.length === 1 && given[0] === 'none') return [];
  const isRight = (right: string): right is Right => RIGHTS.some((one) => one === right);
  const wrong = given.find((right) => !isRight(right));
  if (wrong !== undefined) throw new CliError('usage', `--right must be ${RIGHTS.join(', ')} or none, not ${oneLine(wrong)}.`);
  return RIGHTS.filter((right) => given.includes(right));
}

function minutesOf(text: string): number {
  const minutes = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (minutes < 1 || minutes > 60) throw new CliError('usage', `--minutes must be a whole number from 1 to 60, not ${oneLine(text)}.`);
  return minutes;
}

function until(at: string): string {
  return `until ${new Date(at).toTimeString().slice(0, 'HH:MM'.length)}`;
}

/** ISO 8601. */
function timeOf(text: string): string {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const ms = days === undefined ? Date.parse(text) : Date.now() + Number(days) * DAY_MS;
  if (Number.isNaN(ms)) throw new CliError('usage', `--expires must be a time such as 2027-01-01, or a number of days such as 30d, not ${oneLine(text)}.`);
  return new Date(ms).toISOString();
}
