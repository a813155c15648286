// What every command has that steers the running server.
import type { Writable } from 'node:stream';
import type { Warning } from '../core/index.ts';
import { Api } from './api.ts';
import { shellWord } from './banner.ts';
import { Client, findServer } from './client.ts';
import { BaseCommand } from './command.ts';
import { CliError, type ExitKind, worstOf } from './exit-codes.ts';
import { isColored, isTerminal, oneLine, type Style, styleFor, toJson, write } from './output.ts';

/** What a person puts a word of their own for. */
const PLACEHOLDER = /^<[a-z]+>$/;

export abstract class ServerCommand extends BaseCommand {
  /** Lends what talks to the server of the workspace. Ctrl-C ends every call. */
  protected withServer(work: (api: Api, signal: AbortSignal) => Promise<ExitKind>): Promise<ExitKind> {
    return this.interruptible(async (signal) => {
      const { workspace } = await this.config();
      return work(new Api(new Client(await findServer(workspace, this.hint('serve')), signal)), signal);
    });
  }

  /** Does the same to several blocks: each outcome is told, one that fails keeps none of the others from its turn. */
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

  /** What the server has to say about a request that it took. */
  protected async sayWarnings(warnings: readonly Warning[] = []): Promise<void> {
    for (const { field, message } of warnings) await this.say(oneLine(`note: ${field}: ${message}`));
  }

  /** Asks at a terminal; elsewhere, `otherwise` decides. */
  protected async agreed(question: string, otherwise: () => boolean): Promise<boolean> {
    const { stdin } = this.context;
    if (!isTerminal(stdin) || !isTerminal(this.stderr)) return otherwise();
    const { confirm } = await import('./confirm.ts');
    return confirm(question, { input: stdin, output: this.stderr });
  }

  /** A command that this person can paste. */
  protected hint(...words: string[]): string {
    const flag = this.workspace === undefined ? [] : ['--workspace', this.workspace];
    return [this.command, ...[...words, ...flag].map((word) => (PLACEHOLDER.test(word) ? word : shellWord(word)))].join(' ');
  }

  /** Columns of the terminal; Infinity where stdout is none. */
  protected get width(): number {
    const { columns } = this.stdout as Writable & { columns?: number };
    return columns !== undefined && columns > 0 ? columns : Number.POSITIVE_INFINITY;
  }

  protected get style(): Style {
    return styleFor(isColored(this.stdout, this.context.env));
  }
}
