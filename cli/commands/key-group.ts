// `blockhouse key group`: limits that several keys have together.
import { Command, Option } from 'clipanion';
import { DestructiveCommand } from '../command/destructive-command.ts';
import { LimitsCommand } from '../command/limits-command.ts';
import { ServerCommand } from '../command/server-command.ts';
import type { ExitKind } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';
import { groupTable, reachedCaps } from '../views/client-tables.ts';

const category = 'Clients';

/** Prints nothing, or `{success, group}`. */
export class KeyGroupSetCommand extends LimitsCommand {
  static override readonly paths = [['key', 'group', 'set']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Make a group of keys, or change its limits',
    details: `
      The limits hold for all keys of the group together, besides those of each key. Limits without an option stay as they are, and \`none\` lifts one.
      What is counted is what was spent with keys while they were in the group, also after they have left it or were revoked.
    `,
    examples: [
      ['20 USD a day for several keys', '$0 key group set team --usd-per-day 20'],
      ['Put a key in it', '$0 key set my-app --group team'],
    ],
  });

  name = Option.String({ name: 'name' });

  protected override async run(): Promise<ExitKind> {
    const limits = Object.fromEntries(Object.entries(this.limits()).filter(([, value]) => value !== undefined));
    return this.withServer(async (api) => {
      const set = await api.setKeyGroup(this.name, limits);
      await this.print(set, []);
      const { keys } = set.group;
      const members = keys.length === 0 ? `\`${this.hint('key', 'set', '<key>', '--group', this.name)}\` puts a key in it.` : `Its keys: ${keys.join(', ')}.`;
      await this.say(`The group ${oneLine(this.name)} is set. ${members}`);
      return 'ok';
    });
  }
}

/** Prints `{groups}`, or a table. */
export class KeyGroupListCommand extends ServerCommand {
  static override readonly paths = [
    ['key', 'group', 'ls'],
    ['key', 'group', 'list'],
    ['key', 'group'],
  ];
  static override readonly usage = Command.Usage({
    category,
    description: 'List the groups of keys',
    details: 'Shows the limits of each, the keys in it, and what was spent in it today (UTC).',
    examples: [['All of them', '$0 key group ls']],
  });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const { groups } = await api.keyGroups();
      await this.print({ groups }, this.json || groups.length === 0 ? [] : groupTable(groups, { width: this.width, style: this.style }));
      for (const group of groups)
        for (const { cap, option, value } of this.json ? [] : reachedCaps(group))
          await this.say(`${oneLine(group.name)} has reached its cap of ${cap}. \`${this.hint('key', 'group', 'set', group.name, option, value)}\` raises it.`);
      if (groups.length === 0 && !this.json) await this.say(`There are no groups yet. \`${this.hint('key', 'group', 'set', '<name>')}\` makes one.`);
      return 'ok';
    });
  }
}

/** Prints nothing, or `{success, message}`. */
export class KeyGroupRemoveCommand extends DestructiveCommand {
  static override readonly paths = [['key', 'group', 'rm']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Remove a group of keys that no key is in',
    details: 'What was spent in it counts again for a group of the same name. At a terminal, it asks first; elsewhere it needs `--yes`.',
    examples: [['Remove one', '$0 key group rm team']],
  });

  name = Option.String({ name: 'name' });

  protected override async run(): Promise<ExitKind> {
    const name = oneLine(this.name);
    return this.onceAgreed(`Remove the group ${name}, with its limits?`, `This removes the group ${name}.`, () =>
      this.withServer(async (api) => {
        const removed = await api.removeKeyGroup(this.name);
        await this.print(removed, []);
        await this.say(oneLine(removed.message));
        return 'ok';
      }),
    );
  }
}
