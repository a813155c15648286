// The servers of a host at work: which process makes a call, and how a server is looked at.
//
// one-definition: a call goes to a server that was started with the definition of the call; another one is ended first.
// apart: a server is looked at in a process of its own, which ends afterwards, so that what is under way is not disturbed.
import { redact } from '../../core/base/redact.ts';
import { BlockhouseError, type Environment, type ServerFact, type ToolCallRequest, type ToolOutcome, type ToolQuestion } from '../../core/index.ts';
import { Upstream } from '../outbound/client.ts';
import { startHttp } from './http-server.ts';
import { RunningBook } from './leftovers.ts';
import { maskedCall, maskedResult, maskedTools } from './masked-result.ts';
import type { SignIns } from './oauth/sign-ins.ts';
import { Places } from './places.ts';
import { isUnsigned, type RunningServer } from './running-server.ts';
import { loadSdk } from './sdk.ts';
import type { CallableServer, Era, HttpStart, ListedTool, LookedAt, Sessions, StdioStart } from './server.ts';
import { Slot, type SlotParts } from './slot.ts';
import { startStdio, type Surroundings } from './stdio-server.ts';

const MAX_PROCESSES = 16;
const BACK_OFF_MS = 1000;
const DEAF_MS = 5000;
const LIST_MS = 1000;

/** What sessions are made with. */
export interface SessionsOptions {
  readonly workspace: string;
  /** What HOME, PATH and the like are read from. */
  readonly env: Environment;
  readonly maxProcesses?: number;
  readonly backOffMs?: number;
  readonly deafMs?: number;
  readonly unasked?: Surroundings['unasked'];
  readonly signIns?: SignIns | undefined;
  /** Monotonic milliseconds. */
  readonly now?: (() => number) | undefined;
}

type Listener = Parameters<Sessions['onTools']>[0];

/** See `Sessions`. */
export class ServerSessions implements Sessions {
  readonly #options: SessionsOptions;
  readonly #book: RunningBook;
  readonly #parts: SlotParts;
  /** By name, and by block for servers that have a process for each. */
  readonly #slots = new Map<string, Slot>();
  /** Found here, by definition. */
  readonly #eras = new Map<string, Era>();
  readonly #looks = new Set<AbortController>();
  readonly #listeners: Listener[] = [];
  readonly #factListeners: ((fact: ServerFact) => void)[] = [];
  readonly #upstream = new Upstream();
  readonly #endings = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#book = new RunningBook(options.workspace);
    this.#parts = {
      places: new Places(options.maxProcesses ?? MAX_PROCESSES),
      backOffMs: options.backOffMs ?? BACK_OFF_MS,
      now: options.now ?? (() => performance.now()),
      start: (server, signal) => this.#start(server, signal),
      list: (server, running) => this.#list(server, running),
      onTools: (server, tools) => {
        for (const listener of this.#listeners) listener(server, tools);
      },
      onServer: (fact) => {
        for (const listener of this.#factListeners) listener(fact);
      },
    };
  }

  /** Ends what a killed program has left. */
  async tidy(): Promise<void> {
    await this.#book.open();
  }

  async call(server: CallableServer, call: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome | ToolQuestion> {
    if (this.#isClosed) throw new BlockhouseError('TOOL_NOT_BEGUN', 'The server is shutting down.');
    const before = this.#secretsOf(server);
    const secrets = (): readonly string[] => [...new Set([...before, ...this.#secretsOf(server)])]; // a token may be renewed meanwhile
    const outcome = await this.#slotOf(server, call.block).call(server, maskedCall(call, secrets), signal);
    return maskedResult(outcome, secrets());
  }

  /** What a server gets, and must not be seen in what it says. */
  #secretsOf(server: CallableServer): readonly string[] {
    const { ownSecrets = [], name } = server;
    return isHttp(server) ? [...ownSecrets, ...(this.#options.signIns?.secretsOf(name) ?? [])] : ownSecrets;
  }

  async look(server: CallableServer, signal: AbortSignal): Promise<LookedAt> {
    const own = new AbortController();
    this.#looks.add(own);
    try {
      const seen = await this.#lookAt(server, AbortSignal.any([signal, own.signal]));
      this.#eras.set(server.definition, seen.era);
      this.forgive(server.name);
      return seen;
    } finally {
      this.#looks.delete(own);
    }
  }

  /** Says what is wrong with a server that runs. */
  note(server: string, problem: string): void {
    for (const slot of this.#slotsOf(server)) slot.note(problem);
  }

  forgive(server: string): void {
    for (const slot of this.#slotsOf(server)) slot.forgive();
  }

  stateOf(server: string): ReturnType<Sessions['stateOf']> {
    const states = this.#slotsOf(server).map(({ state }) => state);
    const order = ['failed', 'starting', 'ready', 'stopping', 'idle'] as const;
    return order.flatMap((name) => states.filter(({ state }) => state === name))[0] ?? { state: 'idle' };
  }

  async end(server: string): Promise<void> {
    const ended = [...this.#slots].filter(([, slot]) => slot.server.name === server);
    for (const [key] of ended) this.#slots.delete(key);
    await Promise.all(ended.map(([, slot]) => this.#endOf(slot)));
  }

  /** Tells of processes that make calls, not of those that are looked at. */
  onServer(listener: (fact: ServerFact) => void): void {
    this.#factListeners.push(listener);
  }

  onTools(listener: Listener): void {
    this.#listeners.push(listener);
  }

  async halt(): Promise<void> {
    for (const look of this.#looks) look.abort(new Error('Everything is being halted.'));
    const slots = [...this.#slots.values()];
    this.#slots.clear();
    for (const slot of slots) void this.#endOf(slot);
    await Promise.all(this.#endings); // those of servers that were taken away, too
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.halt();
    await Promise.all([this.#upstream.close(), this.#options.signIns?.close()]);
  }

  #endOf(slot: Slot): Promise<void> {
    const ending = slot.end().finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
    return ending;
  }

  #slotsOf(server: string): readonly Slot[] {
    return [...this.#slots.values()].filter((slot) => slot.server.name === server);
  }

  /** one-definition. */
  #slotOf(server: CallableServer, block: string): Slot {
    const key = JSON.stringify([server.name, server.settings.share === 'block' ? block : '']);
    const known = this.#slots.get(key);
    if (known?.server.definition === server.definition) return known;
    if (known !== undefined) void this.#endOf(known);
    const slot = new Slot(server, this.#parts);
    this.#slots.set(key, slot);
    return slot;
  }

  async #start(server: CallableServer, signal: AbortSignal): Promise<RunningServer> {
    const era = server.era ?? this.#eras.get(server.definition) ?? (await this.#findEra(server, signal));
    return this.#startIn(era, server, signal);
  }

  async #findEra(server: CallableServer, signal: AbortSignal): Promise<Era> {
    const { era } = await this.#lookAt(server, signal);
    this.#eras.set(server.definition, era);
    return era;
  }

  /** apart. */
  async #lookAt(server: CallableServer, signal: AbortSignal): Promise<LookedAt> {
    const { era, running } = await this.#startInEither(server, signal);
    try {
      return { era, tools: await this.#list(server, running) };
    } finally {
      await running.end();
    }
  }

  /** The tools without secrets of the server, and a failure without any secret that it may know. */
  async #list(server: CallableServer, running: RunningServer): Promise<readonly ListedTool[]> {
    try {
      return maskedTools(await running.list(server.settings.startTimeoutMs), this.#secretsOf(server));
    } catch (error) {
      const why = redact((error as Error).message, [...server.secrets, ...this.#secretsOf(server)]);
      throw new BlockhouseError('TOOL_SERVER_FAILED', `The tools of ${server.name} can't be listed: ${why}`, { cause: error });
    }
  }

  /** A server of the older era may end when it is asked what it does not know, so it is started once more. */
  async #startInEither(server: CallableServer, signal: AbortSignal): Promise<{ readonly era: Era; readonly running: RunningServer }> {
    try {
      return { era: 'modern', running: await this.#startIn('modern', server, signal) };
    } catch (error) {
      if (signal.aborted || isNoStart(error)) throw error;
      return { era: 'legacy', running: await this.#startIn('legacy', server, signal) };
    }
  }

  async #startIn(era: Era, server: CallableServer, signal: AbortSignal): Promise<RunningServer> {
    const sdk = await loadSdk();
    const surroundings: Surroundings = {
      sdk,
      workspace: this.#options.workspace,
      env: this.#options.env,
      book: this.#book,
      deafMs: this.#options.deafMs ?? DEAF_MS,
      listMs: LIST_MS,
      unasked: this.#options.unasked,
    };
    if (isStdio(server)) return startStdio({ server, era, signal }, surroundings);
    if (isHttp(server)) return startHttp({ server, era, signal }, { sdk, upstream: this.#upstream, signIns: this.#options.signIns, listMs: LIST_MS });
    throw new BlockhouseError('TOOL_SERVER_FAILED', `${server.name} is neither a program nor an address.`);
  }
}

function isStdio(server: CallableServer): server is CallableServer & { readonly start: StdioStart } {
  return server.start.kind === 'stdio';
}

function isHttp(server: CallableServer): server is CallableServer & { readonly start: HttpStart } {
  return server.start.kind === 'http';
}

/** True if nothing was started, or nobody has signed in, so that another greeting changes nothing. */
function isNoStart(error: unknown): boolean {
  const cause = error instanceof BlockhouseError ? error.cause : undefined;
  if (isUnsigned(cause)) return true;
  return (
    typeof cause === 'object' && cause !== null && ['ENOENT', 'EACCES', 'ENOSANDBOX', 'ENOTDIR', 'E2BIG'].includes(String((cause as { code?: unknown }).code))
  );
}
