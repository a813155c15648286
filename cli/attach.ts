// A person talks with a block: each line is a message, and its reply is shown while it is written.
//
// ctrl-c-ends-reply: Ctrl-C cancels the reply that the person waits for; without one, it leaves. Leaving cancels no reply.
// prompt-returns: while a block waits for a person, the prompt comes back. The message stays, and its reply is shown after /start.
// lines-are-messages: without a terminal, every line of the input is a message, and the end of input leaves.
import type { Writable } from 'node:stream';
import type { Api } from './api.ts';
import { memoryText, stateCell, whyText } from './block-text.ts';
import { CONNECTION_NOTES, Conversation, faultOf } from './conversation.ts';
import { newestEntries, shortConversation } from './conversation-text.ts';
import { CliError, type ExitKind, worstOf } from './exit-codes.ts';
import { createLineInput, type LineInput, type LineStreams } from './line-input.ts';
import { oneLine, type Style, widthOf, writeLines } from './output.ts';
import { ReplyPrinter } from './reply-printer.ts';
import { Spinner } from './spinner.ts';
import { withSpinner } from './wait-display.ts';
import { speedText } from './wait-text.ts';

/** What a talk needs. */
export interface AttachOptions extends LineStreams {
  /** Its calls are not aborted by `signal`, because cancelling a reply is a call, too. */
  readonly api: Api;
  readonly block: string;
  readonly stdout: Writable;
  readonly style: Style;
  /** Whether a person sees what a message waits for. */
  readonly isWatched: boolean;
  /** Whether that person also sees how fast each reply was. */
  readonly isVerbose: boolean;
  /** Aborted by SIGINT. At a terminal, Ctrl-C is a key instead. */
  readonly signal: AbortSignal;
}

const HELP = `Each line is a message; end a line with \\ to continue it on the next one.
/why     why the block is in its state       /start   start its monitor
/memory  what it remembers                   /stop    stop its monitor
/quit    leave, as Ctrl-D does               //text   a message that begins with /
Ctrl-C ends the reply.`;

/** How much of the conversation so far is shown at the start. */
const LAST_ENTRIES = 6;
const LAST_LINES = 6;

/** Talks until the person leaves. Resolves with `ok` at a terminal, else with the worst outcome of the messages. Rejects with a CliError. */
export async function attach(options: AttachOptions): Promise<ExitKind> {
  const { pulse, config } = await options.api.details(options.block);
  const conversation = await Conversation.open(options.api, options.block);
  const session = new Session(options, conversation);
  try {
    const state = stateCell(pulse, options.style);
    if (options.terminal) {
      await writeLines(options.output as Writable, await lastTurns(options));
      await session.say(`${options.style.bold(options.block)}  ${state.paint(state.text)}  ${oneLine(config.adapter?.model ?? 'no model')}`);
      await session.say(options.style.dim('Ctrl-C ends a reply, Ctrl-D leaves, /help lists the commands.'));
    }
    return await session.run();
  } finally {
    session.close();
    conversation.close();
  }
}

/** The end of the conversation so far. */
async function lastTurns({ api, block, output, style }: AttachOptions): Promise<string[]> {
  const entries = await newestEntries(api, block, LAST_ENTRIES);
  return shortConversation(block, entries, LAST_LINES, { now: Date.now(), style, width: widthOf(output) });
}

/** States that only a person can end. */
const WAITS_FOR_A_PERSON: ReadonlySet<string> = new Set(['unconfigured', 'stopped', 'paused', 'failed']);

/** Ends the wait for a reply that does not come by itself (prompt-returns). */
class Stuck extends Error {}

class Session {
  readonly #options: AttachOptions;
  readonly #conversation: Conversation;
  readonly #lines: LineInput;
  /** Ids of messages that have no reply yet, oldest first. */
  readonly #unanswered: string[] = [];
  #current: string | undefined;
  /** The state that was last shown during this wait. */
  #toldState: string | undefined;
  /** A message is being sent, and its id is not known yet. */
  #isSending = false;
  /** Ctrl-C was pressed before the id was known. */
  #isUnwanted = false;
  #hasLeft = false;
  #left = (): void => undefined;
  #spinner: Spinner | undefined;
  /** Ends a wait for a server that is away. */
  readonly #abandoned = new AbortController();

  constructor(options: AttachOptions, conversation: Conversation) {
    this.#options = options;
    this.#conversation = conversation;
    this.#lines = createLineInput(options, () => this.#interrupt());
  }

  close(): void {
    this.#lines.close();
  }

  async say(text: string): Promise<void> {
    this.#spinner?.clear();
    await writeLines(this.#options.output as Writable, [text]);
  }

  async run(): Promise<ExitKind> {
    const { terminal, block, style, signal } = this.#options;
    const kinds: ExitKind[] = [];
    signal.addEventListener('abort', () => this.#interrupt());
    const leaving = new Promise<undefined>((resolve) => {
      this.#left = () => resolve(undefined);
    });
    while (!this.#hasLeft) {
      const text = await Promise.race([this.#message(`${style.bold(block)} › `), leaving]);
      if (text === undefined) break;
      if (text.trim() !== '') kinds.push(await this.#take(text));
    }
    if (terminal) await this.say('');
    if (signal.aborted) throw new CliError('interrupted', 'interrupted');
    return terminal ? 'ok' : worstOf(kinds);
  }

  /** A line, together with the lines that continue it. */
  async #message(prompt: string): Promise<string | undefined> {
    let text = await this.#lines.next(prompt);
    while (this.#options.terminal && text?.endsWith('\\')) {
      const more = await this.#lines.next(this.#options.style.dim('… '));
      text = `${text.slice(0, -1)}\n${more ?? ''}`;
    }
    return text;
  }

  /** Reports the failure of one message and continues; a failure of the server ends the talk. */
  async #take(text: string): Promise<ExitKind> {
    try {
      // Commands exist only at a terminal (lines-are-messages).
      const isMarked = this.#options.terminal && text.startsWith('/');
      if (isMarked && !text.startsWith('//')) await this.#command(text.trim());
      else await this.#send(isMarked ? text.slice(1) : text);
      return 'ok';
    } catch (error) {
      if (!(error instanceof CliError) || ['server', 'interrupted'].includes(error.kind)) throw error;
      await this.say(this.#options.style.bad(`blockhouse: ${oneLine(error.message)}`));
      return error.kind;
    }
  }

  async #send(text: string): Promise<void> {
    const { terminal } = this.#options;
    this.#isSending = true;
    this.#isUnwanted = false;
    const receipt = await this.#conversation.send(text, this.#abandoned.signal, { connection: (state) => this.say(CONNECTION_NOTES[state]) }).finally(() => {
      this.#isSending = false;
    });
    this.#unanswered.push(receipt.id);
    if (this.#isUnwanted) this.#cancel(receipt.id);
    if (receipt.running || !terminal || this.#isUnwanted) await this.#answers();
    else await this.say('note: the message waits, because the monitor does not run; /start starts it.');
  }

  /** Waits for the replies of all messages without one and shows them. */
  async #answers(): Promise<void> {
    for (let id = this.#unanswered.shift(); id !== undefined; id = this.#unanswered.shift()) {
      const printer = new ReplyPrinter(this.#options.stdout, (text) => this.say(text));
      const spinner = new Spinner(this.#options.output as Writable, this.#options.isWatched);
      this.#spinner = spinner;
      this.#current = id;
      try {
        const outcome = await this.#conversation.outcome(
          id,
          withSpinner(
            {
              step: (step) => printer.step(step),
              stalled: () => this.#tellWhy(),
              connection: (state) => printer.remark(CONNECTION_NOTES[state]),
            },
            spinner,
            { api: this.#options.api, block: this.#options.block, id, ahead: 0, isRunning: true, isStreamed: true },
          ),
          this.#abandoned.signal,
        );
        spinner.stop();
        await printer.finish(outcome);
        const speed = this.#options.isVerbose && outcome.answer !== undefined ? speedText(outcome.answer) : undefined;
        if (speed !== undefined) await this.say(this.#options.style.dim(speed));
        const fault = faultOf(outcome);
        // The printer has shown what there is of an interrupted answer, and has said that it was interrupted.
        if (fault !== undefined && outcome.answer === undefined) throw fault;
      } catch (error) {
        if (!(error instanceof Stuck)) throw error;
        this.#unanswered.unshift(id);
        return;
      } finally {
        this.#current = undefined;
        this.#toldState = undefined;
        spinner.stop();
        await printer.end();
      }
    }
  }

  async #tellWhy(): Promise<void> {
    const { state, why, next } = await this.#options.api.explain(this.#options.block);
    if (state !== this.#toldState && state !== 'working' && state !== 'idle') await this.say(`note: ${oneLine(`${why} ${next}`)}`);
    this.#toldState = state;
    if (!this.#options.terminal || !WAITS_FOR_A_PERSON.has(state)) return;
    await this.say('note: the message waits; /start tries again, /why explains.');
    throw new Stuck();
  }

  /** ctrl-c-ends-reply. */
  #interrupt(): void {
    const isIdle = this.#current === undefined && !this.#isSending;
    if (isIdle || this.#options.signal.aborted) this.#leave();
    if (this.#conversation.isAway) this.#abandoned.abort();
    else if (this.#isSending) this.#isUnwanted = true;
    else if (this.#current !== undefined) this.#cancel(this.#current);
  }

  #cancel(id: string): void {
    const cancelled = this.#options.api.changeMessage(this.#options.block, id, 'cancel');
    cancelled.catch((error: Error) => this.say(`blockhouse: ${oneLine(error.message)}`));
  }

  #leave(): void {
    this.#hasLeft = true;
    this.#left();
  }

  async #command(line: string): Promise<void> {
    const { api, block, style, stdout } = this.#options;
    const now = Date.now();
    if (line === '/quit' || line === '/exit') return this.#leave();
    if (line === '/why') return writeLines(stdout, whyText(await api.explain(block), { now, style }));
    if (line === '/memory') return writeLines(stdout, memoryText(await api.details(block), { now, style }));
    if (line === '/start' || line === '/stop') {
      await this.say(oneLine((await api.monitor(block, line === '/start' ? 'start' : 'stop')).message));
      if (line === '/start') await this.#answers();
      return;
    }
    await this.say(line === '/help' ? HELP : 'There is no such command; /help lists them.');
  }
}
