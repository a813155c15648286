// Cuts the power of a server's disk again and again while people work on it, and looks at what is left after each time.
//
// P1 The next life begins with what the last cut has left; what was acknowledged in any life before must be there.
// P2 Every server that is started here is ended here, before its disk is taken away.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { readSnapshot } from '../../spec/support/crash/disk.ts';
import { EchoDaemon } from '../../spec/support/crash/echo-daemon.ts';
import { type Acknowledged, BlockPromises } from '../../spec/support/crash/promises.ts';
import { Random } from '../../spec/support/crash/random.ts';
import { ServerProcess } from '../../spec/support/crash/server-process.ts';
import { post, type Session, turn, work } from '../../spec/support/crash/traffic.ts';
import { judge } from '../../spec/support/crash/verdict.ts';
import { CutDisk, type DriveCache } from './cut-disk.ts';

export interface CutOptions {
  readonly cuts: number;
  /** No further cut after this time. */
  readonly seconds: number;
  readonly seed: number;
  /** For Node itself, where the server runs. */
  readonly nodeFlags: readonly string[];
  readonly onCut: () => void;
  /** A copy of the workspace is left there with the first fault. */
  readonly keep: string;
}

export interface CutReport {
  readonly seed: number;
  readonly cuts: Readonly<Record<DriveCache, number>>;
  readonly whileStarting: number;
  readonly whileEnding: number;
  readonly acknowledged: Readonly<Record<string, number>>;
  readonly answers: number;
  readonly seconds: number;
  /** Nothing is good. With a fault the loop ends. */
  readonly faults: readonly string[];
}

const BLOCKS = 5;
/** Of one block: so small that its memory is compacted again and again. */
const SMALL_WINDOW = { maxContextTokens: 300, thresholdPercent: 50, keepMessages: 2 };
const LONGEST_START_MS = 800;
const LONGEST_WORK_MS = 160;
const LONGEST_LIFE_MS = 1500;
const LONGEST_END_MS = 40;
const DRAIN_LIMIT_MS = 120_000;

export class CutLoop {
  readonly #options: CutOptions;
  readonly #random: Random;
  readonly #daemon: EchoDaemon;
  readonly #promised: Acknowledged;
  readonly #disk = new CutDisk();
  readonly #faults: string[] = [];
  readonly #cuts = { kept: 0, lost: 0 };
  #daemonUrl = '';
  #serial = 0;
  #whileStarting = 0;
  #whileEnding = 0;

  constructor(options: CutOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#daemon = new EchoDaemon(options.seed + 1);
    this.#promised = { blocks: Array.from({ length: BLOCKS }, (_, index) => new BlockPromises(`cut-${index}`)), travellers: [], counts: {} };
  }

  async run(): Promise<CutReport> {
    const from = performance.now();
    this.#daemonUrl = await this.#daemon.listen();
    try {
      await this.#disk.make();
      await this.#prepare();
      const isInTime = (): boolean => performance.now() - from < this.#options.seconds * 1000;
      while (this.#count < this.#options.cuts && this.#faults.length === 0 && isInTime()) {
        await this.#liveAndLosePower();
        this.#look(false);
        this.#options.onCut();
      }
      if (this.#faults.length === 0) await this.#finish();
    } finally {
      this.#daemon.close();
      this.#disk.remove(this.#faults.length > 0 ? this.#options.keep : undefined);
    }
    return {
      seed: this.#options.seed,
      cuts: this.#cuts,
      whileStarting: this.#whileStarting,
      whileEnding: this.#whileEnding,
      acknowledged: this.#promised.counts,
      answers: this.#daemon.answered.size,
      seconds: (performance.now() - from) / 1000,
      faults: this.#faults,
    };
  }

  get #count(): number {
    return this.#cuts.kept + this.#cuts.lost;
  }

  async #prepare(): Promise<void> {
    await this.#inOneLife(async (session) => {
      for (const [index, block] of session.promised.blocks.entries()) {
        // Each cut may cost an attempt; more cuts at one message than this are no accident.
        const config = { adapter: { provider: 'ollama', model: 'm' }, retry: { maxAttempts: 100 }, ...(index === 1 && { memory: SMALL_WINDOW }) };
        const reply = await session.client.call('POST', '/api/blocks', { name: block.name, config });
        if (reply?.status !== 200) this.#faults.push(`${block.name} was not created: ${JSON.stringify(reply)}`);
        await turn(session, block, true);
      }
    });
  }

  async #liveAndLosePower(): Promise<void> {
    const server = this.#spawn();
    const cache = this.#random.pick(['kept', 'lost'] as const);
    this.#cuts[cache] += 1;
    try {
      if (this.#random.chance(0.1)) {
        this.#whileStarting += 1;
        await delay(this.#random.below(LONGEST_START_MS));
        await this.#disk.cut(server.pid, cache);
      } else await this.#workAndLosePower(server, cache);
    } finally {
      await server.kill(); // P2
    }
    await this.#disk.restore(this.#random.chance(0.5));
  }

  async #workAndLosePower(server: ServerProcess, cache: DriveCache): Promise<void> {
    const session = await this.#sessionOf(server);
    if (session === undefined) return;
    const isToEnd = this.#random.chance(0.1);
    const working = work(session);
    await this.#momentOfCut(session);
    if (isToEnd) {
      this.#whileEnding += 1;
      session.isOver = true;
      server.child.kill('SIGTERM');
      await delay(this.#random.below(LONGEST_END_MS));
    }
    await this.#disk.cut(server.pid, cache);
    session.isOver = true;
    await server.kill();
    await working;
    session.client.close();
  }

  async #sessionOf(server: ServerProcess): Promise<Session | undefined> {
    const ready = await server.ready();
    if (ready === undefined) {
      await server.ended;
      this.#faults.push(`after ${this.#count} cuts the server did not start: ${server.stderr}`);
      return undefined;
    }
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

  /** Any time, or just when something has happened that has consequences on disk. */
  async #momentOfCut({ random }: Session): Promise<void> {
    const patience = new AbortController();
    const limit = delay(LONGEST_LIFE_MS, undefined, { signal: patience.signal }).catch(() => undefined);
    const moment = random.pick(['any', 'any', 'called', 'answered', 'acknowledged'] as const);
    const wait = async (): Promise<void> => {
      if (moment === 'any') return await delay(random.below(LONGEST_WORK_MS));
      for (let left = 1 + random.below(12); left > 0; left -= 1) await once(this.#daemon.moments, moment, { signal: patience.signal });
    };
    await Promise.race([limit, wait().catch(() => undefined)]); // an abort is no fault
    patience.abort();
  }

  /** P1. */
  #look(isDone: boolean): void {
    const found = judge(this.#promised, readSnapshot(this.#disk.workspace), { calls: this.#daemon.calls, isDone });
    this.#faults.push(...found.map((fault) => `after ${this.#count} cuts: ${fault}`));
  }

  /** Nothing more is sent but what was not acknowledged; all queues run empty, and the server ends in good order. */
  async #finish(): Promise<void> {
    await this.#inOneLife(async (session) => {
      for (const block of session.promised.blocks) {
        while (block.messages.some(({ id }) => id === undefined)) if (!(await post(session, block))) return;
        if (!(await turn(session, block, true))) return;
      }
      const deadline = performance.now() + DRAIN_LIMIT_MS;
      for (const { name } of session.promised.blocks) {
        while (await isWaiting(session, name)) {
          if (performance.now() > deadline) {
            this.#faults.push(
              `${name} has messages without an outcome: ${JSON.stringify((await session.client.call('GET', `/api/blocks/${name}/why`))?.json)}`,
            );
            return;
          }
          await delay(20);
        }
      }
    });
    this.#look(true);
  }

  async #inOneLife(doWork: (session: Session) => Promise<void>): Promise<void> {
    const server = this.#spawn();
    try {
      const session = await this.#sessionOf(server);
      if (session === undefined) return;
      await doWork(session);
      session.client.close();
      await server.kill('SIGTERM');
    } finally {
      await server.kill(); // P2
    }
  }

  #spawn(): ServerProcess {
    return new ServerProcess({ workspace: this.#disk.workspace, daemonUrl: this.#daemonUrl, nodeFlags: this.#options.nodeFlags });
  }
}

async function isWaiting({ client }: Session, name: string): Promise<boolean> {
  const reply = await client.call('GET', `/api/blocks/${name}/chat`);
  const messages = (reply?.json['messages'] ?? []) as { status: string }[];
  return reply?.status !== 200 || messages.some(({ status }) => status === 'queued' || status === 'processing');
}
