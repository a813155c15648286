// One message to a block and its answer, for `send --wait`, `send --stream` and `chat <block> <message>`.
//
// ctrl-c-ends-reply: once the message is sent, Ctrl-C cancels it, and what there is of its answer is printed. A second one ends the process.
import type { Writable } from 'node:stream';
import { timeLimit } from '../../core/base/abort.ts';
import type { AskAgain, BlockState, ChatReceipt, ReplyStep } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { plural } from '../terminal/format.ts';
import { oneLine, toJson, write } from '../terminal/output.ts';
import { Spinner } from '../terminal/spinner.ts';
import { speedText } from '../views/wait-text.ts';
import { CONNECTION_NOTES, Conversation, faultOf, type Outcome, type Watcher } from './conversation.ts';
import { ReplyPrinter } from './reply-printer.ts';
import { withSpinner } from './wait-display.ts';

/** The longest wait unless the caller names one: a script must not hang for ever. */
const WAIT_SECONDS = '600';
/** The longest timer of Node. */
const LONGEST_MS = 2_147_483_647;

/** What `--timeout` says, in milliseconds. Throws a CliError. */
export function waitMs(timeout: string = WAIT_SECONDS): number {
  const ms = Number(timeout) * 1000;
  if (!(ms > 0 && ms <= LONGEST_MS)) throw new CliError('usage', '--timeout must be a number of seconds above 0.');
  return ms;
}

/** The error of a wait that has lasted so long. */
export function tooLate(ms: number, what = '', cause?: unknown): CliError {
  return new CliError('provider', `No answer came within ${ms / 1000} s.${what}`, cause);
}

/** Who sends to which block. */
export interface Sender {
  /** Its calls are not aborted by the signal of an exchange, because cancelling is a call, too. */
  readonly api: Api;
  readonly block: string;
  /** Writes a remark for the person. */
  readonly say: (text: string) => Promise<void>;
  /** A command for this workspace, ready to paste. */
  readonly hint: (...words: string[]) => string;
}

/** What an exchange needs. */
export interface ExchangeOptions extends Sender {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly json: boolean;
  /** Whether the answer is printed while it is written. */
  readonly isStreamed: boolean;
  /** Whether a person sees what the message waits for. */
  readonly isWatched: boolean;
  /** Whether that person also sees how fast the reply was. */
  readonly isVerbose: boolean;
  readonly timeoutMs: number;
  /** Waits also for a block that answers only after somebody has changed something. */
  readonly waitsAnyway?: boolean;
  readonly clientId?: string | undefined;
  /** Cancels the message (ctrl-c-ends-reply). */
  readonly signal: AbortSignal;
}

/** States that a block leaves only when somebody does something, or when the day of its budget ends. */
const NEEDS_SOMEBODY: readonly BlockState[] = ['unconfigured', 'stopped', 'paused', 'waiting-approval', 'failed'];

/** Says what is in the way of an answer. Resolves with true if the answer can't come before somebody does something. */
export async function remarkOn({ running, position, note }: ChatReceipt, { api, block, say, hint }: Sender): Promise<boolean> {
  if (!running || note.includes('waits')) {
    const { state, why, fix } = await api.explain(block);
    if (running || state !== 'stopped') {
      await say(`note: ${oneLine(`${block} is ${state} and does not answer now. ${why}${cureText(fix)}`)}`);
      return !running || NEEDS_SOMEBODY.includes(state);
    }
  }
  if (!running) await say(`note: the monitor of ${block} is not running; \`${hint('start', block)}\` starts it.`);
  else if (position > 0) await say(`note: ${plural(position, 'message is', 'messages are')} before it in the queue.`);
  return !running;
}

/** A cure is a command, or a sentence with one. */
function cureText(fix: string | null): string {
  if (fix === null) return '';
  return fix.startsWith('blockhouse ') ? ` \`${fix}\` changes that.` : ` ${fix}`;
}

/** What an exchange begins with: a new message, or the last one again. */
export type Opening = string | { readonly again: string; readonly change: AskAgain };

/** Sends a message, waits for its answer and prints it; with `json`, the steps and the outcome. Rejects with a CliError. */
export async function exchange(opening: Opening, options: ExchangeOptions): Promise<ExitKind> {
  const conversation = await unlessAborted(Conversation.open(options.api, options.block), options.signal);
  const running = new Exchange(options, conversation);
  try {
    return await running.run(opening);
  } finally {
    await running.end();
    conversation.close();
  }
}

/** The result of work that cannot be aborted itself. Rejects with a CliError when the signal fires first. */
function unlessAborted(opening: Promise<Conversation>, signal: AbortSignal): Promise<Conversation> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(new CliError('interrupted', 'interrupted'));
      opening.then(
        (late) => late.close(),
        () => undefined, // nobody waits for it any more
      );
    };
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    opening.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

class Exchange {
  readonly #options: ExchangeOptions;
  readonly #conversation: Conversation;
  readonly #spinner: Spinner;
  readonly #printer: ReplyPrinter;
  #toldState = '';
  /** Ends the wait without an outcome. */
  readonly #leaving = new AbortController();

  constructor(options: ExchangeOptions, conversation: Conversation) {
    this.#options = options;
    this.#conversation = conversation;
    this.#spinner = new Spinner(options.stderr, options.isWatched);
    this.#printer = new ReplyPrinter(options.stdout, (text) => this.#say(text));
  }

  async run(opening: Opening): Promise<ExitKind> {
    const { clientId, signal, json } = this.#options;
    const connection = (state: 'lost' | 'back'): Promise<void> => this.#say(CONNECTION_NOTES[state]);
    const sending = { clientId, connection };
    const receipt = await (typeof opening === 'string'
      ? this.#conversation.send(opening, signal, sending)
      : this.#conversation.askAgain(opening.again, opening.change, signal, sending));
    const isStuck = await remarkOn(receipt, { ...this.#options, say: (text) => this.#say(text) });
    if (isStuck) this.#assertWaits(receipt.id);
    const cancel = (): void => void this.#cancel(receipt.id);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    const outcome = await this.#wait(receipt);
    this.#spinner.stop();
    const fault = signal.aborted && outcome.message.status === 'cancelled' ? this.#cancelled(receipt.id) : faultOf(outcome);
    if (json) await this.#printOutcome(outcome, fault);
    else await this.#printer.finish(outcome);
    await this.#saySpeed(outcome);
    if (fault === undefined) return 'ok';
    if (!json && fault.kind !== 'interrupted') throw fault;
    await this.#say(`${fault.kind === 'interrupted' ? '' : 'blockhouse: '}${oneLine(fault.message)}`);
    return fault.kind;
  }

  /** ctrl-c-ends-reply. */
  async #cancel(id: string): Promise<void> {
    const { api, block } = this.#options;
    try {
      if (!this.#conversation.isAway) return void (await api.changeMessage(block, id, 'cancel'));
    } catch (error) {
      if (error instanceof CliError && error.body?.code === 'WRONG_STATE') return; // it has just ended, and its outcome is printed
      await this.#printer.end(); // at a terminal, the remark must not continue the line of the reply
      await this.#say(`blockhouse: ${oneLine((error as Error).message)}`);
    }
    await this.#printer.end();
    await this.#say(`The message stays in the queue; \`${this.#hint('queue', '--cancel', id)}\` cancels it.`);
    this.#leaving.abort();
  }

  #cancelled(id: string): CliError {
    return new CliError('interrupted', `The message is cancelled; \`${this.#hint('queue', '--retry', id)}\` sends it again.`);
  }

  async end(): Promise<void> {
    this.#spinner.stop();
    await this.#printer.end();
  }

  /** A command about this block, with the block's name after its first word. */
  #hint(command: string, ...words: string[]): string {
    return this.#options.hint(command, this.#options.block, ...words);
  }

  #say(text: string): Promise<void> {
    this.#spinner.clear();
    return this.#options.say(text);
  }

  /** Throws where a wait would only use up its time. */
  #assertWaits(id: string): void {
    const { block, waitsAnyway = false } = this.#options;
    if (waitsAnyway) return;
    const text = `${block} will not answer before that changes. The message stays in the queue; \`${this.#hint('history', '--id', id)}\` shows its answer then.`;
    throw new CliError('waiting', text);
  }

  async #wait({ id, position, running }: ChatReceipt): Promise<Outcome> {
    const { api, block, timeoutMs, isStreamed } = this.#options;
    const watcher = withSpinner(this.#watcher(id), this.#spinner, { api, block, id, ahead: position, isRunning: running, isStreamed });
    const tooLong = timeLimit(timeoutMs);
    try {
      return await this.#conversation.outcome(id, watcher, AbortSignal.any([this.#leaving.signal, tooLong]));
    } catch (error) {
      if (error instanceof CliError && error.kind === 'server') {
        throw new CliError('server', `${error.message} The message stays; \`${this.#hint('history', '--id', id)}\` shows its answer.`, error);
      }
      if (!tooLong.aborted || this.#leaving.signal.aborted) throw error;
      throw tooLate(timeoutMs, ` The message stays in the queue; \`${this.#hint('queue')}\` shows it.`, error);
    }
  }

  #watcher(id: string): Watcher {
    return {
      step: (step) => this.#step(step),
      stalled: async () => {
        if (NEEDS_SOMEBODY.includes(await this.#tellWhy())) this.#assertWaits(id);
      },
      connection: (state) => this.#printer.remark(CONNECTION_NOTES[state]),
    };
  }

  async #step(step: ReplyStep): Promise<void> {
    const { isStreamed, json, stdout } = this.#options;
    if (isStreamed) await (json ? write(stdout, `${toJson(step)}\n`) : this.#printer.step(step));
  }

  async #tellWhy(): Promise<BlockState> {
    const { block, api } = this.#options;
    const { state, why, next, fix } = await api.explain(block);
    const lines = [`note: ${block} is ${state}. ${why}`, `Next: ${next}`, cureText(fix).trim()].filter((line) => line !== '');
    if (state !== this.#toldState && state !== 'working' && state !== 'idle') for (const line of lines) await this.#say(oneLine(line));
    this.#toldState = state;
    return state;
  }

  async #saySpeed({ answer }: Outcome): Promise<void> {
    const { isVerbose, isWatched } = this.#options;
    const speed = isVerbose && isWatched && answer !== undefined ? speedText(answer) : undefined;
    if (speed !== undefined) await this.#say(speed);
  }

  async #printOutcome({ message, answer }: Outcome, fault: CliError | undefined): Promise<void> {
    const type = this.#options.isStreamed ? { event: 'outcome' } : {};
    const outcome = { ...type, status: message.status, message, answer: answer ?? null, ...(fault !== undefined && { error: fault.message }) };
    await write(this.#options.stdout, `${toJson(outcome)}\n`);
  }
}
