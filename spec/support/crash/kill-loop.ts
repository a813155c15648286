// Kills a server again and again while people work on it, and looks at what is left after each time.
//
// Q1 The disk is looked at while no server runs; what was acknowledged in any life before must be there.
// Q2 Every server that is started here is ended here.
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readSnapshot } from './disk.ts';
import { EchoDaemon } from './echo-daemon.ts';
import { type Acknowledged, BlockPromises } from './promises.ts';
import { Random } from './random.ts';
import type { ServerClient } from './server-client.ts';
import { ServerProcess } from './server-process.ts';
import { post, type Session, turn, work } from './traffic.ts';
import { judge } from './verdict.ts';

export interface KillOptions {
  /** Absolute path of an empty folder. */
  readonly workspace: string;
  readonly kills: number;
  /** No further kill after this time; a busy machine may come to fewer. */
  readonly seconds?: number;
  readonly seed: number;
  readonly blocks?: number;
  /** Told after each kill. */
  readonly onKill?: (count: number) => void;
}

export interface KillReport {
  readonly seed: number;
  readonly kills: number;
  /** Kills of a server that was still starting, and of one that was ending. */
  readonly whileStarting: number;
  readonly whileEnding: number;
  readonly acknowledged: Readonly<Record<string, number>>;
  readonly answers: number;
  readonly calls: number;
  /** From the start of a process to its first healthy answer. */
  readonly readyMs: readonly number[];
  readonly seconds: number;
  /** Nothing is good. With a fault the loop ends. */
  readonly faults: readonly string[];
}

/** Messages of the first block that are there before all: its oldest entries move to chat-archive/ from the beginning. */
const OLD_MESSAGES = 249;
/** Of the second block: so small that its memory is compacted again and again. */
const SMALL_WINDOW = { maxContextTokens: 300, thresholdPercent: 50, keepMessages: 2 };
/** The kill comes at the latest then, where the moment that it was to come at does not. */
const LONGEST_LIFE_MS = 1000;
const LONGEST_WORK_MS = 120;
const LONGEST_END_MS = 40;
const DRAIN_LIMIT_MS = 120_000;

export async function killAgainAndAgain(options: KillOptions): Promise<KillReport> {
  const loop = new KillLoop(options);
  return await loop.run();
}

class KillLoop {
  readonly #options: KillOptions;
  readonly #random: Random;
  readonly #daemon: EchoDaemon;
  readonly #promised: Acknowledged;
  readonly #faults: string[] = [];
  readonly #readyMs: number[] = [];
  #daemonUrl = '';
  #serial = 0;
  #kills = 0;
  #whileStarting = 0;
  #whileEnding = 0;

  constructor(options: KillOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#daemon = new EchoDaemon(options.seed + 1);
    const names = Array.from({ length: options.blocks ?? 5 }, (_, index) => `kill-${index}`);
    this.#promised = { blocks: names.map((name) => new BlockPromises(name)), travellers: [], counts: {} };
  }

  async run(): Promise<KillReport> {
    const from = performance.now();
    this.#daemonUrl = await this.#daemon.listen();
    try {
      await this.#prepare();
      const isInTime = (): boolean => performance.now() - from < (this.#options.seconds ?? Number.POSITIVE_INFINITY) * 1000;
      while (this.#kills < this.#options.kills && this.#faults.length === 0 && isInTime()) {
        await this.#liveAndDie();
        this.#look(false);
        this.#options.onKill?.(this.#kills);
      }
      if (this.#faults.length === 0) await this.#finish();
    } finally {
      this.#daemon.close();
    }
    return {
      seed: this.#options.seed,
      kills: this.#kills,
      whileStarting: this.#whileStarting,
      whileEnding: this.#whileEnding,
      acknowledged: this.#promised.counts,
      answers: this.#daemon.answered.size,
      calls: [...this.#daemon.calls.values()].reduce((sum, count) => sum + count, 0),
      readyMs: [...this.#readyMs].sort((a, b) => a - b),
      seconds: (performance.now() - from) / 1000,
      faults: this.#faults,
    };
  }

  async #prepare(): Promise<void> {
    await this.#inOneLife(async (session) => {
      for (const [index, { name }] of session.promised.blocks.entries()) {
        // Each kill may cost an attempt; more kills at one message than this are no accident.
        const config = { adapter: { provider: 'ollama', model: 'm' }, retry: { maxAttempts: 100 }, ...(index === 1 && { memory: SMALL_WINDOW }) };
        const reply = await session.client.call('POST', '/api/blocks', { name, config });
        if (reply?.status !== 200) this.#faults.push(`${name} was not created: ${JSON.stringify(reply)}`);
        await turn(session, session.promised.blocks[index] as BlockPromises, true);
      }
    });
    const [first] = this.#promised.blocks;
    if (first === undefined) return;
    const folder = join(this.#options.workspace, 'blocks', first.name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'chat.json'), JSON.stringify(Array.from({ length: OLD_MESSAGES }, (_, index) => oldExchange(index)).flat()));
  }

  /** One life of a server, which a kill ends. */
  async #liveAndDie(): Promise<void> {
    const server = this.#spawn();
    this.#kills += 1;
    try {
      if (this.#random.chance(0.15)) {
        this.#whileStarting += 1;
        await delay(this.#random.below(this.#readyMs.at(-1) ?? LONGEST_LIFE_MS));
        await server.kill();
        return;
      }
      const session = await this.#sessionOf(server);
      if (session === undefined) return;
      const isToEnd = this.#random.chance(0.15);
      const working = work(session);
      await this.#momentOfDeath(session);
      session.isOver = true;
      if (isToEnd) {
        this.#whileEnding += 1;
        server.child.kill('SIGTERM');
        await delay(this.#random.below(LONGEST_END_MS));
      }
      await server.kill();
      await working;
      session.client.close();
    } finally {
      await server.kill(); // Q2
    }
  }

  async #sessionOf(server: ServerProcess): Promise<Session | undefined> {
    const ready = await server.ready();
    if (ready === undefined) {
      await server.ended;
      this.#faults.push(`after ${this.#kills} kills the server did not start: ${server.stderr}`);
      return undefined;
    }
    this.#readyMs.push(ready.ms);
    return this.#session(ready.client);
  }

  #session(client: ServerClient): Session {
    return {
      client,
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
  async #momentOfDeath({ random }: Session): Promise<void> {
    const patience = new AbortController();
    const limit = delay(LONGEST_LIFE_MS, undefined, { signal: patience.signal }).catch(() => undefined);
    const moment = random.pick(['any', 'any', 'called', 'answered', 'acknowledged'] as const);
    const wait = async (): Promise<void> => {
      if (moment === 'any') return await delay(random.below(LONGEST_WORK_MS));
      for (let left = 1 + random.below(8); left > 0; left -= 1) await once(this.#daemon.moments, moment, { signal: patience.signal });
      if (random.chance(0.7)) await delay(random.below(8));
    };
    await Promise.race([limit, wait().catch(() => undefined)]); // an abort is no fault
    patience.abort();
  }

  /** Q1. */
  #look(isDone: boolean): void {
    const found = judge(this.#promised, readSnapshot(this.#options.workspace), { calls: this.#daemon.calls, isDone });
    this.#faults.push(...found.map((fault) => `after ${this.#kills} kills: ${fault}`));
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
        while (await isWaiting(session.client, name)) {
          const stuck = await whyStuck(session.client, name, performance.now() > deadline);
          if (stuck !== undefined) {
            this.#faults.push(stuck);
            return;
          }
          await delay(20);
        }
      }
    });
    this.#look(true);
  }

  async #inOneLife(work: (session: Session) => Promise<void>): Promise<void> {
    const server = this.#spawn();
    try {
      const session = await this.#sessionOf(server);
      if (session === undefined) return;
      await work(session);
      session.client.close();
      await server.kill('SIGTERM');
    } finally {
      await server.kill(); // Q2
    }
  }

  #spawn(): ServerProcess {
    return new ServerProcess({ workspace: this.#options.workspace, daemonUrl: this.#daemonUrl });
  }
}

async function isWaiting(client: ServerClient, name: string): Promise<boolean> {
  const reply = await client.call('GET', `/api/blocks/${name}/chat`);
  const messages = (reply?.json['messages'] ?? []) as { status: string }[];
  return reply?.status !== 200 || messages.some(({ status }) => status === 'queued' || status === 'processing');
}

/** A monitor that waits for a person, or takes too long; undefined while it works. */
async function whyStuck(client: ServerClient, name: string, isLate: boolean): Promise<string | undefined> {
  const why = (await client.call('GET', `/api/blocks/${name}/why`))?.json;
  if (!isLate && why?.['state'] !== 'failed' && why?.['state'] !== 'paused') return undefined;
  return `${name} has messages without an outcome: ${JSON.stringify(why)}`;
}

/** As by hand, long ago. */
function oldExchange(index: number): object[] {
  const id = `m00000${String(index).padStart(4, '0')}`;
  const timestamp = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString();
  const common = { timestamp, processed: true, status: 'done', channel: 'web' };
  return [
    { id: `${id}a`, role: 'user', content: `old ${index}`, ...common },
    { id: `${id}b`, role: 'assistant', content: `${index} is old`, replyTo: `${id}a`, ...common },
  ];
}
