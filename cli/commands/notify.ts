// `blockhouse notify`: where notices go of what needs people, and links that decide.
import { Command, Option } from 'clipanion';
import type { SetNotifyTarget } from '../../core/index.ts';
import { DestructiveCommand } from '../command/destructive-command.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';
import { notifyTable, testText } from '../views/notify-text.ts';

const category = 'Workspace';

/** Prints `{targets}`, or a table. */
export class NotifyListCommand extends ServerCommand {
  static override readonly paths = [['notify', 'ls'], ['notify', 'list'], ['notify']];
  static override readonly usage = Command.Usage({
    category,
    description: 'List the targets of notifications, without their secrets',
    details: 'Shows how much waits for each, and how the last try ended. A target that is `off` has answered 410; `notify set` turns it on again.',
    examples: [['All of them', '$0 notify ls']],
  });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const list = await api.notifyTargets();
      await this.print(list, this.json ? [] : notifyTable(list.targets, { width: this.width, style: this.style, now: Date.now() }));
      if (list.targets.length === 0 && !this.json)
        await this.say(`Nobody is notified. For example: \`${this.hint('notify', 'set', 'phone', '--url', 'https://push.example/in')}\``);
      return 'ok';
    });
  }
}

/** Prints the secret, or `{success, target, secret}`. */
export class NotifySetCommand extends ServerCommand {
  static override readonly paths = [['notify', 'set']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Notify a receiver of yours of what needs people',
    details: `
      Sends signed webhooks (Standard Webhooks) to the address. Prints the secret of a new target, once. A target that is there is replaced: all else has its default, and its
      secret stays unless \`--new-secret\` is given. Without \`--event\`, it hears of calls that wait, failed messages and reached caps. With \`--url-stdin\`, the address is read from standard input:
      that of a chat program may be a secret. \`--links\` adds a link to calls that wait, which decides; it needs \`--public-url\`, the address under which you reach this server.
    `,
    examples: [
      ['Your phone', '$0 notify set phone --url https://push.example/in'],
      ['Answers of some blocks', '$0 notify set desk --url http://127.0.0.1:9000/ --event message.done --block "team-*"'],
      ['With links that decide', '$0 notify set phone --url https://push.example/in --links --public-url https://blocks.example'],
    ],
  });

  url = Option.String('--url', { description: 'Where notices are sent' });
  urlStdin = Option.Boolean('--url-stdin', false, { description: 'Read the address from standard input' });
  events = Option.Array('--event', { description: 'What it hears of: approval.asked, message.failed, cap.reached or message.done. May be repeated' });
  blocks = Option.Array('--block', { description: 'A block that it hears of; * at the end stands for any characters. May be repeated' });
  links = Option.Boolean('--links', false, { description: 'Let a link in notices of calls that wait decide' });
  publicURL = Option.String('--public-url', { description: 'The address under which people reach this server' });
  newSecret = Option.Boolean('--new-secret', false, { description: 'Make another secret' });
  target = Option.String({ name: 'target' });

  protected override async run(): Promise<ExitKind> {
    if ((this.url === undefined) !== this.urlStdin) throw new CliError('usage', 'Give the address: --url or --url-stdin, one of the two.');
    const url = this.urlStdin ? await this.#readAddress() : (this.url ?? '');
    return this.withServer(async (api) => {
      const given = {
        url,
        events: this.events,
        blocks: this.blocks,
        publicURL: this.publicURL,
        links: this.links,
        newSecret: this.newSecret ? true : undefined,
      };
      const set = await api.setNotifyTarget(
        this.target,
        Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as unknown as SetNotifyTarget,
      );
      await this.print(set, set.secret === undefined ? [] : [oneLine(set.secret)]);
      if (!this.json) {
        const told = `${oneLine(set.target.name)} hears of ${set.target.events.join(', ')}.${set.secret === undefined ? '' : ' The secret is shown this once.'}`;
        await this.say(`${told} \`${this.hint('notify', 'test', this.target)}\` tries it.`);
      }
      return 'ok';
    });
  }

  async #readAddress(): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.context.stdin) chunks.push(Buffer.from(chunk as Buffer));
    return Buffer.concat(chunks).toString('utf8').trim();
  }
}

/** Prints nothing, or `{delivered, status, problem, ms}`. */
export class NotifyTestCommand extends ServerCommand {
  static override readonly paths = [['notify', 'test']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Send a target a notice that says nothing',
    details: 'Says what became of it, and fails if it was not taken. It is sent once, also to a target that is off.',
    examples: [['Try one', '$0 notify test phone']],
  });

  target = Option.String({ name: 'target' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const tested = await api.testNotifyTarget(this.target);
      await this.print(tested, []);
      if (!this.json) await this.say(testText(this.target, tested));
      return tested.delivered ? 'ok' : 'provider';
    });
  }
}

/** Prints nothing, or `{success, message}`. */
export class NotifyRemoveCommand extends DestructiveCommand {
  static override readonly paths = [['notify', 'rm']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Remove a target of notifications, with its secret and its links',
    details: 'What waits for it is not sent any more, and links that it has got open nothing. At a terminal, it asks first; elsewhere it needs `--yes`.',
    examples: [['Remove one', '$0 notify rm phone']],
  });

  target = Option.String({ name: 'target' });

  protected override async run(): Promise<ExitKind> {
    const name = oneLine(this.target);
    return this.onceAgreed(`Remove the target ${name}, with its secret and its links?`, `This removes the target ${name}.`, () =>
      this.withServer(async (api) => {
        const removed = await api.removeNotifyTarget(this.target);
        await this.print(removed, []);
        await this.say(oneLine(removed.message));
        return 'ok';
      }),
    );
  }
}
