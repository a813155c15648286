// What every command has: --workspace and --json, one way to fail, one way to be interrupted.
//
// M1 A failure is one line on stderr and an exit code; with --json it is a JSON document on stdout, too.
// M2 Core, adapters and transports are loaded by the commands that use them, when they run.
import type { Writable } from 'node:stream';
import { inspect } from 'node:util';
import { type BaseContext, Command, Option } from 'clipanion';
import type { Core, ErrorBody, ProcessConfig } from '../core/index.ts';
import { ownCommand } from './banner.ts';
import { CliError, EXIT_CODES, type ExitKind, errorCodeOf, exitKindOf } from './exit-codes.ts';
import { oneLine, toJson, write, writeLines } from './output.ts';

export abstract class BaseCommand extends Command<BaseContext> {
  workspace = Option.String('--workspace', { description: 'Folder; else BLOCKHOUSE_WORKSPACE, else ~/.blockhouse' });
  json = Option.Boolean('--json', false, { description: 'Machine-readable output: one JSON document on stdout' });

  /** Does the work; resolves with how it ended. */
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

  /** A remark for the person. */
  protected async say(text: string): Promise<void> {
    await write(this.stderr, `${text}\n`);
  }

  /** How this person calls `blockhouse`, for hints that can be pasted. */
  protected get command(): string {
    return ownCommand(process.argv[1] ?? '', process.cwd());
  }

  /** The JSON form of a failure. */
  protected jsonFailure(body: Partial<ErrorBody>): unknown {
    return body;
  }

  protected async config(): Promise<ProcessConfig> {
    const { readConfig } = await import('./compose.ts');
    return readConfig({ workspace: this.workspace }, this.context.env);
  }

  /** Lends a core with every adapter, and closes it. */
  protected async withCore(work: (core: Core) => Promise<ExitKind>): Promise<ExitKind> {
    const config = await this.config();
    const { createConfiguredCore } = await import('./compose.ts');
    const core = await createConfiguredCore(config, this.context.env);
    try {
      return await work(core);
    } finally {
      await core.close();
    }
  }

  /** Runs work that Ctrl-C aborts. A second Ctrl-C ends the process in its default way. */
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

  /** Where a defect lies is for who looks for it. */
  async #tellDeveloper(error: unknown): Promise<void> {
    const level = this.context.env['BLOCKHOUSE_LOG_LEVEL'];
    if (level === 'debug' || level === 'trace') await this.say(inspect(error));
  }

  /** M1. */
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

/** The text of a defect may hold anything, keys too; its kind and code don't. */
async function messageOf(error: unknown, kind: ExitKind): Promise<string> {
  if (kind !== 'unexpected' || error instanceof CliError || !(error instanceof Error)) return (error as Error).message;
  const { BlockhouseError } = await import('../core/index.ts');
  if (error instanceof BlockhouseError && error.code !== 'INTERNAL_ERROR') return error.message;
  const cause = error instanceof BlockhouseError && error.cause instanceof Error ? error.cause : error;
  const code = errorCodeOf(cause);
  return `something went wrong inside (${code === undefined ? cause.name : `${cause.name} ${code}`}); BLOCKHOUSE_LOG_LEVEL=debug shows where.`;
}

async function bodyOf(error: unknown, message: string): Promise<Partial<ErrorBody>> {
  if (error instanceof CliError) return { ...error.body, error: message };
  const { BlockhouseError, errorBody } = await import('../core/index.ts');
  return error instanceof BlockhouseError ? { ...errorBody(error), error: message } : { error: message };
}
