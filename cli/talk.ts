// A conversation at the terminal, or line by line from a pipe: reads messages and commands and hands them to a partner, which is a block or a model.
//
// ctrl-c-ends-reply: Ctrl-C cancels what the person waits for; without such a thing, it leaves.
// lines-are-messages: without a terminal, every line of the input is a message, and the end of input leaves.
import type { Writable } from 'node:stream';
import { CliError, type ExitKind, worstOf } from './exit-codes.ts';
import { createLineInput, type LineStreams } from './line-input.ts';
import { oneLine, type Style, writeLines } from './output.ts';

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
const COMMAND = /^\/[a-z?]+\s*$/;
const ESCAPED = /^\/\/[a-z?]+\s*$/;
const LEAVING: readonly string[] = ['/bye', '/quit', '/exit'];
/** Failures after which no message can be sent. */
const FATAL: readonly ExitKind[] = ['server', 'interrupted'];

/**
 * Talks until the person leaves. `faultOf` turns an error into one to show; other errors are thrown. Resolves with `ok` at a terminal, else with the
 * worst outcome of the messages. Rejects with a CliError.
 */
export async function talk(options: TalkOptions, partner: Partner, faultOf: (error: unknown) => CliError | undefined): Promise<ExitKind> {
  const { terminal, style, signal } = options;
  const say = (text: string): Promise<void> => writeLines(options.output as Writable, [text]);
  const leave = new AbortController();
  const left = new Promise<undefined>((resolve) => leave.signal.addEventListener('abort', () => resolve(undefined)));
  const interrupt = (): void => {
    if (!partner.interrupt() || signal.aborted) leave.abort();
  };
  const lines = createLineInput(options, interrupt);
  signal.addEventListener('abort', interrupt);
  const take = async (text: string): Promise<ExitKind> => {
    try {
      // Commands exist only at a terminal (lines-are-messages).
      const command = text.trim();
      if (!terminal || !COMMAND.test(text)) await partner.send(terminal && ESCAPED.test(text) ? text.slice(1) : text);
      else if (LEAVING.includes(command)) leave.abort();
      else if (command === '/help' || command === '/?') await say(partner.help);
      else await (partner.commands[command]?.() ?? say('There is no such command; /help lists them.'));
      return 'ok';
    } catch (error) {
      const fault = faultOf(error);
      if (fault === undefined || FATAL.includes(fault.kind)) throw error;
      await say(style.bad(`blockhouse: ${oneLine(fault.message)}`));
      return fault.kind;
    }
  };
  const prompts = { first: `${style.bold(partner.name)} › `, more: style.dim('… ') };
  const kinds: ExitKind[] = [];
  try {
    while (!leave.signal.aborted) {
      const text = await Promise.race([lines.next(prompts), left]);
      if (text === undefined) break;
      if (text.trim() !== '') kinds.push(await take(text));
    }
    if (terminal) await say('');
  } finally {
    signal.removeEventListener('abort', interrupt);
    lines.close();
  }
  if (signal.aborted) throw new CliError('interrupted', 'interrupted');
  return terminal ? 'ok' : worstOf(kinds);
}
