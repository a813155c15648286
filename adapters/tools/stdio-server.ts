// Starts a server that speaks over its standard input and output, and greets it.
//
// own-environment (server-environment.ts): a server gets a few variables that any program needs, what its entry names, and the mark of the workspace.
// must-answer: a server that says nothing at all within five seconds after a call has timed out is ended.
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { redact } from '../../core/base/redact.ts';
import { BlockhouseError, type Environment } from '../../core/index.ts';
import { ClientSession } from './client-session.ts';
import { connect } from './era.ts';
import { endStarted, MARK, OWN_MARK, type RunningBook } from './leftovers.ts';
import { type RunningServer, Throttle } from './running-server.ts';
import { sandboxed } from './sandbox.ts';
import type { Sdk } from './sdk.ts';
import type { CallableServer, Era, StdioStart } from './server.ts';
import { inheritedBy } from './server-environment.ts';
import { mayDownload } from './package-runners.ts';
import { ServerErrors } from './server-log.ts';
import { type MostUnasked, StdioTransport } from './stdio-transport.ts';
import { type Program, ServerProcess } from './supervisor.ts';

/** What a server wrote before it ended is read for so long. */
const LAST_WORDS_MS = 250;

/** What every server of a host is started with. */
export interface Surroundings {
  readonly sdk: Sdk;
  readonly workspace: string;
  readonly env: Environment;
  readonly book: RunningBook;
  /** A server that says nothing for so long after a call has timed out is ended. */
  readonly deafMs: number;
  /** The least time between two looks at the tools of a server. */
  readonly listMs: number;
  /** A test lets servers write less. */
  readonly unasked?: Partial<MostUnasked> | undefined;
}

/** A server that is started, and how. */
export interface Starting {
  readonly server: CallableServer & { readonly start: StdioStart };
  readonly era: Era;
  readonly signal: AbortSignal;
}

/** Rejects with TOOL_SERVER_FAILED, and nothing of the server is left then. */
export async function startStdio(starting: Starting, surroundings: Surroundings): Promise<RunningServer> {
  const { server, era, signal } = starting;
  const { name, settings } = server;
  const errors = new ServerErrors(join(surroundings.workspace, 'logs', 'tools', `${fileName(name)}.log`), server.secrets);
  const failed = (why: string, cause?: unknown): BlockhouseError =>
    new BlockhouseError('TOOL_SERVER_FAILED', `${name} did not start: ${why.replace(/\.$/, '')}.`, { cause });
  const ownMark = randomBytes(16).toString('hex');
  const process = await programOf(server, surroundings, ownMark)
    .then((program) => ServerProcess.start(program))
    .catch((error: unknown) => {
      throw failed(reasonOf(error as NodeJS.ErrnoException, server.start.command), error);
    });
  const running = new StdioServer(process, errors, server, { ...surroundings, ownMark });
  try {
    await surroundings.book.add(name, process.pid);
    await running.greet(surroundings.sdk, era, signal);
    return running;
  } catch (error) {
    const ending = running.ending;
    await running.end();
    const lastWords = errors.lastLine === '' ? '' : `: ${errors.lastLine}`;
    throw failed(
      ending ?? (signal.aborted ? 'the start was cut off' : `${redact(greetingFault(error, settings.startTimeoutMs), server.secrets)}${lastWords}`),
      error,
    );
  }
}

/** `ownMark`: all that it starts has it, too. */
interface OwnSurroundings extends Surroundings {
  readonly ownMark: string;
}

class StdioServer implements RunningServer {
  onTools: (() => void) | undefined;
  readonly ended: Promise<string>;
  /** How it ended; undefined before. */
  ending: string | undefined;
  /** Why it is being ended. */
  #fault: string | undefined;
  readonly #process: ServerProcess;
  readonly #server: CallableServer;
  readonly #surroundings: OwnSurroundings;
  readonly #transport: StdioTransport;
  readonly #lists: Throttle;
  #session: ClientSession | undefined;
  #deafTimer: NodeJS.Timeout | undefined;

  constructor(process: ServerProcess, errors: ServerErrors, server: CallableServer, surroundings: OwnSurroundings) {
    this.#process = process;
    this.#server = server;
    this.#surroundings = surroundings;
    this.#lists = new Throttle(surroundings.listMs, () => this.onTools?.());
    const listener = {
      onNoise: () => this.#endFor('has written 100 lines within a minute that are no messages'),
      onFlood: () => this.#endFor('has sent 100,000 messages, or 256 MiB of them, within a minute that answer nothing'),
      onLife: () => this.#hear(),
    };
    this.#transport = new StdioTransport(process.pipes, server.settings.maxResultBytes, listener, surroundings.unasked);
    const told = errors.follow(process.stderr);
    this.ended = this.#whenEnded(told, errors);
  }

  get hasEnded(): boolean {
    return this.ending !== undefined || this.#fault !== undefined;
  }

  async greet(sdk: Sdk, era: Era, signal: AbortSignal): Promise<void> {
    const { start, settings } = this.#server;
    const { startTimeoutMs } = settings;
    const patience = start.kind === 'stdio' && mayDownload(start.command) ? { discoverMs: startTimeoutMs } : {}; // whole-download
    const cut = (): void => void this.#transport.close();
    signal.addEventListener('abort', cut, { once: true });
    try {
      signal.throwIfAborted();
      const client = await connect(sdk, this.#transport, { era, timeoutMs: startTimeoutMs, ...patience, onListChanged: () => this.#lists.ask() });
      this.#session = new ClientSession({ sdk, client, transport: this.#transport, ending: () => this.#fault ?? this.ending });
      this.#session.onTimeout = () => this.#doubt();
    } finally {
      signal.removeEventListener('abort', cut);
    }
  }

  call(...[server, call, signal]: Parameters<RunningServer['call']>): ReturnType<RunningServer['call']> {
    return this.#greeted.call(server, call, signal);
  }

  list(timeoutMs: number): ReturnType<RunningServer['list']> {
    return this.#greeted.list(timeoutMs);
  }

  async end(): Promise<void> {
    clearTimeout(this.#deafTimer);
    this.#lists.end();
    await this.#process.end();
    await this.ended;
    await endStarted(this.#surroundings.ownMark);
    await this.#surroundings.book.remove(this.#process.pid);
  }

  get #greeted(): ClientSession {
    if (this.#session === undefined) throw new Error('The server was not greeted.');
    return this.#session;
  }

  /** What it wrote before its end is read first: an answer may be in it. */
  async #whenEnded(told: Promise<void>, errors: ServerErrors): Promise<string> {
    const how = await this.#process.ended;
    const { stdout } = this.#process.pipes;
    const isRead = stdout.readableEnded ? Promise.resolve() : new Promise((resolve) => stdout.once('close', resolve));
    await Promise.race([Promise.all([isRead, told]), delay(LAST_WORDS_MS, undefined, { ref: false })]);
    this.ending = this.#fault ?? `${how}${errors.lastLine === '' ? '' : `: ${errors.lastLine.replace(/\.$/, '')}`}`;
    clearTimeout(this.#deafTimer);
    this.#lists.end();
    await this.#transport.close();
    return this.ending;
  }

  /** must-answer. */
  #doubt(): void {
    if (this.#deafTimer !== undefined || this.hasEnded) return;
    this.#deafTimer = setTimeout(() => this.#endFor('has stopped answering'), this.#surroundings.deafMs);
    this.#session?.nudge();
  }

  #hear(): void {
    clearTimeout(this.#deafTimer);
    this.#deafTimer = undefined;
  }

  #endFor(fault: string): void {
    this.#fault ??= fault;
    void this.#transport.close();
    void this.#process.end();
  }
}

/** own-environment. */
async function programOf(server: Starting['server'], { workspace, env, book }: Surroundings, ownMark: string): Promise<Program> {
  const { start, name, settings } = server;
  const cwd = join(workspace, 'tools', fileName(name));
  await mkdir(cwd, { recursive: true, mode: 0o700 });
  const inherited = inheritedBy(settings.sandbox, env);
  const program = { command: start.command, args: start.args, env: { ...inherited, ...start.env, [MARK]: await book.open(), [OWN_MARK]: ownMark }, cwd };
  return settings.sandbox === undefined ? program : sandboxed(program, settings.sandbox);
}

function reasonOf({ code, message }: NodeJS.ErrnoException, command: string): string {
  if (code === 'ENOENT') return `there is no command ${command}`;
  return code === 'EACCES' ? `${command} may not be run` : message;
}

function greetingFault(error: unknown, timeoutMs: number): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return code === 'REQUEST_TIMEOUT'
    ? `it did not answer within ${Math.round(timeoutMs / 1000)} s (startTimeoutMs in mcp.json)`
    : `it refused the greeting (${String(message)})`;
}

/** Names come from a file that people write. */
function fileName(name: string): string {
  return name.replace(/[^\w-]/g, '_');
}
