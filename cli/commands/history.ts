// `blockhouse history`: what was said to a block, and what it answered.
import { Command, Option } from 'clipanion';
import type { ChatEntry } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';

const USUAL_COUNT = 20;

/** Prints the messages and answers, or `{messages}`; with `--id` one message and its answer, or `{entry, answer}`. */
export class HistoryCommand extends ServerCommand {
  static override readonly paths = [['history']];
  static override readonly usage = Command.Usage({
    category: 'Messages',
    description: 'Read the conversation with a block',
    details: `
      Prints the newest messages and answers, oldest first, including those that have moved to the archive of the chat.

      \`--since\` is a time (\`30m\`, \`2h\`, \`3d\`, \`2026-11-22\`) or the id of a message; then all later ones are printed, unless \`-n\` is given.
    `,
    examples: [
      ['The newest 20 messages and answers', '$0 history my-block'],
      ['The last two hours', '$0 history my-block --since 2h'],
      ['The answer to a message that was sent before', '$0 history my-block --id <message-id>'],
    ],
  });

  count = Option.String('-n,--limit', { description: `How many messages and answers; default: ${USUAL_COUNT}` });
  since = Option.String('--since', { description: 'Only later ones: a time such as 2h or 2026-11-22, or a message id' });
  id = Option.String('--id', { description: 'Only the message with this id, and its answer; the beginning of the id is enough' });
  name = Option.String({ name: 'block' });

  protected override async run(): Promise<ExitKind> {
    if (this.id !== undefined && (this.since !== undefined || this.count !== undefined)) throw new CliError('usage', 'Give either --id, or --since and -n.');
    return this.withServer(async (api) => {
      if (this.id !== undefined) return this.#printOne(api, this.id);
      const messages = await this.#entries(api);
      await this.#print({ messages }, messages);
      if (messages.length > 0 || this.json) return 'ok';
      await this.say(`${this.name} has no messages${this.since === undefined ? ' yet' : ' since then'}.`);
      return 'ok';
    });
  }

  async #entries(api: Api): Promise<ChatEntry[]> {
    const { entriesAfter, entryCount, newestEntries, timeOf } = await import('../views/conversation-text.ts');
    const { since, name } = this;
    const most = entryCount(this.count, since === undefined ? USUAL_COUNT : Number.POSITIVE_INFINITY);
    if (since === undefined) return newestEntries(api, name, most);
    const time = timeOf(since, Date.now());
    if (time !== undefined) return newestEntries(api, name, most, time);
    const { byId, entryIds } = await import('../input/id-prefix.ts');
    return byId(
      since,
      () => entryIds(api, name),
      (id) => entriesAfter(api, name, most, id),
    ).catch((error: unknown) => {
      if (!(error instanceof CliError) || error.body?.code !== 'MESSAGE_NOT_FOUND') throw error;
      const text = `--since must be a time such as 2h or 2026-11-22, or the id of a message of ${name}; ${oneLine(since)} is neither.`;
      throw new CliError('usage', text, error, error.body);
    });
  }

  async #printOne(api: Api, id: string): Promise<ExitKind> {
    const { byId, entryIds } = await import('../input/id-prefix.ts');
    const found = await byId(
      id,
      () => entryIds(api, this.name),
      (whole) => api.message(this.name, whole),
    );
    await this.#print(found, found.answer == null ? [found.entry] : [found.entry, found.answer]);
    if (found.entry.role === 'user' && found.answer == null && !this.json) await this.say('It has no answer yet.');
    return 'ok';
  }

  async #print(document: object, entries: readonly ChatEntry[]): Promise<void> {
    const { conversationText } = await import('../views/conversation-text.ts');
    await this.print(document, conversationText(this.name, entries, { now: Date.now(), width: this.width, style: this.style }));
  }
}
