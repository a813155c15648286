// One place of a server, or of a server and a block: at most one process at a time, its calls, and what happens when it ends.
//
// back-off: after an exit the next call starts it again 1, 2, 4, 8 seconds later; five exits within ten minutes make it `failed` for ten minutes.
// cut-together: what ends a slot ends its calls, and those that wait are not begun.
import { setTimeout as delay } from 'node:timers/promises';
import { BlockhouseError, type ServerFact, type ToolCallRequest, type ToolOutcome, type ToolQuestion, toBlockhouseError } from '../../core/index.ts';
import { abortable } from './abortable.ts';
import type { Holder, Places } from './places.ts';
import { isUnsigned, type RunningServer } from './running-server.ts';
import type { CallableServer, ListedTool, Sessions } from './server.ts';
import { Turns } from './turns.ts';

const MAX_EXITS = 5;
const EXITS_WITHIN_MS = 600_000;

/** What all slots of a host share. */
export interface SlotParts {
  readonly places: Places;
  /** The first pause after an exit; each next one is twice as long. */
  readonly backOffMs: number;
  now(): number;
  /** Rejects with TOOL_SERVER_FAILED. */
  start(server: CallableServer, signal: AbortSignal): Promise<RunningServer>;
  /** Without secrets. Rejects with TOOL_SERVER_FAILED. */
  list(server: CallableServer, running: RunningServer): Promise<readonly ListedTool[]>;
  onTools(server: string, tools: readonly ListedTool[]): void;
  onServer(fact: ServerFact): void;
}

/** See the file's head. */
export class Slot implements Holder {
  idleSince: number | undefined;
  #server: CallableServer;
  readonly #parts: SlotParts;
  readonly #turns: Turns;
  readonly #cut = new AbortController();
  #running: RunningServer | undefined;
  #starting: Promise<RunningServer> | undefined;
  #ending: Promise<void> | undefined;
  #exits: number[] = [];
  #problem: string | undefined;
  #calls = 0;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(server: CallableServer, parts: SlotParts) {
    this.#server = server;
    this.#parts = parts;
    this.#turns = new Turns(server.settings.concurrency);
  }

  get server(): CallableServer {
    return this.#server;
  }

  get name(): string {
    return this.#server.name;
  }

  get state(): ReturnType<Sessions['stateOf']> {
    const problem = this.#problem;
    if (this.#ending !== undefined) return { state: 'stopping' };
    if (this.#running !== undefined) return { state: 'ready' };
    if (this.#starting !== undefined) return { state: 'starting' };
    return this.#hasFailed ? { state: 'failed', problem } : { state: 'idle', problem };
  }

  /** As `ToolHost.call`. `server` has the same definition as before; its settings and secrets are used from the next start on. */
  async call(server: CallableServer, call: ToolCallRequest, outer: AbortSignal): Promise<ToolOutcome | ToolQuestion> {
    this.#server = server;
    this.#calls += 1;
    this.#beBusy();
    const signal = AbortSignal.any([outer, this.#cut.signal]);
    try {
      const leave = await notBegun(this.#turns.enter(signal), signal);
      try {
        const running = await notBegun(this.#get(signal), signal);
        return await running.call(server, call, signal);
      } finally {
        leave();
      }
    } finally {
      this.#calls -= 1;
      if (this.#calls === 0) this.#beIdle();
    }
  }

  /** Forgets the exits, after the server was seen to start. */
  forgive(): void {
    this.#exits = [];
    this.#problem = undefined;
  }

  /** What is wrong without an end of the process. */
  note(problem: string): void {
    this.#problem = problem;
  }

  makeRoom(): Promise<void> {
    return this.#stop();
  }

  /** cut-together: ends the calls and the process, for good. */
  async end(): Promise<void> {
    this.#cut.abort(new Error('The server of the tool is being ended.'));
    clearTimeout(this.#idleTimer);
    await this.#starting?.catch(() => undefined); // it was told to the calls
    await this.#stop();
  }

  /** The running server; several calls wait for one start. */
  #get(signal: AbortSignal): Promise<RunningServer> {
    if (this.#running !== undefined && !this.#running.hasEnded && this.#ending === undefined) return Promise.resolve(this.#running);
    if (this.#starting === undefined) {
      const starting = this.#start();
      this.#starting = starting;
      starting
        .finally(() => {
          this.#starting = undefined;
        })
        .catch(() => undefined); // the calls hear of it
    }
    return abortable(this.#starting, signal);
  }

  async #start(): Promise<RunningServer> {
    const { places } = this.#parts;
    const { signal } = this.#cut;
    await this.#ending;
    if (this.#hasFailed)
      throw new BlockhouseError('TOOL_SERVER_FAILED', `${this.#server.name} has ended ${MAX_EXITS} times within ten minutes. ${this.#problem ?? ''}`.trim());
    await this.#waitAfterExit(signal);
    if (this.#isProcess) await places.take(this, signal);
    try {
      const running = await this.#parts.start(this.#server, signal);
      this.#running = running;
      if (this.#isProcess) this.#tell(running);
      running.onTools = () => void this.#list(running);
      void running.ended.then((how) => this.#onEnd(running, how));
      if (this.#calls === 0) this.#beIdle(); // those that waited for the start have left
      return running;
    } catch (error) {
      places.free(this);
      if (isUnsigned(error)) this.#problem = toBlockhouseError(error).message;
      else if (!signal.aborted) this.#noteExit(toBlockhouseError(error).message);
      throw error;
    }
  }

  #tell(running: RunningServer): void {
    const server = this.#server.name;
    this.#parts.onServer({ kind: 'started', server });
    void running.ended.then((reason) => this.#parts.onServer({ kind: 'exited', server, reason }));
  }

  /** A server at an address takes no place. */
  get #isProcess(): boolean {
    return this.#server.start.kind === 'stdio';
  }

  /** back-off. */
  async #waitAfterExit(signal: AbortSignal): Promise<void> {
    const last = this.#exits.at(-1);
    if (last === undefined) return;
    const ms = last + this.#parts.backOffMs * 2 ** (this.#exits.length - 1) - this.#parts.now();
    if (ms > 0) await delay(ms, undefined, { signal });
  }

  get #hasFailed(): boolean {
    const from = this.#parts.now() - EXITS_WITHIN_MS;
    this.#exits = this.#exits.filter((at) => at > from);
    return this.#exits.length >= MAX_EXITS;
  }

  #noteExit(problem: string): void {
    this.#exits.push(this.#parts.now());
    this.#problem = problem;
  }

  #onEnd(running: RunningServer, how: string): void {
    if (this.#running !== running) return; // we have ended it
    this.#noteExit(`${this.#server.name} ${how}.`);
    void this.#stop();
  }

  /** Ends the process, and frees its place then. */
  #stop(): Promise<void> {
    const running = this.#running;
    if (this.#ending !== undefined) return this.#ending;
    if (running === undefined) return Promise.resolve();
    this.idleSince = undefined;
    this.#running = undefined;
    this.#ending = running.end().finally(() => {
      this.#ending = undefined;
      this.#parts.places.free(this);
    });
    return this.#ending;
  }

  #beBusy(): void {
    clearTimeout(this.#idleTimer);
    this.idleSince = undefined;
  }

  #beIdle(): void {
    if (this.#running === undefined || this.#cut.signal.aborted) return;
    this.idleSince = this.#parts.now();
    this.#idleTimer = setTimeout(() => void this.#stop(), this.#server.settings.idleStopMs);
    this.#idleTimer.unref();
    this.#parts.places.look(this);
  }

  async #list(running: RunningServer): Promise<void> {
    try {
      this.#parts.onTools(this.#server.name, await this.#parts.list(this.#server, running));
    } catch (error) {
      this.#problem = toBlockhouseError(error).message;
    }
  }
}

/** Whatever keeps a call from being sent. */
async function notBegun<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const why = signal.aborted ? 'The call was cut off before it was sent.' : toBlockhouseError(error).message;
    throw new BlockhouseError('TOOL_NOT_BEGUN', why, { cause: error });
  }
}
