// `blockhouse attach`: a talk with a block at the terminal; `blockhouse chat <name>` is the same.
import { Command, Option } from 'clipanion';
import { Api } from '../api.ts';
import type { ExitKind } from '../exit-codes.ts';
import { isColored, isTerminal, styleFor } from '../output.ts';
import { ServerCommand } from '../server-command.ts';
import { isWatched } from '../spinner.ts';

/** The base of the commands that talk with a block. */
export abstract class TalkCommand extends ServerCommand {
  verbose = Option.Boolean('-v,--verbose', false, { description: 'At a terminal, show how fast each reply was' });

  protected talk(name: string): Promise<ExitKind> {
    return this.withServer(async ({ client }, signal) => {
      const { attach } = await import('../attach.ts');
      const api = new Api(client.withSignal(new AbortController().signal));
      const { stdin } = this.context;
      const terminal = isTerminal(stdin) && isTerminal(this.stderr);
      const style = styleFor(isColored(this.stderr, this.context.env));
      const watched = isWatched(this.stderr, this.context.env);
      const view = { style, isWatched: watched, isVerbose: this.verbose && watched };
      // At a terminal Ctrl-C is a key that `attach` reads. A SIGINT from another process still interrupts.
      return attach({ api, block: name, input: stdin, output: this.stderr, stdout: this.stdout, terminal, signal, ...view });
    });
  }
}

/** Writes replies to stdout, and the prompt and remarks to stderr. */
export class AttachCommand extends TalkCommand {
  static override readonly paths = [['attach']];
  static override readonly usage = Command.Usage({
    category: 'Messages',
    description: 'Talk with a block; replies show while they are written',
    details: `
      Each line is a message. Ctrl-C ends the reply that is being written, or leaves if there is none; Ctrl-D leaves. \`/help\` lists
      the commands of the talk. With piped input, each line is sent after the reply to the line before it.
    `,
    examples: [['Talk', '$0 attach my-block']],
  });

  name = Option.String({ name: 'name' });

  protected override run(): Promise<ExitKind> {
    return this.talk(this.name);
  }
}
