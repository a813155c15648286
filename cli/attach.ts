// A person talks with a block: a line is a message, its reply is shown while it is written.
//
// A1 Ctrl-C ends the reply that is being waited for; where there is none, it leaves. Leaving ends no reply.
// A2 While a block waits for a person, the person has the line again: the message waits, and its reply is shown when it comes after /start.
// A3 Without a terminal, each line of the input is a message, and the end of input leaves.
import type { Writable } from 'node:stream';
import type { Api } from './api.ts';
import { memoryText, stateCell, whyText } from './block-text.ts';
import { Conversation, faultOf } from './conversation.ts';
import { CliError, type ExitKind, worstOf } from './exit-codes.ts';
import { createLineInput, type LineInput, type LineStreams } from './line-input.ts';
import { oneLine, type Style, writeLines } from './output.ts';
import { ReplyPrinter } from './reply-printer.ts';

export interface AttachOptions extends LineStreams {
  /** Outlives `signal`: to end a reply is a call, too. */
  readonly api: Api;
  readonly block: string;
  readonly stdout: Writable;
  readonly style: Style;
  /** Aborted by Ctrl-C where there is no terminal to type it at. */
  readonly signal: AbortSignal;
}

const HELP = `Each line is a message; end a line with \\ to go on in the next one.
/why     why the block is in its state       /start   start its monitor
/memory  what it remembers                   /stop    stop its monitor
/quit    leave, as Ctrl-D does               //text   a message that begins with /
Ctrl-C ends the reply.`;

/** Talks until the person leaves. */
export async function attach(options: AttachOptions): Promise<ExitKind> {
  const { pulse, config } = await options.api.details(options.block);
  const conversation = await Conversation.open(options.api, options.block);
  const session = new Session(options, conversation);
  try {
    const state = stateCell(pulse, options.style);
    if (options.terminal) {
      await session.say(`${options.style.bold(options.block)}  ${state.paint(state.text)}  ${oneLine(config.adapter?.model ?? 'no model')}`);
      await session.say(options.style.dim('Ctrl-C ends a reply, Ctrl-D leaves, /help tells more.'));
    }
    return await session.run();
  } finally {
    session.close();
    conversation.close();
  }
}

/** Nothing happens by itself in these. */
const WAITS_FOR_A_PERSON: ReadonlySet<string> = new Set(['unconfigured', 'stopped', 'paused', 'failed']);

/** Ends the wait for a reply that does not come by itself (A2). */
class Stuck extends Error {}

class Session {
  readonly #options: AttachOptions;
  readonly #conversation: Conversation;
  readonly #lines: LineInput;
  /** Messages that were sent while nobody answered. */
  readonly #unanswered: string[] = [];
  #current: string | undefined;
  /** The state that the person was last told of while waiting. */
  #toldState: string | undefined;
  /** A message is on its way: its id is not known yet. */
  #isSending = false;
  /** Ctrl-C came before the id was known. */
  #isUnwanted = false;
  #hasLeft = false;
  #left = (): void => undefined;

  constructor(options: AttachOptions, conversation: Conversation) {
    this.#options = options;
    this.#conversation = conversation;
    this.#lines = createLineInput(options, () => this.#interrupt());
  }

  close(): void {
    this.#lines.close();
  }

  async say(text: string): Promise<void> {
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

  /** A line, and those that it goes on in. */
  async #message(prompt: string): Promise<string | undefined> {
    let text = await this.#lines.next(prompt);
    while (this.#options.terminal && text?.endsWith('\\')) {
      const more = await this.#lines.next(this.#options.style.dim('… '));
      text = `${text.slice(0, -1)}\n${more ?? ''}`;
    }
    return text;
  }

  /** A failure of one message is told; one of the server ends it all. */
  async #take(text: string): Promise<ExitKind> {
    try {
      // Only a person gives commands; whatever is piped in is a message.
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
    const receipt = await this.#conversation.send(text).finally(() => {
      this.#isSending = false;
    });
    this.#unanswered.push(receipt.id);
    if (this.#isUnwanted) this.#cancel(receipt.id);
    if (receipt.running || !terminal || this.#isUnwanted) await this.#answers();
    else await this.say('note: the message waits, as the monitor does not run; /start starts it.');
  }

  /** Shows the reply to everything that waits for one. */
  async #answers(): Promise<void> {
    for (let id = this.#unanswered.shift(); id !== undefined; id = this.#unanswered.shift()) {
      const printer = new ReplyPrinter(this.#options.stdout, (text) => this.say(text));
      this.#current = id;
      try {
        const outcome = await this.#conversation.outcome(
          id,
          { step: (step) => printer.step(step), stalled: () => this.#tellWhy() },
          new AbortController().signal,
        );
        await printer.finish(outcome);
        const fault = faultOf(outcome);
        // What there is of an answer that was ended has been shown, and that it was ended has been told.
        if (fault !== undefined && outcome.answer === undefined) throw fault;
      } catch (error) {
        if (!(error instanceof Stuck)) throw error;
        this.#unanswered.unshift(id);
        return;
      } finally {
        this.#current = undefined;
        this.#toldState = undefined;
        await printer.end();
      }
    }
  }

  async #tellWhy(): Promise<void> {
    const { state, why, next } = await this.#options.api.explain(this.#options.block);
    if (state !== this.#toldState && state !== 'working' && state !== 'idle') await this.say(`note: ${oneLine(`${why} ${next}`)}`);
    this.#toldState = state;
    if (!this.#options.terminal || !WAITS_FOR_A_PERSON.has(state)) return;
    await this.say('note: the message waits; /start tries again, /why says more.');
    throw new Stuck();
  }

  /** A1. */
  #interrupt(): void {
    const isIdle = this.#current === undefined && !this.#isSending;
    if (isIdle || this.#options.signal.aborted) this.#leave();
    if (this.#isSending) this.#isUnwanted = true;
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
