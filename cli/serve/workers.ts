// The worker processes of a server: the primary, which holds the workspace, starts them and starts others for those that die. It listens, and hands connections to them (hand-off.ts).
//
// growing-pause: the first worker in a row that dies is replaced at once, the next ones after a pause that doubles, up to ten seconds.
// an-end: when no worker is left and five in a row could not start, the server ends with what the last one said.
// all-heard: a worker counts as gone only after all that it has sent was read, since that may be what its last calls have used.
import cluster, { type Worker } from 'node:cluster';
import type { ProcessLine } from '../../core/index.ts';
import { CliError } from '../terminal/exit-codes.ts';
import { type Door, HandOff, type Taker } from './hand-off.ts';
import { type Doors, type PrimaryWord, Words, type WorkersPlace, type WorkerWord } from './worker-words.ts';

/** What a pool works with. */
export interface WorkerPoolOptions {
  readonly count: number;
  /** A new worker can be heard; the returned function is called when it is gone. */
  onWorker(line: ProcessLine): () => void;
  /** A worker has ended that was not asked to, and another one is started after a pause. */
  onDeath(fact: { readonly worker: number; readonly code: number | null; readonly signal: string | null; readonly pauseMs: number }): void;
  /** A connection was closed, because so many wait for workers. */
  onDrop(most: number): void;
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
  readonly #handOff: HandOff;
  readonly #running = new Map<Worker, Promise<void>>();
  readonly #ready = new Set<Worker>();
  readonly #pauses = new Set<NodeJS.Timeout>();
  #fail: (error: CliError) => void = () => undefined;
  #onReady: (place: WorkersPlace) => void = () => undefined;
  #doors: Doors | undefined;
  #place: WorkersPlace | undefined;
  #isStopping = false;
  /** Deaths in a row, and how many of them before the worker was ready. */
  #deaths = 0;
  #failures = 0;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#handOff = new HandOff(options.onDrop);
    this.failed = new Promise((_resolve, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined); // those who wait for it get the error
  }

  /** Listens for the connections of the workers, also before the first of them can take any. Rejects with the system's own error. */
  listen(door: Door, port: number, host: string): ReturnType<HandOff['listen']> {
    return this.#handOff.listen(door, port, host);
  }

  /** Resolves when all workers serve what comes to these addresses. Rejects with the CliError of the first that can't. */
  async start(doors: Doors): Promise<WorkersPlace> {
    const { count } = this.#options;
    this.#doors = doors;
    cluster.setupPrimary({ args: process.argv.slice(2) });
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
    this.#handOff.end();
    for (const worker of this.#running.keys()) say(worker, { word: 'end' });
    const kill = setTimeout(() => {
      for (const worker of this.#running.keys()) worker.process.kill('SIGKILL');
    }, ms);
    await Promise.all(this.#running.values());
    clearTimeout(kill);
    this.#handOff.close();
  }

  #begin(): void {
    const worker = cluster.fork();
    const bornAt = performance.now();
    const taker = takerOf(worker, {
      refuse: (number) => this.#handOff.refused(taker, number),
      leave: () => this.#handOff.remove(taker),
    });
    let failure: CliError | undefined;
    let gone: (() => void) | undefined;
    const words = new Words<WorkerWord>(
      (listener) => worker.on('message', listener),
      (message) => worker.send(message, () => undefined),
      (word) => {
        if (word.word === 'here') gone = this.#isHere(worker, words.line);
        else if (word.word === 'ready') this.#listens(worker, taker, word.place);
        else if (word.word === 'failed') failure = new CliError(word.kind, word.message);
        else if (word.word === 'drains') this.#handOff.drains(taker);
        else this.#handOff[word.word](taker, word.number);
      },
    );
    worker.on('error', () => undefined); // of a message to one that dies; `exit` reports its end
    const unborn = new Promise<readonly [null, null]>((resolve) => {
      worker.process.once('error', () => worker.process.pid === undefined && resolve([null, null])); // the system has no room for it
    });
    const ended = Promise.race([closed(worker), unborn]).then(([code, signal]) => {
      gone?.(); // all-heard
      this.#handOff.remove(taker);
      this.#running.delete(worker);
      const wasReady = this.#ready.delete(worker);
      if (this.#isStopping) return;
      const facts = { worker: worker.process.pid ?? 0, code: code as number | null, signal: signal as string | null };
      if (wasReady) this.#replace(facts, performance.now() - bornAt);
      else this.#replaceUnready(facts, failure);
    });
    this.#running.set(worker, ended);
  }

  #isHere(worker: Worker, line: ProcessLine): () => void {
    if (this.#doors !== undefined) say(worker, { word: 'doors', doors: this.#doors });
    if (this.#isStopping) say(worker, { word: 'end' });
    return this.#options.onWorker(line);
  }

  #listens(worker: Worker, taker: Taker, place: WorkersPlace): void {
    this.#ready.add(worker);
    this.#handOff.add(taker);
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

/** What a message fails with whose worker is gone. Its end may be noticed later, and until then it must not count among those that a connection could go to. */
const GONE: ReadonlySet<unknown> = new Set(['EPIPE', 'ECONNRESET', 'ERR_IPC_CHANNEL_CLOSED']);

/** How connections get to a worker. One that can't be sent gets back: by `leave` if the worker is gone, else by `refuse`. */
export function takerOf(worker: Pick<Worker, 'send'>, { refuse, leave }: { readonly refuse: (number: number) => void; readonly leave: () => void }): Taker {
  return {
    hand: (number, door, socket) => {
      const word: PrimaryWord = { word: 'connection', number, door };
      worker.send(word, socket, { keepOpen: true }, (error: NodeJS.ErrnoException | null) => {
        if (GONE.has(error?.code)) leave();
        else if (error !== null) refuse(number);
      });
    },
    ask: (number) => say(worker, { word: 'has', number }),
  };
}

function say(worker: Pick<Worker, 'send'>, word: PrimaryWord): void {
  worker.send(word, () => undefined);
}
