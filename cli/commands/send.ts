// `blockhouse send` and `queue`: messages to a block.
import { Command, Option } from 'clipanion';
import type { ChatReceipt, ReplyStep } from '../../core/index.ts';
import type { Api, Told } from '../api.ts';
import type { Outcome, Watcher } from '../conversation.ts';
import { CliError, type ExitKind } from '../exit-codes.ts';
import { readMessage } from '../input.ts';
import { isTerminal, oneLine, toJson, write, writeLines } from '../output.ts';
import { queueTable } from '../report-tables.ts';
import { ServerCommand } from '../server-command.ts';
import { isWatched, Spinner } from '../spinner.ts';

const category = 'Messages';
/** The longest wait without `--timeout`: a script must not hang for ever. */
const WAIT_SECONDS = 600;
/** The longest timer of Node. */
const LONGEST_MS = 2_147_483_647;

/** Prints the id, or the answer; with `--json`, the receipt, or the steps and the outcome. */
export class SendCommand extends ServerCommand {
  static override readonly paths = [['send']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Send a message to a block',
    details: `
      The message is the argument, or standard input when it is \`-\` or when nothing is given and input is piped. It is on disk before
      the command ends. Prints the id of the message; with \`--wait\` the answer, with \`--stream\` the answer while it is written.

      The wait ends with the answer, when the message fails, or after \`--timeout\`, and then the message stays. A block that is stopped,
      paused or failed will not answer; the command says so at once, with the command that changes it.

      A message with the same \`--client-id\` is sent only once. With \`--json --stream\`, each step is a JSON line, and the outcome is the last. Ctrl-C
      ends the command and not the reply.
    `,
    examples: [
      ['Leave a message', '$0 send my-block "Any news?"'],
      ['See the answer while it is written', '$0 send my-block --stream "Why is the sky blue?"'],
      ['Ask about a file', '$0 send my-block --wait < notes.txt > answer.txt'],
    ],
  });

  wait = Option.Boolean('--wait', false, { description: 'Wait for the answer and print it' });
  stream = Option.Boolean('--stream', false, { description: 'Print the answer while it is written' });
  timeout = Option.String('--timeout', { description: 'The longest wait for the answer; default: 600' });
  verbose = Option.Boolean('-v,--verbose', false, { description: 'At a terminal, show how fast the reply was' });
  clientId = Option.String('--client-id', { description: 'Your own id of this message; a second message with it is not sent' });
  name = Option.String({ name: 'name' });
  message = Option.String({ required: false, name: 'message' });

  #spinner: Spinner | undefined;

  protected override async run(): Promise<ExitKind> {
    const timeoutMs = Number(this.timeout ?? WAIT_SECONDS) * 1000;
    if (!(timeoutMs > 0 && timeoutMs <= LONGEST_MS)) throw new CliError('usage', '--timeout must be a number of seconds above 0.');
    if (this.timeout !== undefined && !this.wait && !this.stream) throw new CliError('usage', '--timeout needs --wait or --stream.');
    return this.withServer(async (api, signal) => {
      const message = await readMessage(this.message, isTerminal(this.context.stdin), this.context.stdin, signal);
      if (this.wait || this.stream) return this.#converse(api, message, signal, timeoutMs);
      const receipt = await api.post(this.name, message, this.clientId);
      await this.print(receipt, [oneLine(receipt.id)]);
      await this.#remark(api, receipt);
      return 'ok';
    });
  }

  protected override say(text: string): Promise<void> {
    this.#spinner?.clear();
    return super.say(text);
  }

  async #remark(api: Api, { running, position, note }: ChatReceipt): Promise<void> {
    if (running && note.includes('waits')) await this.say(`note: ${oneLine(await this.#hindrance(api))}`);
    else if (!running) await this.say(`note: the monitor of ${this.name} does not run; \`${this.hint('start', this.name)}\` starts it.`);
    else if (position > 0) await this.say(`note: messages before it: ${position}.`);
  }

  /** Why it does not answer now, and the command that changes it. */
  async #hindrance(api: Api): Promise<string> {
    const { state, why, fix } = await api.explain(this.name);
    return `${this.name} is ${state} and does not answer now. ${why}${fix === null ? '' : ` \`${fix}\` changes that.`}`;
  }

  async #converse(api: Api, message: string, signal: AbortSignal, timeoutMs: number): Promise<ExitKind> {
    const { CONNECTION_NOTES, Conversation, faultOf } = await import('../conversation.ts');
    const { ReplyPrinter } = await import('../reply-printer.ts');
    const conversation = await Conversation.open(api, this.name);
    const { withSpinner } = await import('../wait-display.ts');
    const { speedText } = await import('../wait-text.ts');
    const spinner = new Spinner(this.stderr, !this.json && isWatched(this.stderr, this.context.env));
    this.#spinner = spinner;
    const printer = new ReplyPrinter(this.stdout, (text) => this.say(text));
    try {
      const receipt = await conversation.send(message, signal, { clientId: this.clientId, connection: (state) => this.say(CONNECTION_NOTES[state]) });
      await this.#remark(api, receipt);
      // At a terminal, the remark must not continue the line of the reply.
      const leave = (): Promise<void> => this.say(`The message stays; \`${this.hint('queue', this.name, '--cancel', receipt.id)}\` cancels it.`);
      signal.addEventListener('abort', () => void printer.end().then(leave));
      const tooLong = AbortSignal.timeout(timeoutMs);
      const outcome = await conversation
        .outcome(
          receipt.id,
          withSpinner(
            {
              ...this.#watcher(api, (step) => printer.step(step)),
              connection: (state) => printer.remark(CONNECTION_NOTES[state]),
            },
            spinner,
            { api, block: this.name, id: receipt.id, ahead: receipt.position, isRunning: receipt.running, isStreamed: this.stream },
          ),
          AbortSignal.any([signal, tooLong]),
        )
        .catch((error: unknown) => {
          if (error instanceof CliError && error.kind === 'server') {
            const later = this.hint('history', this.name, '--id', receipt.id);
            throw new CliError('server', `${error.message} The message stays; \`${later}\` shows its answer.`, error);
          }
          if (!tooLong.aborted || signal.aborted) throw error;
          throw new CliError(
            'provider',
            `There is no answer after ${timeoutMs / 1000} s; the message stays, and \`${this.hint('queue', this.name)}\` shows it.`,
            error,
          );
        });
      spinner.stop();
      const fault = faultOf(outcome);
      if (this.json) await this.#printOutcome(outcome, fault);
      else await printer.finish(outcome);
      const speed = this.verbose && spinner.isWatched && outcome.answer !== undefined ? speedText(outcome.answer) : undefined;
      if (speed !== undefined) await this.say(speed);
      if (fault === undefined) return 'ok';
      if (!this.json) throw fault;
      await this.say(`blockhouse: ${oneLine(fault.message)}`);
      return fault.kind;
    } finally {
      spinner.stop();
      await printer.end();
      conversation.close();
    }
  }

  #watcher(api: Api, show: (step: ReplyStep) => Promise<void>): Watcher {
    let told = '';
    const step = async (step: ReplyStep): Promise<void> => {
      if (this.stream) await (this.json ? write(this.stdout, `${toJson(step)}\n`) : show(step));
    };
    const stalled = async (): Promise<void> => {
      const { state, why, next } = await api.explain(this.name);
      if (state !== told && state !== 'working' && state !== 'idle') await this.say(`note: ${oneLine(`${why} ${next}`)}`);
      told = state;
    };
    return { step, stalled };
  }

  async #printOutcome({ message, answer }: Outcome, fault: CliError | undefined): Promise<void> {
    const type = this.stream ? { event: 'outcome' } : {};
    await write(
      this.stdout,
      `${toJson({ ...type, status: message.status, message, answer: answer ?? null, ...(fault !== undefined && { error: fault.message }) })}\n`,
    );
  }
}

const WAITING: readonly string[] = ['queued', 'processing', 'failed', 'expired', 'cancelled'];

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
  name = Option.String({ name: 'name' });

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
    const { byId, entryIds } = await import('../id-prefix.ts');
    const change = (id: string): Promise<Told> => api.changeMessage(this.name, id, action);
    return this.forEach(ids, (id) => byId(id, () => entryIds(api, this.name), change));
  }
}
