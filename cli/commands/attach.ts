// `blockhouse attach`: a talk with a block, at the terminal or line by line from a pipe.
import { Command, Option } from 'clipanion';
import { ServerCommand } from '../command/server-command.ts';
import type { TalkOptions } from '../talk/talk.ts';
import type { ExitKind } from '../terminal/exit-codes.ts';
import { isColored, isTerminal, styleFor } from '../terminal/output.ts';
import { isWatched } from '../terminal/spinner.ts';

/** The base of the commands that talk with a block. */
export abstract class TalkCommand extends ServerCommand {
  verbose = Option.Boolean('-v,--verbose', false, { description: 'At a terminal, show how fast each reply was' });

  protected talk(name: string): Promise<ExitKind> {
    return this.withServer(async ({ unabortable: api }, signal) => {
      const { attach } = await import('../talk/attach.ts');
      // At a terminal Ctrl-C is a key that `attach` reads. A SIGINT from another process still interrupts.
      return this.withTyping((typing) => attach({ ...typing, api, block: name, signal }));
    });
  }

  /** Whether a person can type a conversation. */
  protected get isConversation(): boolean {
    return isTerminal(this.context.stdin) && isTerminal(this.stderr);
  }

  /** Runs a conversation with the streams and the history of this terminal. */
  protected async withTyping(work: (typing: Omit<TalkOptions, 'signal'>) => Promise<ExitKind>): Promise<ExitKind> {
    const { stdin, env } = this.context;
    const terminal = this.isConversation;
    const watched = isWatched(this.stderr, env);
    const view = { style: styleFor(isColored(this.stderr, env)), isWatched: watched, isVerbose: this.verbose && watched };
    const typing = { input: stdin, output: this.stderr, stdout: this.stdout, terminal, ...view };
    if (!terminal) return work(typing);
    const { historyPath, LineHistory } = await import('../terminal/line-history.ts');
    const history = await LineHistory.open(historyPath((await this.config()).workspace), (text) => this.say(text));
    try {
      return await work({ ...typing, history });
    } finally {
      await history.settle();
    }
  }
}

/** Writes replies to stdout, and the prompt and remarks to stderr. */
export class AttachCommand extends TalkCommand {
  static override readonly paths = [['attach']];
  static override readonly usage = Command.Usage({
    category: 'Messages',
    description: 'Talk with a block; replies show while they are written',
    details: `
      Shows the end of the conversation so far. Ctrl-C cancels the reply that is being written, or leaves if there is none; \`/bye\` and
      Ctrl-D leave. \`/help\` lists the commands. The up arrow brings back what you sent before, also in earlier conversations: the last
      500 messages are in \`.cli-history\` in the workspace, which only you can read.

      A call of a tool that waits for you is shown: \`/yes\` approves it once, \`/always\` also later calls of the tool, \`/no\` denies it.

      What others say to the block meanwhile, such as another block, a schedule or a program, and what it answers them, is shown above the line
      that you type, while nothing is typed.

      With piped input, each line is a message, sent after the reply to the line before it.
    `,
    examples: [['Talk', '$0 attach my-block']],
  });

  name = Option.String({ name: 'block' });

  protected override run(): Promise<ExitKind> {
    return this.talk(this.name);
  }
}
