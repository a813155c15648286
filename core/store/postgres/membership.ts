// One server among those that share a workspace, and the blocks that it has.
//
// new-id: the id of a server is made for each join and never used again, so a server that was given up can't be taken for the one that comes back.
// fence: whoever gets a block gets a number with it that is greater than all before. What an owner writes carries it, and the store refuses an older one.
// sure-until: a lease surely stands for its length from the moment before its renewal was sent. Only this machine's monotonic clock is compared with itself.
// lost-once: a server whose row is gone has nothing any more; it ends its work and joins again under another id.
// drained: a server that is drained takes nothing more, and gives away what it has. It stays so when it joins again, until it is asked otherwise.
// reaper-is-sound: only a server whose own renewals went through for a whole lease, and whose lease stands, gives up others, since after a failover all rows look old. So they do
//   for a database that stood still: what it executes late gives up nobody.
import { randomUUID } from 'node:crypto';
import { BlockhouseError, leaseLost } from '../../errors.ts';
import type { ServerNode } from '../../types.ts';
import type { StoreHealth } from '../store.ts';
import type { BlockRef, Claim, Found, Membership, Rest, Wish } from '../port.ts';
import { sqlStateOf } from './faults.ts';
import { PROTOCOL, PROTOCOLS } from './protocol.ts';
import type { OtherNode } from './node-watch.ts';
import type { Database } from './pool.ts';
import { ANNOUNCE, ASK_FOR, DRAIN, JOIN, LEAVE, LOOK, NODES, OWNER, REAP, RELEASE, RENEW, TAKE } from './sql/membership.ts';

/** What a server says of itself. */
export interface NodeFacts {
  readonly version: string;
  /** Where other servers and people reach it. */
  readonly url: string | null;
  /** All its addresses; left out until it listens. */
  readonly served?: string | undefined;
}

/** What a membership works with. */
export interface MembershipOptions {
  readonly leaseMs?: number;
  /** The ids of this server before: what was asked of them is asked of it. drained. */
  readonly before?: readonly string[];
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  /** After each renewal. */
  renewed?(): void;
  /** After a statement: others may have to look. */
  tell?(what: 'wish' | 'released', block: number): void;
  /** Before a block is given back: what this server knows of it is written. */
  beforeRelease?(): Promise<void>;
}

const LEASE_MS = 8000;
const RENEWALS_IN_A_LEASE = 4;
const REAP_EVERY_MS = 500;
const NO_ROW = '23503';
type Row = Omit<Claim, 'owner'>;

/** One join of a server. */
export class PostgresMembership implements Membership {
  readonly isShared = true;
  readonly node = randomUUID(); // new-id
  readonly #lost = new AbortController();
  readonly #options: MembershipOptions;
  readonly #database: Database;
  readonly #leaseMs: number;
  readonly #clock: () => number;
  readonly #timers: NodeJS.Timeout[] = [];
  #sureUntil = Number.NEGATIVE_INFINITY;
  /** Since when every renewal has been answered before the one before ended. */
  #unbrokenSince = Number.POSITIVE_INFINITY;
  /** The database's clock minus ours. */
  #offset = 0;
  /** Of the last renewal. */
  #latencyMs = 0;
  #others: readonly OtherNode[] = [];
  #renewedAt = Number.NEGATIVE_INFINITY;
  #isDraining = false;
  #boot = '';

  private constructor(database: Database, options: MembershipOptions) {
    const { leaseMs = LEASE_MS, clock = () => performance.now() } = options;
    this.#options = options;
    this.#database = database;
    this.#leaseMs = leaseMs;
    this.#clock = clock;
  }

  /** Rejects with STORE_UNREACHABLE. */
  static async join(database: Database, { version, url, served }: NodeFacts, options: MembershipOptions = {}): Promise<PostgresMembership> {
    const membership = new PostgresMembership(database, options);
    await membership.#lease(JOIN, [version, PROTOCOL, url, served ?? null, options.before ?? []]);
    return membership;
  }

  /** Fires when nothing of this server may be written any more. lost-once. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** No model call begins after this, in monotonic milliseconds. sure-until. */
  get sureUntil(): number {
    return this.#sureUntil;
  }

  /** True while the lease surely stands. sure-until. */
  get isSure(): boolean {
    return this.#clock() < this.#sureUntil;
  }

  /** Since when the database runs, as of the last renewal. */
  get boot(): string {
    return this.#boot;
  }

  /** As of the last look or renewal. drained. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Epoch milliseconds by the database's clock. */
  now(): number {
    return this.#clock() + this.#offset;
  }

  /** As of the last renewal. `isAway`: there has been none for a whole lease. */
  get health(): StoreHealth {
    return { latencyMs: this.#latencyMs, node: this.node, nodes: this.#others.length + 1, draining: this.#isDraining, isAway: !this.isSure };
  }

  /** The other servers that live, as of the last renewal. */
  get others(): readonly OtherNode[] {
    return this.#others;
  }

  /** Since the last renewal was sent that was answered. */
  get silentMs(): number {
    return this.#clock() - this.#renewedAt;
  }

  /** Renews the lease and gives up dead servers, until the end or `lost`. */
  start(): void {
    const every = (ms: number, work: () => Promise<unknown>): void => {
      // What failed is tried at the next beat, and the lease says how long that may go on.
      const timer = setInterval(() => void work().catch(() => undefined), ms);
      timer.unref();
      this.#timers.push(timer);
    };
    every(this.#leaseMs / RENEWALS_IN_A_LEASE, () => this.renew());
    every(REAP_EVERY_MS, () => this.reap());
  }

  /** Rejects with STORE_UNREACHABLE. */
  async renew(): Promise<void> {
    if (this.lost.aborted) return;
    if (await this.#lease(RENEW, [])) this.#options.renewed?.();
    else this.#lose();
  }

  /** Gives up servers whose lease has ended, and returns their ids. */
  async reap(): Promise<readonly string[]> {
    if (this.lost.aborted || !this.isSure || this.#clock() - this.#unbrokenSince < this.#leaseMs) return []; // reaper-is-sound
    return (await this.#database.query<{ id: string }>(REAP, [this.#leaseMs, this.now()])).map(({ id }) => id);
  }

  async look(room: number): Promise<Found> {
    type Looked = Row & { readonly is_new: boolean; readonly is_due: boolean; readonly give_back: boolean; readonly cancel: string | null };
    const rows = await this.#asMember(() => this.#database.query<Looked>(LOOK, [this.node, Math.max(room, 0)]));
    const blocks = rows.filter(({ block }) => block !== 0);
    this.#isDraining = blocks.length < rows.length;
    return {
      wishes: blocks.flatMap(({ block, name, give_back, cancel }): Wish[] => [
        ...(cancel === null ? [] : [{ block, name, cancel }]),
        ...(give_back ? [{ block, name, cancel: null }] : []),
      ]),
      mine: this.#claims(blocks.filter(({ is_new, is_due }) => is_due && !is_new)),
      claimed: this.#claims(blocks.filter(({ is_new }) => is_new)),
    };
  }

  /** Throws BLOCK_NOT_FOUND. */
  async take({ block }: BlockRef): Promise<Claim | { readonly heldBy: string }> {
    for (;;) {
      const [claim] = this.#claims(await this.#asMember(() => this.#database.query<Row>(TAKE, [this.node, block])));
      if (claim !== undefined) return claim;
      const [row] = await this.#database.query<{ owner: string | null }>(OWNER, [block]);
      if (row === undefined) throw new BlockhouseError('BLOCK_NOT_FOUND', 'There is no such block.');
      if (row.owner !== null) return { heldBy: row.owner };
    }
  }

  async askFor({ block }: BlockRef): Promise<void> {
    await this.#database.query(ASK_FOR, [block, this.node]);
    this.#options.tell?.('wish', block);
  }

  async release({ block, owner, fence }: Claim, { state, dueAt }: Rest): Promise<boolean> {
    await this.#options.beforeRelease?.();
    const isOurs = (await this.#database.query(RELEASE, [block, owner, fence, state, dueAt])).length > 0;
    if (isOurs) this.#options.tell?.('released', block);
    return isOurs;
  }

  /** All servers of the workspace. Rejects with STORE_UNREACHABLE. */
  async nodes(): Promise<readonly ServerNode[]> {
    return nodesIn(this.#database, this.#leaseMs, this.node);
  }

  /** Asks a server to give its blocks away, or to take some again. False where there is no such server. Throws WRONG_STATE for one that does not know of it. drained. */
  async drain(node: string, isDraining: boolean): Promise<boolean> {
    const [row] = await this.#database.query<{ version: string; knows: boolean }>(DRAIN, [node, isDraining, PROTOCOLS.drained]);
    if (row === undefined) return false;
    if (!row.knows) throw knowsNoDraining(node, row.version);
    if (node === this.node) this.#isDraining = isDraining;
    this.#options.tell?.('wish', 0);
    return true;
  }

  /** Tells others where this server answers. */
  async announce(url: string, served: string): Promise<void> {
    await this.#database.query(ANNOUNCE, [this.node, url, served]);
  }

  /** All that this server has is free at once. */
  async leave(): Promise<void> {
    this.#lose();
    await this.#database.query(LEAVE, [this.node]);
  }

  async #lease(statement: typeof JOIN, more: readonly unknown[]): Promise<boolean> {
    const before = this.#clock();
    const [row] = await this.#database.query<{ now: number; boot: string; others: readonly OtherNode[]; draining: boolean }>(statement, [
      this.node,
      this.#leaseMs,
      ...more,
    ]);
    const after = this.#clock();
    if (row === undefined) return false;
    if (before >= this.#sureUntil) this.#unbrokenSince = before;
    this.#sureUntil = before + this.#leaseMs; // sure-until
    this.#offset = row.now - (before + after) / 2;
    this.#latencyMs = Math.round((after - before) * 10) / 10;
    this.#others = row.others;
    this.#renewedAt = before;
    this.#isDraining = row.draining;
    this.#boot = row.boot;
    return true;
  }

  #lose(): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    this.#sureUntil = Number.NEGATIVE_INFINITY;
    this.#lost.abort();
  }

  /** Throws LEASE_LOST where the database has no such server any more. */
  async #asMember<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (sqlStateOf(error) !== NO_ROW) throw error;
      this.#lose();
      throw leaseLost();
    }
  }

  #claims(rows: readonly Row[]): readonly Claim[] {
    return rows.map(({ block, name, fence }) => ({ block, name, fence, owner: this.node }));
  }
}

function knowsNoDraining(node: string, version: string): BlockhouseError {
  const text = `The server ${node} has version ${version}, which does not know draining: it would go on with its blocks and take others. Stop it, or start a newer version in its place.`;
  return new BlockhouseError('WRONG_STATE', text);
}

/** All servers of a workspace, as `self` sees them. Rejects with STORE_UNREACHABLE. */
export async function nodesIn(database: Database, leaseMs = LEASE_MS, self?: string): Promise<readonly ServerNode[]> {
  type Row = { id: string; version: string; url: string | null; started_at: Date; seen_at: Date; alive: boolean; draining: boolean; blocks: number };
  const rows = await database.query<Row>(NODES, [leaseMs]);
  return rows.map(({ id, version, url, started_at, seen_at, alive, draining, blocks }) => {
    return { id, self: id === self, version, url, startedAt: started_at.toISOString(), seenAt: seen_at.toISOString(), alive, draining, blocks };
  });
}
