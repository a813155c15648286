// The base of every command: --workspace and --json, failures, and Ctrl-C. A command loads core, adapters and transports only
// when it runs and needs them, so that the others start fast.
import type { Writable } from 'node:stream';
import { inspect } from 'node:util';
import { type BaseContext, Command, Option } from 'clipanion';
import type { Core, ErrorBody, ProcessConfig } from '../../core/index.ts';
import { CliError, EXIT_CODES, type ExitKind, errorCodeOf, exitKindOf } from '../terminal/exit-codes.ts';
import { folded, oneLine, toJson, widthOf, write, writeLines } from '../terminal/output.ts';
import { ownCommand, shellWord } from '../terminal/shell-word.ts';

/** A placeholder such as `<name>`, which hints show unquoted. */
const PLACEHOLDER = /^([a-z.]+=)?<[a-z]+>(\/<[a-z]+>)?$/;

/** A command of `blockhouse`. A failure is one line on stderr and an exit code, and with --json also a JSON document on stdout. */
export abstract class BaseCommand extends Command<BaseContext> {
  workspace = Option.String('--workspace', { description: 'Default: BLOCKHOUSE_WORKSPACE, or ~/.blockhouse' });
  json = Option.Boolean('--json', false, { description: 'Print JSON on stdout, for programs' });

  /** Does the work and resolves with the kind of its end. A rejection is reported by `execute`. */
  protected abstract run(): Promise<ExitKind>;

  override async execute(): Promise<number> {
    try {
      return EXIT_CODES[await this.run()].code;
    } catch (error) {
      return await this.#fail(error);
    }
  }

  protected get stdout(): Writable {
    return this.context.stdout;
  }

  protected get stderr(): Writable {
    return this.context.stderr;
  }

  /** The JSON document with --json, the lines without. */
  protected async print(document: unknown, lines: readonly string[]): Promise<void> {
    await writeLines(this.stdout, this.json ? [toJson(document)] : lines);
  }

  /** Writes a line for the person to stderr. */
  protected async say(text: string): Promise<void> {
    await writeLines(this.stderr, folded(text, widthOf(this.stderr)));
  }

  /** How this person calls `blockhouse`, for commands to paste. */
  protected get command(): string {
    return ownCommand(process.argv[1] ?? '', process.cwd());
  }

  /** A command for this workspace, ready to paste. */
  protected hint(...words: string[]): string {
    const flag = this.workspace === undefined ? [] : ['--workspace', this.workspace];
    return [this.command, ...[...words, ...flag].map((word) => (PLACEHOLDER.test(word) ? word : shellWord(word)))].join(' ');
  }

  /** The JSON form of a failure. */
  protected jsonFailure(body: Partial<ErrorBody>): unknown {
    return body;
  }

  protected async config(): Promise<ProcessConfig> {
    const { readConfig } = await import('../serve/place.ts');
    return readConfig({ workspace: this.workspace }, this.context.env);
  }

  /** Runs `work` with a core that has every adapter, and closes the core afterwards. With `trial`, nothing may be written into the database. */
  protected async withCore(work: (core: Core) => Promise<ExitKind>, database: 'none' | 'trial' | 'used' = 'none'): Promise<ExitKind> {
    const config = await this.config();
    const { createConfiguredCore, createStoredCore } = await import('../compose.ts');
    const { env } = this.context;
    const core = await (database === 'none' ? createConfiguredCore(config, env) : createStoredCore(config, env, database === 'trial'));
    try {
      return await work(core);
    } finally {
      await core.close();
    }
  }

  /** Runs work that Ctrl-C aborts. A second Ctrl-C ends the process at once. */
  protected async interruptible(work: (signal: AbortSignal) => Promise<ExitKind>): Promise<ExitKind> {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    process.once('SIGINT', abort);
    try {
      return await work(controller.signal);
    } catch (error) {
      throw controller.signal.aborted ? new CliError('interrupted', 'interrupted', error) : error;
    } finally {
      process.removeListener('SIGINT', abort);
    }
  }

  /** Prints the stack of a defect at the log levels debug and trace. */
  async #tellDeveloper(error: unknown): Promise<void> {
    const level = this.context.env['BLOCKHOUSE_LOG_LEVEL'];
    if (level === 'debug' || level === 'trace') await this.say(inspect(error));
  }

  async #fail(error: unknown): Promise<number> {
    const kind = exitKindOf(error);
    if (kind === 'interrupted') return EXIT_CODES.interrupted.code;
    const message = await messageOf(error, kind);
    if (this.json) await write(this.stdout, `${toJson(this.jsonFailure(await bodyOf(error, message)))}\n`);
    await this.say(`blockhouse: ${oneLine(message)}`);
    if (kind === 'unexpected' && !(error instanceof CliError)) await this.#tellDeveloper(error);
    return EXIT_CODES[kind].code;
  }
}

/** The message of a defect may contain anything, keys too, so only its class and code are shown. */
async function messageOf(error: unknown, kind: ExitKind): Promise<string> {
  if (kind !== 'unexpected' || error instanceof CliError || !(error instanceof Error)) return (error as Error).message;
  const { BlockhouseError } = await import('../../core/client-parts.ts');
  if (error instanceof BlockhouseError && error.code !== 'INTERNAL_ERROR') return error.message;
  const cause = error instanceof BlockhouseError && error.cause instanceof Error ? error.cause : error;
  const code = errorCodeOf(cause);
  return `Blockhouse has a bug (${code === undefined ? cause.name : `${cause.name} ${code}`}). Set BLOCKHOUSE_LOG_LEVEL=debug to see where.`;
}

async function bodyOf(error: unknown, message: string): Promise<Partial<ErrorBody>> {
  if (error instanceof CliError) return { ...error.body, error: message };
  const { BlockhouseError, errorBody } = await import('../../core/client-parts.ts');
  return error instanceof BlockhouseError ? { ...errorBody(error), error: message } : { error: message };
}
