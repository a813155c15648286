// `npm run demo:cluster`: three servers share a throw-away PostgreSQL, one of them is killed in the middle of its answers, and the database shows that
// no message was lost or answered twice. The model is a stand-in on this machine, which repeats what it is told. Ends by itself.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { EchoDaemon } from '../../spec/support/crash/echo-daemon.ts';
import { Fleet } from '../../spec/support/crash/fleet.ts';
import { ask, noPostgres, postgresStore } from '../../spec/support/postgres.ts';

const SERVERS = 3;
const BLOCKS = ['ada', 'bob', 'cleo', 'dan', 'eve', 'finn'];
const BEFORE = 30;
const AFTER = 12;
/** Slow enough that the kill comes in the middle of answers. */
const LONGEST_PIECE_MS = 600;
const LOOK_EVERY_MS = 250;
const LONGEST_MS = 120_000;

const colored = process.stdout.isTTY && !process.env['NO_COLOR'];
const bold = (text: string): string => (colored ? `\x1b[1m${text}\x1b[0m` : text);
const dim = (text: string): string => (colored ? `\x1b[2m${text}\x1b[0m` : text);
const say = (text = ''): boolean => process.stdout.write(`${text}\n`);
const row = (what: string, value: unknown): boolean => say(`    ${what.padEnd(48)}${bold(String(value))}`);

/** One number of one row. */
async function count(store: string, statement: string): Promise<number> {
  const [found] = await ask(store, statement);
  return Number(found?.['count']);
}

const MESSAGES = "select count(*) from bh.message where role = 'user'";
const ANSWERED =
  "select count(*) from bh.message m where role = 'user' and exists (select from bh.message a where a.block_id = m.block_id and a.reply_to = m.id)";
const TWICE = 'select count(*) from (select from bh.message where reply_to is not null group by block_id, reply_to having count(*) > 1) twice';
const OUT_OF_ORDER = `select count(*) from bh.message a join bh.message q on q.block_id = a.block_id and q.id = a.reply_to
  join bh.message b on b.block_id = a.block_id and b.seq > a.seq join bh.message r on r.block_id = b.block_id and r.id = b.reply_to where r.seq < q.seq`;

class Demo {
  readonly #store: string;
  readonly #fleet: Fleet;
  readonly #daemon: EchoDaemon;
  #posted = 0;

  constructor(store: string, fleet: Fleet, daemon: EchoDaemon) {
    this.#store = store;
    this.#fleet = fleet;
    this.#daemon = daemon;
  }

  async run(): Promise<void> {
    say(`\n  ${bold('1. Three servers, one database')} ${dim('(BLOCKHOUSE_STORE=postgres://… blockhouse serve)')}\n`);
    for (const place of this.#fleet.alive) row(`server ${place + 1}`, this.#fleet.client(place)?.url);
    for (const name of BLOCKS) {
      await this.#call(0, '/api/blocks', { name, config: { adapter: { provider: 'ollama', model: 'stand-in' } } });
      await this.#call(0, `/api/blocks/${name}/start`);
    }
    say(`\n  ${bold(`2. ${BEFORE} messages to ${BLOCKS.length} blocks`)} ${dim('(each to the next server; whichever has the block answers)')}\n`);
    await this.#post(BEFORE);
    await this.#answered(BEFORE / 3);
    const [place, owned] = await this.#busiest();
    say(`\n  ${bold(`3. kill -9 server ${place + 1}`)} ${dim(`(it had ${owned} blocks, and was in the middle of their answers)`)}\n`);
    await this.#fleet.lose(place);
    const from = performance.now();
    await this.#post(AFTER);
    while ((await Promise.all(this.#fleet.alive.map((other) => this.#fleet.owned(other)))).every((blocks) => blocks === 0)) await delay(LOOK_EVERY_MS);
    row('the others have taken its blocks after', `${((performance.now() - from) / 1000).toFixed(1)} s`);
    await this.#answered(BEFORE + AFTER);
    await this.#verdict();
  }

  async #verdict(): Promise<void> {
    const again = [...this.#daemon.calls.values()].filter((calls) => calls > 1).length;
    const [messages, answered] = [await count(this.#store, MESSAGES), await count(this.#store, ANSWERED)];
    const [twice, outOfOrder] = [await count(this.#store, TWICE), await count(this.#store, OUT_OF_ORDER)];
    say(`\n  ${bold('4. What the database says')}\n`);
    row('messages', messages);
    row('lost or not answered', this.#posted - answered);
    row('answered twice', twice);
    row('answered out of order', outOfOrder);
    row('asked of the model once more, after the kill', again);
    say();
    if (messages !== this.#posted || answered !== this.#posted || twice > 0 || outOfOrder > 0) process.exitCode = 1;
  }

  async #post(messages: number): Promise<void> {
    for (let n = 0; n < messages; n += 1) {
      const alive = this.#fleet.alive;
      this.#posted += 1;
      await this.#call(alive[n % alive.length] as number, `/api/blocks/${BLOCKS[n % BLOCKS.length]}/chat`, { message: `msg ${this.#posted}` });
    }
    row('acknowledged', `${messages} messages`);
  }

  async #answered(wanted: number): Promise<void> {
    const until = performance.now() + LONGEST_MS;
    let found = 0;
    while (found < wanted) {
      if (performance.now() > until) throw new Error(`only ${found} of ${wanted} messages were answered within ${LONGEST_MS / 1000} s`);
      await delay(LOOK_EVERY_MS);
      found = await count(this.#store, ANSWERED);
    }
    row('answered', `${found} messages`);
  }

  /** The place whose server has most blocks. */
  async #busiest(): Promise<readonly [place: number, owned: number]> {
    const all = await Promise.all(this.#fleet.alive.map(async (place) => [place, await this.#fleet.owned(place)] as const));
    return all.sort(([, a], [, b]) => b - a)[0] as readonly [number, number];
  }

  async #call(place: number, path: string, body?: unknown): Promise<void> {
    const reply = await this.#fleet.client(place)?.call('POST', path, body);
    if (reply === undefined || reply.status >= 300) throw new Error(`${path} got ${reply?.status} ${JSON.stringify(reply?.json)}`);
  }
}

async function demo(): Promise<void> {
  const ends: (() => unknown)[] = [];
  say(`\n  ${dim('Starting a PostgreSQL for this demo …')}`);
  const store = await postgresStore({ teardown: (end: () => unknown) => void ends.unshift(end) } as unknown as Test);
  const folder = mkdtempSync(join(tmpdir(), 'blockhouse-demo-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const daemon = new EchoDaemon(1, LONGEST_PIECE_MS);
  const fleet = new Fleet({ folder, store, daemonUrl: await daemon.listen(), servers: SERVERS, leaseMs: 8000 });
  try {
    await fleet.start();
    await new Demo(store, fleet, daemon).run();
  } finally {
    await fleet.stop();
    daemon.close();
    for (const end of ends) await end();
  }
}

// The servers end with this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
if (noPostgres === false) {
  await demo().catch((error: Error) => {
    process.stderr.write(`The demo failed: ${error.message}\n`);
    process.exitCode = 1;
  });
} else {
  process.stderr.write(`The demo can't run here: ${noPostgres}\n`);
  process.exitCode = 1;
}
