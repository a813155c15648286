// The lives of a server that comes to a bad end again and again while people work on it, and a look at what each of them has left.
//
// L1 The disk is looked at while no server runs; what was acknowledged in any life before must be there.
// L2 Every server that is started here is ended here.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { readSnapshot } from './disk.ts';
import { EchoDaemon } from './echo-daemon.ts';
import { type Acknowledged, BlockPromises } from './promises.ts';
import { Random } from './random.ts';
import { ServerProcess } from './server-process.ts';
import { drain, makeBlocks, type Session, work } from './traffic.ts';
import { judge } from './verdict.ts';

/** How a life ends, which is all that one loop has of its own. */
export interface Ending {
  /** In the text of a fault: after so many of them. */
  readonly plural: string;
  /** How likely the end comes while the server starts; otherwise it comes while people work. */
  readonly chanceOfStarting: number;
  /** How likely the server is told to end just before, where people work. */
  readonly chanceOfEnding: number;
  /** While it starts, the end comes within this time; within that of the last start unless given. */
  readonly longestStartMs?: number;
  /** While people work, it comes within this time, or at an event. */
  readonly longestWorkMs: number;
  /** The last event that it may wait for. */
  readonly mostEvents: number;
  /** Often it comes a while after that event. */
  readonly longestPauseMs?: number;
  /** At the latest then, where the event does not come. */
  readonly longestLifeMs: number;
  /** Brings it about, and lets `daemon` know which calls break off with it. */
  end(server: ServerProcess, daemon: EchoDaemon, random: Random): Promise<void>;
  /** Once the server is gone, and before its disk is looked at. */
  restore?(random: Random): Promise<void>;
  /** True if it also loses what was written and not flushed. */
  readonly isPowerCut?: boolean;
}

export interface LivesOptions {
  /** Absolute path of an empty folder. */
  readonly workspace: string;
  readonly seed: number;
  /** So many bad ends at most. */
  readonly most: number;
  /** No further one after this time. */
  readonly seconds?: number | undefined;
  readonly blocks: readonly string[];
  /** For Node itself, where the server runs. */
  readonly nodeFlags?: readonly string[];
  readonly ending: Ending;
  /** Told once the blocks are there, while no server runs. */
  readonly onMade?: () => void;
  /** Told after each end. */
  readonly onEnd?: ((count: number) => void) | undefined;
}

export interface LivesReport {
  readonly seed: number;
  /** All of the bad ones. */
  readonly ends: number;
  /** Ends of a server that was still starting, and of one that was ending. */
  readonly whileStarting: number;
  readonly whileEnding: number;
  readonly acknowledged: Readonly<Record<string, number>>;
  readonly answers: number;
  readonly calls: number;
  /** From the start of a process to its first healthy answer, sorted. */
  readonly readyMs: readonly number[];
  readonly seconds: number;
  /** Nothing is good. With a fault the loop ends. */
  readonly faults: readonly string[];
}

const LONGEST_END_MS = 40;

export class Lives {
  readonly #options: LivesOptions;
  readonly #from = performance.now();
  readonly #random: Random;
  readonly #daemon: EchoDaemon;
  readonly #promised: Acknowledged;
  readonly #faults: string[] = [];
  readonly #readyMs: number[] = [];
  #daemonUrl = '';
  #serial = 0;
  #ends = 0;
  #whileStarting = 0;
  #whileEnding = 0;

  constructor(options: LivesOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#daemon = new EchoDaemon(options.seed + 1);
    this.#promised = { blocks: options.blocks.map((name) => new BlockPromises(name)), travellers: [], counts: {} };
  }

  /** Bad ends, one after the other, and after them a life that ends well. */
  async run(): Promise<LivesReport> {
    const { most, ending, onMade, onEnd } = this.#options;
    this.#daemonUrl = await this.#daemon.listen();
    try {
      await this.#inOneLife(makeBlocks);
      onMade?.();
      while (this.#ends < most && this.#faults.length === 0 && this.#isInTime) {
        await this.#liveAndEnd();
        await ending.restore?.(this.#random);
        this.#look(false);
        onEnd?.(this.#ends);
      }
      if (this.#faults.length === 0) await this.#finish();
    } finally {
      this.#daemon.close();
    }
    return this.#report();
  }

  get #isInTime(): boolean {
    return performance.now() - this.#from < (this.#options.seconds ?? Number.POSITIVE_INFINITY) * 1000;
  }

  #report(): LivesReport {
    return {
      seed: this.#options.seed,
      ends: this.#ends,
      whileStarting: this.#whileStarting,
      whileEnding: this.#whileEnding,
      acknowledged: this.#promised.counts,
      answers: this.#daemon.answered.size,
      calls: [...this.#daemon.calls.values()].reduce((sum, count) => sum + count, 0),
      readyMs: [...this.#readyMs].sort((a, b) => a - b),
      seconds: (performance.now() - this.#from) / 1000,
      faults: this.#faults,
    };
  }

  async #liveAndEnd(): Promise<void> {
    const { ending } = this.#options;
    const server = await this.#begin();
    this.#ends += 1;
    try {
      if (this.#random.chance(ending.chanceOfStarting)) {
        this.#whileStarting += 1;
        await delay(this.#random.below(ending.longestStartMs ?? this.#readyMs.at(-1) ?? ending.longestLifeMs));
        await ending.end(server, this.#daemon, this.#random);
      } else await this.#workAndEnd(server);
    } finally {
      await server.kill(); // L2
    }
  }

  async #workAndEnd(server: ServerProcess): Promise<void> {
    const { ending } = this.#options;
    const session = await this.#sessionOf(server);
    if (session === undefined) return;
    const isToldToEnd = this.#random.chance(ending.chanceOfEnding);
    const working = work(session);
    await this.#momentOfEnd(session.random);
    if (isToldToEnd) {
      this.#whileEnding += 1;
      session.isOver = true;
      server.child.kill('SIGTERM');
      await delay(this.#random.below(LONGEST_END_MS));
    }
    await ending.end(server, this.#daemon, this.#random);
    session.isOver = true;
    await server.kill();
    await working;
    session.client.close();
  }

  /** Any time, or just when something has happened that has consequences on disk. */
  async #momentOfEnd(random: Random): Promise<void> {
    const { longestLifeMs, longestWorkMs, mostEvents, longestPauseMs = 0 } = this.#options.ending;
    const patience = new AbortController();
    const limit = delay(longestLifeMs, undefined, { signal: patience.signal }).catch(() => undefined);
    const moment = random.pick(['any', 'any', 'called', 'answered', 'acknowledged'] as const);
    const wait = async (): Promise<void> => {
      if (moment === 'any') return await delay(random.below(longestWorkMs));
      for (let left = 1 + random.below(mostEvents); left > 0; left -= 1) await once(this.#daemon.moments, moment, { signal: patience.signal });
      if (longestPauseMs > 0 && random.chance(0.7)) await delay(random.below(longestPauseMs));
    };
    await Promise.race([limit, wait().catch(() => undefined)]); // an abort is no fault
    patience.abort();
  }

  /** Nothing more is sent but what was not acknowledged; all queues run empty, and the server ends in good order. */
  async #finish(): Promise<void> {
    await this.#inOneLife(drain);
    this.#look(true);
  }

  /** L1. */
  #look(isDone: boolean): void {
    const { workspace, ending } = this.#options;
    const { calls, leftEarly } = this.#daemon;
    const found = judge(this.#promised, readSnapshot(workspace, { afterPowerCut: ending.isPowerCut === true }), { calls, leftEarly, isDone });
    this.#faults.push(...found.map((fault) => `${this.#when}: ${fault}`));
  }

  get #when(): string {
    return `after ${this.#ends} ${this.#options.ending.plural}`;
  }

  async #inOneLife(doWork: (session: Session) => Promise<void>): Promise<void> {
    const server = await this.#begin();
    try {
      const session = await this.#sessionOf(server);
      if (session === undefined) return;
      await doWork(session);
      session.client.close();
      await server.kill('SIGTERM');
    } finally {
      await server.kill(); // L2
    }
  }

  async #begin(): Promise<ServerProcess> {
    const { workspace, nodeFlags = [] } = this.#options;
    await this.#daemon.judgeBreaks('left');
    return new ServerProcess({ workspace, daemonUrl: this.#daemonUrl, nodeFlags });
  }

  async #sessionOf(server: ServerProcess): Promise<Session | undefined> {
    const ready = await server.ready();
    if (ready === undefined) {
      await server.ended;
      this.#faults.push(`${this.#when} the server did not start: ${server.stderr}`);
      return undefined;
    }
    this.#readyMs.push(ready.ms);
    return {
      client: ready.client,
      daemon: this.#daemon,
      promised: this.#promised,
      random: this.#random.fork(),
      serial: () => {
        this.#serial += 1;
        return this.#serial;
      },
      faults: this.#faults,
      onAcknowledged: () => void this.#daemon.moments.emit('acknowledged'),
      isOver: false,
    };
  }
}
