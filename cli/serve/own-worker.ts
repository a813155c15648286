// The worker's side of a primary: what it gets to serve, and how it says that it is there, ends, and is gone.
//
// said-first: that a connection is taken is said before anything is read from it, so that the primary may give one of which it has heard nothing to another worker.
// no-orphans: a worker whose primary is gone ends: at once where the primary keeps the account of its calls, else as after SIGTERM.
import cluster, { type Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import type { ProcessLine } from '../../core/index.ts';
import type { ExitKind } from '../terminal/exit-codes.ts';
import type { Door } from './hand-off.ts';
import { type Doors, type PrimaryWord, type WorkersPlace, type WorkerWord, Words } from './worker-words.ts';

/** This process, if a pool has started it. */
export function ownWorker(): OwnWorker | undefined {
  return cluster.worker && new OwnWorker(cluster.worker);
}

/** The process of a worker. */
export class OwnWorker {
  /** Unique among all that the primary has started. */
  readonly id: string;
  readonly line: ProcessLine;
  /** Where the primary listens. */
  readonly doors: Promise<Doors>;
  readonly #worker: Worker;
  readonly #words: Words<PrimaryWord>;
  readonly #onEnd: (() => void)[] = [];
  #onDoors: (doors: Doors) => void = () => undefined;
  #take: (door: Door, socket: Socket) => boolean = () => false;
  /** The number of the last connection that it has got. */
  #last = 0;
  /** Others serve while it drains. */
  #drainsAlone = false;

  constructor(worker: Worker) {
    this.#worker = worker;
    this.id = String(worker.id);
    this.doors = new Promise((resolve) => {
      this.#onDoors = resolve;
    });
    this.#words = new Words(
      (listener) => process.on('message', listener as NodeJS.MessageListener),
      (message) => this.#send(message),
      (word, socket) => this.#heard(word, socket),
    );
    this.line = this.#words.line;
    this.#say({ word: 'here' });
  }

  /** `take` gets each new connection from now on, and returns false if its server takes no more. */
  onConnection(take: (door: Door, socket: Socket) => boolean): void {
    this.#take = take;
  }

  ready(place: WorkersPlace): void {
    this.#say({ word: 'ready', place });
  }

  /** The worker can't serve; it ends soon after. */
  failed(kind: ExitKind, message: string): Promise<void> {
    return new Promise((resolve) => this.#send({ word: 'failed', kind, message } satisfies WorkerWord, resolve));
  }

  /** It ends its answers and then itself. New connections go to others, unless the primary has asked for the end. */
  drain(): void {
    this.#drainsAlone = true;
    this.#say({ word: 'drains' });
  }

  /** From now on, the end of the primary is a wish to end in order, and not the end of this process. no-orphans. */
  outlivePrimary(): void {
    this.#worker.exitedAfterDisconnect = true; // else node:cluster ends the process
  }

  /** Called when the primary wants this process to end, or is gone. */
  onEnd(listener: () => void): void {
    this.#onEnd.push(listener);
    process.once('disconnect', listener);
  }

  /** Says nothing more, so that the process may end. */
  leave(): void {
    if (process.connected) process.disconnect();
  }

  #heard(word: PrimaryWord, socket: Socket | undefined): void {
    if (word.word === 'doors') this.#onDoors(word.doors);
    else if (word.word === 'connection') this.#connected(word.number, word.door, socket);
    else if (word.word === 'has') this.#say({ word: word.number === this.#last ? 'taken' : 'refused', number: word.number });
    else {
      this.#drainsAlone = false;
      for (const listener of this.#onEnd) listener();
    }
  }

  #connected(number: number, door: Door, socket: Socket | undefined): void {
    this.#last = number;
    const isTaken = socket === undefined || (!this.#drainsAlone && this.#take(door, socket));
    this.#say({ word: isTaken ? 'taken' : 'refused', number }); // said-first
    if (!isTaken) socket.destroy();
  }

  #say(word: WorkerWord): void {
    this.#send(word);
  }

  #send(message: object, done: () => void = () => undefined): void {
    process.send?.(message, undefined, undefined, done);
  }
}
