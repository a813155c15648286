// `blockhouse again`: the last message to a block once more, changed or for another model.
import { Command, Option } from 'clipanion';
import type { Api } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { readMessage } from '../input/input.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { isTerminal } from '../terminal/output.ts';
import { isWatched } from '../terminal/spinner.ts';

/** Prints the new answer, while it is written at a terminal; with `--json` the outcome. */
export class AgainCommand extends ServerCommand {
  static override readonly paths = [['again']];
  static override readonly usage = Command.Usage({
    category: 'Messages',
    description: 'Ask the last message to a block again',
    details: `
      Asks the last message once more, with another text if you give one, and prints the new answer. The earlier version and its answer stay in the history, and
      models no longer see them. \`-\` reads the text from standard input.

      With \`--model\`, that model answers this time, and no fallback; the configuration of the block stays as it is. A message that waits or is being answered
      can't be asked again: cancel it first. The wait ends as that of \`send --wait\`. Ctrl-C cancels the message, also at the provider; a second one leaves at once.
    `,
    examples: [
      ['A new answer', '$0 again my-block'],
      ['The question as it should have been', '$0 again my-block "Why is the sky blue at noon?"'],
      ['What another model says', '$0 again my-block --model <model>'],
    ],
  });

  model = Option.String('-m,--model', { description: 'The model to ask this time; before it may stand its provider, as provider/model' });
  provider = Option.String('-a,--adapter,--provider', { description: "The provider of that model; default: the block's" });
  timeout = Option.String('--timeout', { description: 'The longest wait for the answer; default: 600' });
  whole = Option.Boolean('--no-stream', false, { description: 'Print the answer when it is complete' });
  name = Option.String({ name: 'block' });
  message = Option.String({ required: false, name: 'message' });

  protected override async run(): Promise<ExitKind> {
    const { exchange, waitMs } = await import('../talk/exchange.ts');
    const { name: block, stdout, stderr, json, provider, model, whole } = this;
    if (provider !== undefined && model === undefined) throw new CliError('usage', '--provider needs --model.');
    const timeoutMs = waitMs(this.timeout);
    return this.withServer(async (api, signal) => {
      const say = (text: string): Promise<void> => this.say(text);
      const message = await this.#text(signal);
      const change = { ...(message !== undefined && { message }), ...(provider !== undefined && { provider }), ...(model !== undefined && { model }) };
      const view = { stdout, stderr, json, isStreamed: !whole && !json, isVerbose: false, isWatched: !json && isWatched(stderr, this.context.env) };
      const sender = { api: api.unabortable, block, say, hint: (...words: string[]) => this.hint(...words) };
      const opening = { again: await lastMessage(api, block), change };
      return exchange(opening, { ...sender, ...view, signal, timeoutMs, waitsAnyway: this.timeout !== undefined });
    });
  }

  async #text(signal: AbortSignal): Promise<string | undefined> {
    if (this.message !== '-') return this.message;
    const { stdin } = this.context;
    return readMessage('-', { input: stdin, isTerminal: isTerminal(stdin), signal, say: (text) => this.say(text) });
  }
}

async function lastMessage(api: Api, block: string): Promise<string> {
  const last = (await api.history(block)).findLast(({ role }) => role === 'user');
  if (last === undefined) throw new CliError('usage', `${block} has no message that could be asked again.`);
  return last.id;
}
