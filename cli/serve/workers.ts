// The worker processes of a server: all listen on its port, and the primary, which holds the workspace, starts them and starts others for those that die.
//
// growing-pause: the first worker in a row that dies is replaced at once, the next ones after a pause that doubles, up to ten seconds.
// an-end: when no worker is left and five in a row could not start, the server ends with what the last one said.
// all-heard: a worker counts as gone only after all that it has sent was read, since that may be what its last calls have used.
// one-port: the system is asked for a free port here, and not by the workers: one that is started when all others have died has to listen where they did.
// no-orphans: a worker whose primary is gone ends: at once where the primary keeps the account of its calls, else as after SIGTERM.
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { isObject } from '../../core/base/json.ts';
import type { ProcessLine } from '../../core/index.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';

/** Where the workers listen. */
export interface WorkersPlace {
  readonly url: string;
  /** The address of the second server, if there is one. */
  readonly ollamaUrl?: string | undefined;
  readonly hasPage: boolean;
}

/** What a worker and the primary say to each other about the process itself. */
type Word =
  | { readonly word: 'ready'; readonly place: WorkersPlace }
  | { readonly word: 'failed'; readonly kind: ExitKind; readonly message: string }
  | { readonly word: 'end' };

/** What a pool works with. */
export interface WorkerPoolOptions {
  readonly count: number;
  /** A new worker can be heard; the returned function is called when it is gone. */
  onWorker(line: ProcessLine): () => void;
  /** A worker has ended that was not asked to, and another one is started after a pause. */
  onDeath(fact: { readonly worker: number; readonly code: number | null; readonly signal: string | null; readonly pauseMs: number }): void;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** One that has lived for so long does not count as one in a row. */
const SOUND_MS = 10_000;
const MOST_FAILURES = 5;

/** The workers of this process. */
export class WorkerPool {
  /** Rejects with a CliError when no worker can be started any more. an-end. */
  readonly failed: Promise<never>;
  readonly #options: WorkerPoolOptions;
  readonly #running = new Map<Worker, Promise<void>>();
  readonly #ready = new Set<Worker>();
  readonly #pauses = new Set<NodeJS.Timeout>();
  #fail: (error: CliError) => void = () => undefined;
  #onReady: (place: WorkersPlace) => void = () => undefined;
  #place: WorkersPlace | undefined;
  #isStopping = false;
  /** Deaths in a row, and how many of them before the worker was ready. */
  #deaths = 0;
  #failures = 0;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.failed = new Promise((_resolve, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined); // those who wait for it get the error
  }

  /** Resolves when all workers listen. They get `args` after the arguments of this process. Rejects with the CliError of the first that can't. */
  async start(args: readonly string[]): Promise<WorkersPlace> {
    const { count } = this.#options;
    cluster.setupPrimary({ args: [...process.argv.slice(2), ...args] });
    const all = new Promise<WorkersPlace>((resolve) => {
      this.#onReady = (place) => this.#ready.size === count && resolve(place);
    });
    for (let index = 0; index < count; index += 1) this.#begin();
    const place = await Promise.race([all, this.failed]);
    this.#place = place;
    return place;
  }

  /** Lets the workers end their answers, and kills those that are there after `ms`. Resolves when all are gone. */
  async stop(ms: number): Promise<void> {
    this.#isStopping = true;
    for (const pause of this.#pauses) clearTimeout(pause);
    for (const worker of this.#running.keys()) say(worker, { word: 'end' });
    const kill = setTimeout(() => {
      for (const worker of this.#running.keys()) worker.process.kill('SIGKILL');
    }, ms);
    await Promise.all(this.#running.values());
    clearTimeout(kill);
  }

  #begin(): void {
    const worker = cluster.fork();
    const bornAt = performance.now();
    let failure: CliError | undefined;
    const gone = this.#options.onWorker(
      lineOf(
        (listener) => worker.on('message', listener),
        (message) => worker.send(message, () => undefined),
      ),
    );
    worker.on('error', () => undefined); // of a message to one that dies; `exit` reports its end
    worker.on('message', (message: unknown) => {
      if (!isWord(message)) return;
      if (message.word === 'ready') this.#listens(worker, message.place);
      else if (message.word === 'failed') failure = new CliError(message.kind, message.message);
    });
    const unborn = new Promise<readonly [null, null]>((resolve) => {
      worker.process.once('error', () => worker.process.pid === undefined && resolve([null, null])); // the system has no room for it
    });
    const ended = Promise.race([closed(worker), unborn]).then(([code, signal]) => {
      gone(); // all-heard
      this.#running.delete(worker);
      const wasReady = this.#ready.delete(worker);
      if (this.#isStopping) return;
      const facts = { worker: worker.process.pid ?? 0, code: code as number | null, signal: signal as string | null };
      if (wasReady) this.#replace(facts, performance.now() - bornAt);
      else this.#replaceUnready(facts, failure);
    });
    this.#running.set(worker, ended);
  }

  #listens(worker: Worker, place: WorkersPlace): void {
    this.#ready.add(worker);
    this.#failures = 0;
    this.#onReady(place);
  }

  /** growing-pause. */
  #replace(facts: { readonly worker: number; readonly code: number | null; readonly signal: string | null }, livedMs: number): void {
    this.#deaths = livedMs >= SOUND_MS ? 1 : this.#deaths + 1;
    const pauseMs = this.#deaths === 1 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#deaths - 2));
    this.#options.onDeath({ ...facts, pauseMs });
    const pause = setTimeout(() => {
      this.#pauses.delete(pause);
      this.#begin();
    }, pauseMs);
    this.#pauses.add(pause);
  }

  /** an-end. */
  #replaceUnready(facts: { readonly worker: number; readonly code: number | null; readonly signal: string | null }, failure: CliError | undefined): void {
    this.#failures += 1;
    const isFirst = this.#place === undefined;
    if (isFirst || (this.#failures >= MOST_FAILURES && this.#ready.size === 0)) {
      this.#fail(
        failure ?? new CliError('unexpected', `A worker could not start: it ended with ${facts.signal ?? `exit code ${facts.code}`}. The log says why.`),
      );
      return;
    }
    this.#replace(facts, 0);
  }
}

/** The exit code and the signal of a worker, when it has ended and all that it has said was read. A worker that dies while a connection is handed to it has no `disconnect`. */
function closed({ process: child }: Worker): Promise<readonly unknown[]> {
  return new Promise((resolve) => {
    child.once('close', (...how: unknown[]) => resolve(how));
  });
}

/** A port that nobody has now. one-port. Rejects with the system's own error. */
export async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const picked = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  return picked;
}

/** The worker's side. Only in a process that a pool has started. */
export interface OwnWorker {
  /** Unique among all that the primary has started. */
  readonly id: string;
  readonly line: ProcessLine;
  ready(place: WorkersPlace): void;
  /** The worker can't serve; it ends soon after. */
  failed(kind: ExitKind, message: string): Promise<void>;
  /** From now on, the end of the primary is a wish to end in order, and not the end of this process. no-orphans. */
  outlivePrimary(): void;
  /** Called when the primary wants this process to end, or is gone. */
  onEnd(listener: () => void): void;
  /** Says nothing more, so that the process may end. */
  leave(): void;
}

/** This process, if a pool has started it. */
export function ownWorker(): OwnWorker | undefined {
  const { worker } = cluster;
  if (worker === undefined) return undefined;
  const send = (message: object, done: () => void = () => undefined): void => void process.send?.(message, undefined, undefined, done);
  return {
    id: String(worker.id),
    line: lineOf((listener) => process.on('message', listener), send),
    ready: (place) => send({ word: 'ready', place } satisfies Word),
    failed: (kind, message) => new Promise((resolve) => send({ word: 'failed', kind, message } satisfies Word, resolve)),
    outlivePrimary: () => {
      worker.exitedAfterDisconnect = true; // else node:cluster ends the process
    },
    onEnd: (listener) => {
      process.on('message', (message: unknown) => isWord(message) && message.word === 'end' && listener());
      process.once('disconnect', listener);
    },
    leave: () => {
      if (process.connected) process.disconnect();
    },
  };
}

function say(worker: Worker, word: Word): void {
  worker.send(word, () => undefined);
}

function isWord(message: unknown): message is Word {
  return isObject(message) && typeof message['word'] === 'string';
}

/** What both processes say about the work, without what they say about themselves. */
function lineOf(listen: (listener: (message: unknown) => void) => unknown, send: (message: object) => unknown): ProcessLine {
  return {
    send: (message) => void send(message),
    onMessage: (listener) => void listen((message) => isWord(message) || listener(message)),
  };
}
