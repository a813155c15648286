// The base of the commands that call the running server.
import type { Core, Warning } from '../../core/index.ts';
import { Api } from '../client/api.ts';
import { Client, findServer, runningServer } from '../client/client.ts';
import type { ServerPlace } from '../client/connection.ts';
import { CliError, type ExitKind, worstOf } from '../terminal/exit-codes.ts';
import { foldedInside, isColored, isTerminal, oneLine, type Style, styleFor, toJson, widthOf, write, writeLines } from '../terminal/output.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { BaseCommand } from './command.ts';

/** A command that calls the server of the workspace. */
export abstract class ServerCommand extends BaseCommand {
  /** Runs `work` with the calls of the server. Ctrl-C aborts every call. */
  protected withServer(work: (api: Api, signal: AbortSignal) => Promise<ExitKind>): Promise<ExitKind> {
    return this.interruptible(async (signal) => {
      const find = this.#finder((await this.config()).workspace);
      return work(new Api(new Client(await find(), signal, find)), signal);
    });
  }

  /**
   * Asks the running server, or, when none runs, a core of this process. Says which of them, because the server may have other environment
   * variables than this shell.
   */
  protected withServerOrShell<T>(
    asked: { readonly server: (api: Api, signal: AbortSignal) => Promise<T>; readonly shell: (core: Core, signal: AbortSignal) => Promise<T> },
    show: (result: T, from: 'server' | 'shell') => Promise<ExitKind>,
  ): Promise<ExitKind> {
    return this.interruptible(async (signal) => {
      const { workspace } = await this.config();
      const place = await runningServer(workspace);
      if (place === undefined) {
        return this.withCore(async (core) => {
          const result = await asked.shell(core, signal);
          if (!this.json) await this.say('note: no server is running; checked with the environment of this shell and auth.json.');
          return show(result, 'shell');
        });
      }
      const result = await asked.server(new Api(new Client(place, signal, this.#finder(workspace))), signal);
      if (!this.json) await this.say(`note: checked by the running server (process ${place.pid}), with its own environment.`);
      return show(result, 'server');
    });
  }

  #finder(workspace: string): () => Promise<ServerPlace> {
    return () => findServer(workspace, this.hint('serve'));
  }

  /** Does the same for several names and reports each outcome. A failure does not stop the others, unless the server is gone. */
  protected async forEach(names: readonly string[], work: (name: string) => Promise<{ readonly message: string }>): Promise<ExitKind> {
    const results: object[] = [];
    const kinds: ExitKind[] = [];
    for (const name of new Set(names)) {
      try {
        const result = await work(name);
        results.push({ name, ...result });
        await this.say(oneLine(result.message));
      } catch (error) {
        if (!(error instanceof CliError) || error.kind === 'interrupted' || error.kind === 'server') throw error;
        results.push({ name, success: false, ...error.body, error: error.message });
        kinds.push(error.kind);
        await this.say(`blockhouse: ${oneLine(error.message.includes(name) ? error.message : `${name}: ${error.message}`)}`);
      }
    }
    if (this.json) await write(this.stdout, `${toJson({ results })}\n`);
    return worstOf(kinds);
  }

  /** Shows the warnings of an accepted request. */
  protected async sayWarnings(warnings: readonly Warning[] = []): Promise<void> {
    for (const { field, message } of warnings) await this.say(oneLine(`note: ${field}: ${message}`));
  }

  /** Asks at a terminal. Without one, `otherwise` decides. */
  protected async agreed(question: string, otherwise: () => boolean): Promise<boolean> {
    const { stdin } = this.context;
    if (!isTerminal(stdin) || !isTerminal(this.stderr)) return otherwise();
    const { confirm } = await import('../terminal/confirm.ts');
    return confirm(question, { input: stdin, output: this.stderr });
  }

  /**
   * Before something is started, or signed in to, by an entry of mcp.json that nobody has approved as it is: shows its lines at a terminal, and asks. Other programs write mcp.json, too.
   * True where nobody can be asked.
   */
  protected async agreedToEntry(lines: readonly string[], question: string): Promise<boolean> {
    if (this.json || !isTerminal(this.context.stdin) || !isTerminal(this.stderr)) return true;
    for (const line of lines) await writeLines(this.stderr, foldedInside(line, widthOf(this.stderr)));
    return this.agreed(question, () => true);
  }

  /** A sentence of the server whose commands are for this workspace, ready to paste. */
  protected own(text: string): string {
    if (this.workspace === undefined) return text;
    const flag = ` --workspace ${shellWord(this.workspace)}`;
    return text.replace(/(^|`)(blockhouse [^`]+)(?=`|$)/g, (_whole, before: string, command: string) => before + command + flag);
  }

  /** Columns of the terminal; Infinity when stdout is not a terminal. */
  protected get width(): number {
    return widthOf(this.stdout);
  }

  /** How texts about a block are drawn. */
  protected drawn(): { now: number; style: Style; width: number; own: (text: string) => string } {
    return { now: Date.now(), style: this.style, width: this.width, own: (text) => this.own(text) };
  }

  protected get style(): Style {
    return styleFor(isColored(this.stdout, this.context.env));
  }
}
