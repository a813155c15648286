// A workspace in PostgreSQL, put together.
//
// the-database's-clock: what servers compare, such as the times of messages and the days of caps, goes by the clock of the database.
// joined-again: a server that was given up joins under another id, and goes on with the same parts. What it had is lost; bills and lines that wait are kept.
// another-past: after a failover, a database may lack its last commits, and use their numbers again. So when the database has restarted, what was read before is compared
//   with nothing, and is read again. Another timeline is told, because something may be lost then.
// gone-in-order: what waits is written before the server leaves.
import { nodeNotFound } from '../../errors.ts';
import type { Finding, ServerNode } from '../../types.ts';
import { VERSION } from '../../version.ts';
import { ContentRoom } from '../parts/content-room.ts';
import { halfCopy, parseNote } from '../parts/copy-note.ts';
import type { CallNotes } from '../port.ts';
import type { ConnectedStore, ConnectOptions, OwnFolder, Signals, Store, StoreHealth, StoreOptions } from '../store.ts';
import { PostgresArchive } from './archive.ts';
import { PostgresBlocks } from './blocks.ts';
import { checkDatabase } from './check.ts';
import { checkPostgres } from './check-alone.ts';
import { CostSums } from './cost-sums.ts';
import { PostgresGatewayBook } from './gateway-book.ts';
import { PostgresLedger } from './ledger.ts';
import { ListTexts } from './list-text.ts';
import { LogWriter } from './log-writer.ts';
import { PostgresMembership } from './membership.ts';
import { assertMigrated, isWithoutSchema, migrate, planMigrations } from './migrate.ts';
import { NodeWatch } from './node-watch.ts';
import { Partitions } from './partitions.ts';
import { PostgresPasses } from './passes.ts';
import { parseStorePlace, type StorePlace } from './place.ts';
import { Database } from './pool.ts';
import { Projection } from './projection.ts';
import { PostgresApprovals } from './runs.ts';
import { PostgresSearch } from './search.ts';
import { serversOf, servedText } from './served.ts';
import { PostgresSettings } from './settings.ts';
import { PostgresSignals } from './signals/signals.ts';
import { USE_COPY } from './sql/copy.ts';
import { LEAVE, TIMELINE } from './sql/membership.ts';
import type { BlockWorld } from './stored-block.ts';

// Together, so that all of the store is one piece of the program.
export { checkPostgres, migrate, parseStorePlace, planMigrations };

/** How a database is reached by a test. */
export interface PostgresOptions extends ConnectOptions {
  /** Epoch milliseconds, in place of the database's clock. */
  readonly now?: (() => number) | undefined;
}

/** Connects to the database; one without the schema gets it. Rejects with INVALID_REQUEST, STORE_UNREACHABLE, STORE_NOT_MIGRATED, STORE_TOO_NEW. */
export async function connectPostgres(store: string, options: PostgresOptions = {}): Promise<ConnectedStore> {
  const place = parseStorePlace(store);
  const direct = options.direct === undefined ? place : { ...parseStorePlace(options.direct), schema: place.schema };
  const { connections } = options;
  const database = await Database.open(place, connections === undefined ? {} : { connections });
  try {
    const isEmpty = options.isTrial === true && (await isWithoutSchema(database));
    if (!isEmpty) await assertMigrated(database);
    const settings = isEmpty ? PostgresSettings.ofNothing(database) : await PostgresSettings.open(database);
    return new Connection(database, settings, direct, options);
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** A database that answers. */
class Connection implements ConnectedStore {
  readonly kind = 'postgres';
  readonly settings: PostgresSettings;
  readonly passes: PostgresPasses;
  readonly #database: Database;
  readonly #direct: StorePlace;
  readonly #options: PostgresOptions;
  #closing: Promise<void> | undefined;

  constructor(database: Database, settings: PostgresSettings, direct: StorePlace, options: PostgresOptions) {
    this.#database = database;
    this.settings = settings;
    this.passes = new PostgresPasses(database);
    this.#direct = direct;
    this.#options = options;
  }

  open(options: StoreOptions & OwnFolder): Promise<Store> {
    const [database, settings, direct] = [this.#database, this.settings, this.#direct];
    return PostgresStore.open({ ...options, ...this.#options, database, settings, direct, now: this.#options.now, end: () => this.close() });
  }

  async giveUp(node: string): Promise<void> {
    await this.#database.query(LEAVE, [node]);
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.settings.close();
      await this.#database.close();
    })();
    return this.#closing;
  }
}

/** Others would not even be a text to the database. */
const NODE_ID = /^[\w-]{1,64}$/;

interface PostgresStoreOptions extends Omit<StoreOptions, 'now'>, Omit<PostgresOptions, 'direct'>, OwnFolder {
  readonly database: Database;
  readonly settings: PostgresSettings;
  readonly direct: StorePlace;
  /** Ends the connections. */
  end(): Promise<void>;
}

/** The workspace as one server has it. */
class PostgresStore implements Store {
  readonly blocks: PostgresBlocks;
  readonly archive: PostgresArchive;
  readonly ledger: PostgresLedger;
  readonly gateway: PostgresGatewayBook;
  readonly signals: Signals;
  readonly search: PostgresSearch;
  readonly approvals: PostgresApprovals;
  readonly #options: PostgresStoreOptions;
  readonly #telling: Database;
  readonly #posts: PostgresSignals;
  readonly #projection: Projection;
  readonly #logs: LogWriter;
  readonly #partitions: Partitions;
  readonly #texts: ListTexts;
  readonly #costs: CostSums;
  readonly #watch: NodeWatch;
  #membership: PostgresMembership;
  #url: string | undefined;
  readonly #before: string[] = [];
  #joining: Promise<PostgresMembership> | undefined;
  #closing: Promise<void> | undefined;
  /** another-past. */
  #boot: string;
  #past = 0;
  #timeline: string | undefined;

  private constructor(options: PostgresStoreOptions, telling: Database, posts: PostgresSignals, membership: PostgresMembership, notes: CallNotes | undefined) {
    this.#options = options;
    this.#telling = telling;
    this.#posts = posts;
    this.#membership = membership;
    this.#boot = membership.boot;
    const { database, bus } = options;
    const node = (): string => this.#membership.node;
    const now = (): number => this.now();
    const onFault = (error: unknown): void => bus.emit('workspace.fault', { what: 'database', error: (error as Error).message });
    this.#projection = new Projection({
      database,
      node,
      onWritten: (blocks) => {
        for (const block of blocks) posts.tell({ what: 'document', block, kind: 'pulse' });
      },
      onFault,
    });
    this.#logs = new LogWriter(database, node, (blocks) => {
      for (const block of blocks) posts.tell({ what: 'document', block, kind: 'log' });
    });
    this.#partitions = new Partitions(database, onFault);
    this.#texts = new ListTexts(database, onFault);
    this.#costs = new CostSums(database, onFault);
    this.#watch = new NodeWatch(
      bus,
      () => this.#membership,
      (others) => options.addresses?.know(serversOf(others)),
    );
    this.ledger = new PostgresLedger({ database, node, now });
    const world: BlockWorld = {
      database,
      bills: this.ledger,
      room: new ContentRoom(),
      signals: posts,
      projection: this.#projection,
      logs: this.#logs,
      node,
      now,
      clock: () => performance.now(),
      past: () => this.#past,
    };
    this.blocks = new PostgresBlocks(world);
    this.archive = new PostgresArchive(world, this.blocks);
    this.search = new PostgresSearch(database);
    this.approvals = new PostgresApprovals(database);
    this.gateway = new PostgresGatewayBook({ database, node, now, isSure: () => this.#membership.isSure, renew: () => this.#renew(), notes });
    this.signals = {
      on: (listener) => posts.onWork(listener),
      follow: ({ block }, onStep, since) => posts.follow(block, onStep, since),
      publish: ({ block }, join) => posts.publish(block, join),
      tellRun: (fact) => posts.tell({ what: 'run', fact }),
      onRun: (listener) =>
        posts.on((hint) => {
          if (hint.what === 'run') listener(hint.fact);
        }),
    };
    posts.on(({ what }) => {
      if (what === 'setting') options.settings.hint();
    });
    options.settings.told(() => posts.tell({ what: 'setting' }));
  }

  /** Joins. Rejects with STORE_UNREACHABLE, with WORKSPACE_DAMAGED for a copy that is not whole, or with the system's own error; nothing is left open then. */
  static async open(options: PostgresStoreOptions): Promise<PostgresStore> {
    const { database, direct, bus } = options;
    database.timing = (work) => bus.time('database', work);
    const membership = await PostgresMembership.join(
      database,
      facts(),
      membershipOptions(options, () => store),
    );
    const half = await database.query<{ value: string }>(USE_COPY);
    if (half[0] !== undefined) {
      await membership.leave();
      throw halfCopy(`The database ${database.place.shown}`, parseNote(half[0].value));
    }
    const telling = await Database.open(database.place, { connections: 1 });
    const onSilent = (): void =>
      bus.emit('workspace.fault', {
        what: 'database',
        error: 'notices between servers do not arrive; set BLOCKHOUSE_STORE_DIRECT to an address past the pooler. Until then changes are found within a second',
      });
    const ends: (() => Promise<unknown>)[] = [() => telling.close(), () => membership.leave()];
    const endAll = async (error: unknown): Promise<never> => {
      for (const end of ends) await end().catch(() => undefined);
      throw error;
    };
    const posts = await PostgresSignals.open({ database, telling, direct, node: membership.node, onSilent }).catch(endAll);
    ends.unshift(() => posts.close());
    const notes = await options.openNotes?.(posts.workspace, () => store.now()).catch(endAll);
    const store: PostgresStore = new PostgresStore(options, telling, posts, membership, notes);
    store.#timeline = await timelineOf(database);
    membership.start();
    store.#partitions.start();
    store.#texts.start();
    store.#costs.start();
    return store;
  }

  /** the-database's-clock. */
  now(): number {
    return this.#options.now?.() ?? this.#membership.now();
  }

  /** joined-again. */
  async join(): Promise<PostgresMembership> {
    if (!this.#membership.lost.aborted || this.#closing !== undefined) return this.#membership;
    this.#joining ??= this.#join().finally(() => {
      this.#joining = undefined;
    });
    return this.#joining;
  }

  /** Rejects with STORE_UNREACHABLE. */
  async #renew(): Promise<void> {
    await this.#membership.renew();
    await this.join();
  }

  async #join(): Promise<PostgresMembership> {
    this.#before.push(this.#membership.node);
    const again = await PostgresMembership.join(
      this.#options.database,
      { ...facts(), url: this.#url ?? null, served: this.#url === undefined ? undefined : this.#served() },
      { ...membershipOptions(this.#options, () => this), before: this.#before },
    );
    again.start();
    this.#membership = again;
    this.#posts.rejoined(again.node);
    this.renewed();
    return again;
  }

  nodes(): Promise<readonly ServerNode[]> {
    return this.#membership.nodes();
  }

  async drain(node: string, isDraining: boolean): Promise<ServerNode> {
    if (!NODE_ID.test(node) || !(await this.#membership.drain(node, isDraining))) throw nodeNotFound(node);
    const found = (await this.nodes()).find(({ id }) => id === node);
    if (found === undefined) throw nodeNotFound(node); // it has gone meanwhile
    return found;
  }

  health(): StoreHealth {
    return this.#membership.health;
  }

  async check(): Promise<readonly Finding[]> {
    return checkDatabase(this.#options.database, await this.nodes(), () => this.#posts.hears());
  }

  async announce(url: string): Promise<void> {
    this.#url = url;
    await this.#options.lock.announce(url);
    await this.#membership.announce(url, this.#served());
  }

  #served(): string {
    return servedText(this.#options.addresses?.own ?? []);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** gone-in-order. */
  async #close(): Promise<void> {
    this.#partitions.close();
    this.#texts.close();
    this.#costs.close();
    this.#watch.close();
    const steps = [
      () => this.#projection.close(),
      () => this.#logs.flush(),
      () => this.#membership.leave(),
      () => this.#posts.close(),
      () => this.#telling.close(),
      () => this.#options.end(),
      () => this.#options.lock.release(),
    ];
    let failure: unknown;
    for (const step of steps) {
      await step().catch((error: unknown) => {
        failure ??= error;
      });
    }
    if (failure !== undefined) throw failure;
  }

  /** another-past. */
  renewed(): void {
    const { boot } = this.#membership;
    if (this.#boot === boot) return;
    this.#boot = boot;
    this.#past += 1;
    this.#posts.restarted();
    void this.#lookAgain();
  }

  async #lookAgain(): Promise<void> {
    const { settings, bus, database } = this.#options;
    await settings.lookAgain().catch(() => {
      this.#boot = ''; // with the next renewal again
    });
    const [before, now] = [this.#timeline, await timelineOf(database)];
    if (now === undefined || now === before) return;
    this.#timeline = now;
    if (before === undefined) return;
    const error = `another copy of the database has taken over (timeline ${Number.parseInt(now, 16)} after ${Number.parseInt(before, 16)}); what was stored last before that may be lost`;
    bus.emit('workspace.fault', { what: 'database', error });
  }

  /** What a membership tells others, and does before a block is given back. */
  get parts(): { readonly posts: PostgresSignals; readonly projection: Projection } {
    return { posts: this.#posts, projection: this.#projection };
  }
}

function facts(): { readonly version: string; readonly url: null } {
  return { version: VERSION, url: null };
}

function membershipOptions({ leaseMs }: PostgresStoreOptions, store: () => PostgresStore): Parameters<typeof PostgresMembership.join>[2] {
  return {
    ...(leaseMs !== undefined && { leaseMs }),
    renewed: () => store().renewed(),
    tell: (what, block) => store().parts.posts.tell({ what, block }),
    beforeRelease: () => store().parts.projection.flush(),
  };
}

/** Undefined where the database does not know it. */
async function timelineOf(database: Database): Promise<string | undefined> {
  return database.query<{ timeline: string }>(TIMELINE).then(
    ([row]) => row?.timeline,
    () => undefined,
  );
}
