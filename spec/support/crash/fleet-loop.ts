// Kills and freezes servers of one database again and again while people post to all of them, and asks the database in the end what is left.
//
// Nothing here knows how a server works: messages go in over HTTP, and what has become of them is read by statements of its own.
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../postgres.ts';
import { EchoDaemon, echoOf } from './echo-daemon.ts';
import { Fleet } from './fleet.ts';
import { Random } from './random.ts';

export interface FleetLoopOptions {
  /** Absolute path of an empty folder. */
  readonly folder: string;
  /** The value of BLOCKHOUSE_STORE. */
  readonly store: string;
  readonly seed: number;
  /** Kills and freezes. */
  readonly ends: number;
  readonly servers?: number;
  readonly blocks?: number;
  readonly leaseMs?: number;
  /** Each so many of the ends is a freeze of one and a half leases. */
  readonly freezeEach?: number;
  /** Each so many of the ends kills a server that is about to join, if there is one. */
  readonly killAtStartEach?: number;
  /** Told after each end. */
  readonly onEnd?: (count: number) => void;
}

export interface FleetReport {
  readonly kills: number;
  /** Of the kills those of a server that did not answer yet. */
  readonly killsAtStart: number;
  /** Of the kills those of a server that had blocks, which others took. */
  readonly killsOfOwners: number;
  readonly freezes: number;
  readonly seconds: number;
  /** Acknowledged messages. */
  readonly messages: number;
  /** Of the model, as the provider has counted them. */
  readonly calls: number;
  /** Lines in the ledger. */
  readonly bills: number;
  /** Messages whose answer was made more than once. */
  readonly repeated: number;
  /** Milliseconds until others had what a killed server had. */
  readonly takeoverMs: readonly number[];
  /** From the last post until all was answered. */
  readonly quietAfterMs: number;
  readonly faults: readonly string[];
}

const LONGEST_PIECE_MS = 60;
const BETWEEN_ENDS_MS = 2000;
const BETWEEN_POSTS_MS = 3200;
/** Each so many of the ends are of any server, whether it has blocks or not. */
const ANY_EACH = 5;
/** A block goes on within a lease and two seconds; this is far more. It holds for each message, because a busy machine needs its time for many. */
const LONGEST_TURN_MS = 120_000;

interface Posted {
  readonly text: string;
  readonly id: string;
}

/** Posts to one block, one message after the other, each until it is acknowledged by one of the servers. */
class Poster {
  readonly block: string;
  readonly posted: Posted[] = [];
  readonly faults: string[] = [];
  readonly #fleet: Fleet;
  readonly #random: Random;

  constructor(fleet: Fleet, block: string, random: Random) {
    this.#fleet = fleet;
    this.block = block;
    this.#random = random;
  }

  async run(signal: AbortSignal): Promise<void> {
    for (let n = 0; !signal.aborted; n += 1) {
      const text = `msg ${this.block}-${n}`;
      this.posted.push({ text, id: await this.#post(text, `${this.block}-${n}`) });
      await delay(this.#random.below(BETWEEN_POSTS_MS));
    }
  }

  async #post(message: string, clientId: string): Promise<string> {
    for (;;) {
      const { alive } = this.#fleet;
      const client = alive.length === 0 ? undefined : this.#fleet.client(this.#random.pick(alive));
      const reply = await client?.call('POST', `/api/blocks/${this.block}/chat`, { message, clientId });
      if (reply !== undefined && reply.status < 300) return String(reply.json['id']);
      // 408: it stood still while it read the request. 429: the queue is full, since a busy machine ends servers faster than it starts them.
      if (reply !== undefined && ![503, 408, 429].includes(reply.status)) this.faults.push(`${clientId} got ${reply.status} ${JSON.stringify(reply.json)}`);
      await delay(reply?.status === 429 ? 1000 : 50);
    }
  }
}

/** Resolves once all is quiet again and was looked at. */
export async function endServersAgainAndAgain({
  folder,
  store,
  seed,
  ends,
  servers = 3,
  blocks = 40,
  leaseMs = 8000,
  freezeEach = 8,
  killAtStartEach = 6,
  onEnd,
}: FleetLoopOptions): Promise<FleetReport> {
  const begin = performance.now();
  const random = new Random(seed);
  const daemon = new EchoDaemon(seed, LONGEST_PIECE_MS);
  const fleet = new Fleet({ folder, store, daemonUrl: await daemon.listen(), servers, leaseMs });
  const takeoverMs: number[] = [];
  let [freezes, killsAtStart, killsOfOwners] = [0, 0, 0];
  try {
    await fleet.start();
    const posters = Array.from({ length: blocks }, (_, index) => new Poster(fleet, `scale-${index}`, random.fork()));
    for (const { block } of posters) await makeBlock(fleet, block);
    const stop = new AbortController();
    const posting = posters.map((poster) => poster.run(stop.signal));
    const takeovers: Promise<number | undefined>[] = [];
    const thaws: Promise<void>[] = [];
    const replaced: Promise<void>[] = [];
    for (let count = 1; count <= ends; count += 1) {
      await delay(random.below(BETWEEN_ENDS_MS));
      const atStart = count % killAtStartEach === 0 ? fleet.starting : [];
      const place = random.pick(atStart.length > 0 ? atStart : await atWork(fleet, count % ANY_EACH === 0 ? 0 : leaseMs * 2));
      if (count % freezeEach === 0 && atStart.length === 0) {
        freezes += 1;
        thaws.push(fleet.freeze(place, leaseMs * 1.5));
      } else {
        killsAtStart += Math.min(atStart.length, 1);
        const killed = await fleet.kill(place);
        killsOfOwners += Math.min(killed.had, 1);
        takeovers.push(killed.taken);
        replaced.push(killed.replaced);
        for (const each of [killed.taken, killed.replaced]) each.catch(() => undefined); // thrown below, where it is awaited
      }
      onEnd?.(count);
    }
    await Promise.all([...thaws, ...replaced]);
    stop.abort();
    await Promise.all(posting);
    takeoverMs.push(...(await Promise.all(takeovers)).filter((ms) => ms !== undefined));
    const faults = posters.flatMap((poster) => poster.faults);
    const lastPost = performance.now();
    faults.push(...(await untilQuiet(store)));
    const quietAfterMs = performance.now() - lastPost;
    await fleet.stop();
    faults.push(...(await look(store, posters)), ...unexpected(fleet.said));
    const [bills] = await ask(store, 'select count(*)::int as count from bh.ledger');
    return {
      kills: ends - freezes,
      killsAtStart,
      killsOfOwners,
      freezes,
      seconds: (performance.now() - begin) / 1000,
      messages: posters.reduce((sum, { posted }) => sum + posted.length, 0),
      calls: [...daemon.calls.values()].reduce((sum, count) => sum + count, 0),
      bills: Number(bills?.['count']),
      repeated: [...daemon.calls.values()].filter((count) => count > 1).length,
      takeoverMs,
      quietAfterMs,
      faults,
    };
  } finally {
    await fleet.stop();
    daemon.close();
  }
}

/** Places whose server has blocks, while another one lives; after a while any that lives, because a busy machine may end servers faster than they take blocks. */
async function atWork(fleet: Fleet, patienceMs: number): Promise<readonly number[]> {
  for (const end = performance.now() + patienceMs; performance.now() < end; await delay(50)) {
    const owners = await fleet.owners();
    if (owners.length > 0 && fleet.alive.length > 1) return owners;
  }
  for (const end = performance.now() + LONGEST_TURN_MS; fleet.alive.length === 0; await delay(20))
    if (performance.now() > end) throw new Error('no server starts any more');
  return fleet.alive;
}

async function makeBlock(fleet: Fleet, name: string): Promise<void> {
  const config = { adapter: { provider: 'ollama', model: 'm' }, retry: { maxAttempts: 100, maxDelayMs: 5000 } };
  const client = fleet.client(0);
  for (const [path, body] of [['/api/blocks', { name, config }], [`/api/blocks/${name}/start`]] as const) {
    const reply = await client?.call('POST', path, body);
    if (reply === undefined || reply.status >= 300) throw new Error(`${path} got ${JSON.stringify(reply)}`);
  }
}

/** Of each block the message whose turn it is. */
const NEXT = `select distinct on (b.name) b.name, m.id from bh.message m join bh.block b on b.id = m.block_id
  where m.status in ('queued', 'processing') order by b.name, m.seq`;

/** Resolves when all is answered, or with what is known of the first block that did not go on. */
async function untilQuiet(store: string): Promise<string[]> {
  let since = new Map<string, number>();
  for (;;) {
    const now = performance.now();
    const next = (await ask(store, NEXT)).map(({ name, id }) => ({ name: String(name), message: `${name}: ${id}` }));
    if (next.length === 0) return [];
    since = new Map(next.map(({ message }) => [message, since.get(message) ?? now]));
    const late = next.find(({ message }) => now - (since.get(message) ?? now) > LONGEST_TURN_MS);
    if (late !== undefined) return [`still open after ${LONGEST_TURN_MS} ms: ${late.message}`, ...(await stuck(store, late.name))];
    await delay(200);
  }
}

/** What is known of a block that nobody works on. */
async function stuck(store: string, name: string): Promise<string[]> {
  const block = 'select id from bh.block where name = $1';
  const rows = await ask(store, `select *, clock_timestamp() as now from bh.block where id in (${block})`, [name]);
  const pulse = await ask(store, `select value from bh.document where kind = 'pulse' and block_id in (${block})`, [name]);
  const lines = await ask(
    store,
    `select convert_from(bytes, 'UTF8') as line from bh.log_line where block_id in (${block}) order by at desc, place desc limit 25`,
    [name],
  );
  const nodes = await ask(store, 'select id, url, expires_at from bh.node');
  return [rows, pulse, nodes].map((each) => JSON.stringify(each)).concat(lines.map(({ line }) => String(line).trim()));
}

/** Statements whose rows are faults. */
const NONE_OF: Readonly<Record<string, string>> = {
  'not done': "select block_id, id, status, error from bh.message where role = 'user' and status <> 'done'",
  'answered twice': 'select block_id, reply_to from bh.message where reply_to is not null group by 1, 2 having count(*) > 1',
  'answers out of order': `select a.block_id, a.id from bh.message a join bh.message q on q.block_id = a.block_id and q.id = a.reply_to
    join bh.message a2 on a2.block_id = a.block_id and a2.seq > a.seq join bh.message q2 on q2.block_id = a2.block_id and q2.id = a2.reply_to where q2.seq < q.seq`,
  'ids that do not grow': 'select m.block_id, m.id from bh.message m join bh.message n on n.block_id = m.block_id and n.seq > m.seq and n.id <= m.id',
  'counters that are not those of the rows': `select * from (select b.name, b.queued, b.processing, b.failed, count(*) filter (where status = 'queued')::int as q,
    count(*) filter (where status = 'processing')::int as p, count(*) filter (where status = 'failed')::int as f
    from bh.block b left join bh.message m on m.block_id = b.id group by b.id) c where (queued, processing, failed) is distinct from (q, p, f)`,
  'sums that are not those of the lines': `select l.part, l.count, s.calls from (select part, count(*) from bh.ledger group by 1) l
    full join (select part, sum(calls) as calls from bh.spend group by 1) s using (part) where l.count is distinct from s.calls`,
  'answers without a bill': `select m.block_id, m.reply_to from bh.message m where m.reply_to is not null and not exists (select from bh.ledger l where l.message_id = m.reply_to)`,
  'reservations left': 'select call_id, block from bh.reservation',
  'blocks that nobody gave back': 'select name, owner from bh.block where owner is not null',
};

async function look(store: string, posters: readonly Poster[]): Promise<string[]> {
  const faults: string[] = [];
  for (const [what, statement] of Object.entries(NONE_OF)) {
    for (const row of (await ask(store, statement)).slice(0, 5)) faults.push(`${what}: ${JSON.stringify(row)}`);
  }
  const messages = 'select m.id, m.content, a.content as answer from bh.message m join bh.block b on b.id = m.block_id';
  const answers = "left join bh.message a on a.block_id = m.block_id and a.reply_to = m.id where b.name = $1 and m.role = 'user' order by m.seq";
  for (const { block, posted } of posters) {
    const found = await ask(store, `${messages} ${answers}`, [block]);
    const [is, should] = [
      found.map(({ id, content, answer }) => `${id} ${content}: ${answer}`),
      posted.map(({ id, text }) => `${id} ${text}: ${echoOf(text)}`),
    ];
    const at = should.findIndex((line, index) => line !== is[index]);
    if (at !== -1 || is.length !== should.length) faults.push(`${block}: ${is.length} messages of ${should.length}; ${should[at]} is ${is[at]}`);
  }
  return faults;
}

/** Lines of servers that no kill explains. */
function unexpected(said: string): string[] {
  return said.split('\n').filter((line) => /uncaught|unhandled|TypeError|INTERNAL/i.test(line));
}
