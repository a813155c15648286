// `blockhouse send` and `queue`: messages to a block.
import { Command, Option } from 'clipanion';
import type { Api, Told } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { readMessage } from '../input/input.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { isTerminal, oneLine, writeLines } from '../terminal/output.ts';
import { isWatched } from '../terminal/spinner.ts';
import { queueTable } from '../views/report-tables.ts';

const category = 'Messages';

/** Prints the id, or the answer; with `--json`, the receipt, or the steps and the outcome. */
export class SendCommand extends ServerCommand {
  static override readonly paths = [['send']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Send a message to a block',
    details: `
      Prints the id of the message once it is on disk; with \`--wait\` the answer, with \`--stream\` the answer while it is written.

      Piped input follows the message after a blank line, or is the message if there is none. If the pipe stays empty for 10 seconds
      (1 second if a program other than a shell opened it), the message is sent without it; with \`-\` as the message, the command waits
      as long as it takes. In a loop such as \`while read\`, add \`< /dev/null\`, or the command reads the input of the loop.

      The wait ends with the answer, when the message fails, or after \`--timeout\`, and then the message stays. A block that is stopped,
      paused or failed will not answer; the command says so at once, with the command that changes it, and ends with exit code 7. With
      \`--timeout\`, it waits all the same. An answer that a stop cuts off is printed as far as it goes, and the exit code is 1.

      A message with the same \`--client-id\` is sent only once. With \`--json --stream\`, each step is a JSON line, and the outcome is the last. Ctrl-C
      cancels the message, also at the provider, and prints what there is of the answer; a second one leaves at once.
    `,
    examples: [
      ['Leave a message', '$0 send my-block "Any news?"'],
      ['See the answer while it is written', '$0 send my-block --stream "Why is the sky blue?"'],
      ['Ask about a log', 'cat error.log | $0 send my-block --wait "What went wrong?" > answer.txt'],
    ],
  });

  wait = Option.Boolean('--wait', false, { description: 'Wait for the answer and print it' });
  stream = Option.Boolean('--stream', false, { description: 'Print the answer while it is written' });
  timeout = Option.String('--timeout', { description: 'The longest wait for the answer; default: 600' });
  verbose = Option.Boolean('-v,--verbose', false, { description: 'At a terminal, show how fast the reply was' });
  clientId = Option.String('--client-id', { description: 'Your own id of this message; a second message with it is not sent' });
  name = Option.String({ name: 'block' });
  message = Option.String({ required: false, name: 'message' });

  protected override async run(): Promise<ExitKind> {
    const { exchange, remarkOn, waitMs } = await import('../talk/exchange.ts');
    const timeoutMs = waitMs(this.timeout);
    if (this.timeout !== undefined && !this.wait && !this.stream) throw new CliError('usage', '--timeout needs --wait or --stream.');
    return this.withServer(async (api, signal) => {
      const { stdin, env } = this.context;
      const { name: block, stdout, stderr, json, verbose: isVerbose, stream: isStreamed, clientId } = this;
      const say = (text: string): Promise<void> => this.say(text);
      const sender = { api, block, say, hint: (...words: string[]) => this.hint(...words) };
      const message = await readMessage(this.message, { input: stdin, isTerminal: isTerminal(stdin), signal, say });
      if (this.wait || this.stream) {
        const view = { stdout, stderr, json, isStreamed, isVerbose, isWatched: !json && isWatched(stderr, env) };
        return exchange(message, { ...sender, ...view, api: api.unabortable, timeoutMs, waitsAnyway: this.timeout !== undefined, clientId, signal });
      }
      const receipt = await api.post(block, message, clientId);
      await this.print(receipt, [oneLine(receipt.id)]);
      await remarkOn(receipt, sender);
      return 'ok';
    });
  }
}

const WAITING: readonly string[] = ['queued', 'processing', 'waiting-approval', 'failed', 'expired', 'cancelled'];

/** Prints `{messages}`, a table, or `{results}` of the changes. */
export class QueueCommand extends ServerCommand {
  static override readonly paths = [['queue']];
  static override readonly usage = Command.Usage({
    category,
    description: 'List, cancel or retry the messages that have no answer',
    details: `
      Cancelling a message that is being answered ends its reply; the text so far is kept. The beginning of an id is enough, if no
      other message has the same.
    `,
    examples: [
      ['List them', '$0 queue my-block'],
      ['Cancel one that waits or failed', '$0 queue my-block --cancel <message-id>'],
      ['Queue one again', '$0 queue my-block --retry <message-id>'],
    ],
  });

  cancel = Option.Array('--cancel', [], { description: 'A message to cancel; may be given several times' });
  retry = Option.Array('--retry', [], { description: 'A message to queue again; may be given several times' });
  name = Option.String({ name: 'block' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const { cancel, retry } = this;
      if (cancel.length > 0 && retry.length > 0) throw new CliError('usage', 'Give either --cancel or --retry, not both.');
      const action = cancel.length > 0 ? 'cancel' : 'retry';
      const ids = [...cancel, ...retry];
      if (ids.length > 0) return this.#change(api, ids, action);
      const messages = (await api.history(this.name)).filter(({ role, status }) => role === 'user' && WAITING.includes(status));
      const lines = this.json || messages.length === 0 ? [] : queueTable(messages, { now: Date.now(), width: this.width, style: this.style });
      if (this.json) await this.print({ messages }, []);
      else await writeLines(this.stdout, lines);
      if (!this.json && messages.length === 0) await this.say('Every message has its answer.');
      return 'ok';
    });
  }

  async #change(api: Api, ids: readonly string[], action: 'cancel' | 'retry'): Promise<ExitKind> {
    const { byId, entryIds } = await import('../input/id-prefix.ts');
    const change = (id: string): Promise<Told> => api.changeMessage(this.name, id, action);
    return this.forEach(ids, (id) => byId(id, () => entryIds(api, this.name), change));
  }
}
