// A conversation at the terminal, or line by line from a pipe: reads messages and commands and hands them to a partner, which is a block or a model.
//
// ctrl-c-ends-reply: Ctrl-C cancels what the person waits for; without such a thing, it leaves.
// lines-are-messages: without a terminal, every line of the input is a message, and the end of input leaves.
import type { Writable } from 'node:stream';
import { CliError, type ExitKind, worstOf } from '../terminal/exit-codes.ts';
import { createLineInput, type LineInput, type LineStreams } from '../terminal/line-input.ts';
import { oneLine, type Style, writeLines } from '../terminal/output.ts';

/** What every conversation needs. */
export interface TalkOptions extends LineStreams {
  readonly stdout: Writable;
  readonly style: Style;
  /** Whether a person sees what a message waits for. */
  readonly isWatched: boolean;
  /** Whether that person also sees how fast each reply was. */
  readonly isVerbose: boolean;
  /** Aborted by SIGINT. At a terminal, Ctrl-C is a key instead. */
  readonly signal: AbortSignal;
}

/** Whom the person talks with. */
export interface Partner {
  /** Shown before each line. */
  readonly name: string;
  /** The commands besides those of every conversation, each with its slash. */
  readonly commands: Readonly<Record<string, () => Promise<void>>>;
  /** The text of /help. */
  readonly help: string;
  /** Sends a message and resolves once its reply has been shown, or no longer needs to be waited for. Rejects with the error to show. */
  send(text: string): Promise<void>;
  /** Ends what the person waits for; false when there is nothing (ctrl-c-ends-reply). */
  interrupt(): boolean;
  /** Called once at a terminal: `show` writes lines above the question, or returns false while it can't. */
  listen?(show: (lines: readonly string[]) => boolean): void;
}

/** The last lines of /help. */
export const TALK_HELP = `/bye     leave, as Ctrl-D does               //help   sends the message /help

Enter sends the message, and \\ at the end of a line continues it on the next.
""" begins a message of several lines, and """ ends it. Pasted lines are one
message. The up arrow brings back what you sent before; a message that begins
with a space is not kept for it.
Ctrl-C cancels a reply or clears what you typed; on an empty line it leaves.`;
/** Shown at the start. */
export const TALK_HINT = 'Ctrl-C cancels a reply, /bye leaves, /help lists the commands.';
/** A line that is a command, or is none because of a second slash: `/usr/bin` and `// a comment` are messages. */
const COMMAND = /^\/[a-z?-]+\s*$/;
const ESCAPED = /^\/\/[a-z?-]+\s*$/;
const LEAVING: readonly string[] = ['/bye', '/quit', '/exit'];
/** Failures after which no message can be sent. */
const FATAL: readonly ExitKind[] = ['server', 'interrupted'];

/**
 * Talks until the person leaves. `faultOf` turns an error into one to show; other errors are thrown. Resolves with `ok` at a terminal, else with the
 * worst outcome of the messages. Rejects with a CliError.
 */
export async function talk(options: TalkOptions, partner: Partner, faultOf: (error: unknown) => CliError | undefined): Promise<ExitKind> {
  const talking = new Talk(options, partner, faultOf);
  const interrupt = (): void => talking.interrupt();
  const lines = createLineInput(options, interrupt);
  options.signal.addEventListener('abort', interrupt);
  try {
    return await talking.run(lines);
  } finally {
    options.signal.removeEventListener('abort', interrupt);
    lines.close();
  }
}

class Talk {
  readonly #options: TalkOptions;
  readonly #partner: Partner;
  readonly #faultOf: (error: unknown) => CliError | undefined;
  readonly #leave = new AbortController();

  constructor(options: TalkOptions, partner: Partner, faultOf: (error: unknown) => CliError | undefined) {
    this.#options = options;
    this.#partner = partner;
    this.#faultOf = faultOf;
  }

  /** ctrl-c-ends-reply. */
  interrupt(): void {
    const isBusy = this.#partner.interrupt();
    if (!isBusy || this.#options.signal.aborted) this.#leave.abort();
  }

  async run(lines: LineInput): Promise<ExitKind> {
    const { terminal, style, signal } = this.#options;
    const { signal: leave } = this.#leave;
    const left = new Promise<undefined>((resolve) => leave.addEventListener('abort', () => resolve(undefined)));
    const prompts = { first: `${style.bold(this.#partner.name)} › `, more: style.dim('… ') };
    const kinds: ExitKind[] = [];
    if (terminal) this.#partner.listen?.((shown) => lines.above(shown));
    while (!leave.aborted) {
      const text = await Promise.race([lines.next(prompts), left]);
      if (text === undefined) break;
      if (text.trim() !== '') kinds.push(await this.#take(text));
    }
    if (terminal) await this.#say('');
    if (signal.aborted) throw new CliError('interrupted', 'interrupted');
    return terminal ? 'ok' : worstOf(kinds);
  }

  /** Reports the failure of one message; a fatal one ends the talk. */
  async #take(text: string): Promise<ExitKind> {
    try {
      // Commands exist only at a terminal (lines-are-messages).
      if (!this.#options.terminal) await this.#partner.send(text);
      else if (COMMAND.test(text)) await this.#command(text.trim());
      else await this.#partner.send(ESCAPED.test(text) ? text.slice(1) : text);
      return 'ok';
    } catch (error) {
      const fault = this.#faultOf(error);
      if (fault === undefined || FATAL.includes(fault.kind)) throw error;
      await this.#say(this.#options.style.bad(`blockhouse: ${oneLine(fault.message)}`));
      return fault.kind;
    }
  }

  async #command(command: string): Promise<void> {
    const { help, commands } = this.#partner;
    if (LEAVING.includes(command)) this.#leave.abort();
    else if (command === '/help' || command === '/?') await this.#say(help);
    else await (commands[command]?.() ?? this.#say('Unknown command; /help lists the commands.'));
  }

  #say(text: string): Promise<void> {
    return writeLines(this.#options.output as Writable, [text]);
  }
}
