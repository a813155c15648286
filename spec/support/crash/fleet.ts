// Servers of one database, as processes of their own, to be killed and frozen.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { askAgain } from '../postgres.ts';
import type { ServerClient } from './server-client.ts';
import { ServerProcess } from './server-process.ts';

export interface FleetOptions {
  /** Absolute path of an empty folder; each server has one of its own below it. */
  readonly folder: string;
  /** The value of BLOCKHOUSE_STORE. */
  readonly store: string;
  readonly daemonUrl: string;
  readonly servers: number;
  readonly leaseMs: number;
}

const LOOK_EVERY_MS = 100;
const TOKEN_FILE = '.api-token';

/** One place of the fleet: a server, or the one that took its place. */
class Place {
  readonly #options: FleetOptions;
  readonly #workspace: string;
  #server: ServerProcess | undefined;
  /** Undefined while it is killed or frozen. */
  client: ServerClient | undefined;
  /** Since when its server answers without a break, in monotonic milliseconds. */
  steadySince = Number.POSITIVE_INFINITY;
  /** A server has been started here, and does not answer yet. */
  isStarting = false;
  /** What its servers have said on stderr. */
  said = '';

  constructor(options: FleetOptions, index: number) {
    this.#options = options;
    this.#workspace = join(options.folder, `server-${index}`);
    mkdirSync(this.#workspace, { recursive: true });
  }

  /** Resolves when it answers, or was ended before. Throws where it does not start. */
  async start(): Promise<void> {
    this.#takeToken();
    const { store, leaseMs, daemonUrl } = this.#options;
    const server = new ServerProcess({
      workspace: this.#workspace,
      daemonUrl,
      env: { BLOCKHOUSE_STORE: store, BLOCKHOUSE_LEASE_MS: String(leaseMs) },
    });
    this.#server = server;
    this.isStarting = true;
    const ready = await server.ready();
    if (this.#server !== server) return ready?.client.close(); // ended while it started
    this.isStarting = false;
    if (ready === undefined) throw new Error(`a server did not start: ${server.stderr}`);
    this.client = ready.client;
    this.steadySince = performance.now();
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.client?.close();
    this.client = undefined;
    this.steadySince = Number.POSITIVE_INFINITY;
    this.isStarting = false;
    const server = this.#server;
    this.#server = undefined;
    await server?.kill(signal);
    this.said += server?.stderr ?? '';
  }

  /** It stands still until what comes back is called, and goes on as if nothing had been. */
  freeze(): () => void {
    const client = this.client;
    const server = this.#server;
    this.client = undefined;
    this.steadySince = Number.POSITIVE_INFINITY;
    server?.child.kill('SIGSTOP');
    return () => {
      server?.child.kill('SIGCONT');
      this.client = client;
      this.steadySince = performance.now();
    };
  }

  /** The token of a database lies in the folder of the first server. */
  #takeToken(): void {
    const [from, to] = [join(this.#options.folder, 'server-0', TOKEN_FILE), join(this.#workspace, TOKEN_FILE)];
    if (!existsSync(to) && existsSync(from)) copyFileSync(from, to);
  }
}

export class Fleet {
  readonly #options: FleetOptions;
  readonly #places: readonly Place[];
  readonly #database: ReturnType<typeof askAgain>;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.servers }, (_, index) => new Place(options, index));
    this.#database = askAgain(options.store);
  }

  /** What all servers have said on stderr so far, those included that were killed. */
  get said(): string {
    return this.#places.map(({ said }) => said).join('');
  }

  /** Places whose server answers. */
  get alive(): readonly number[] {
    return this.#places.flatMap(({ client }, index) => (client === undefined ? [] : [index]));
  }

  /** Places whose server was started and does not answer yet. */
  get starting(): readonly number[] {
    return this.#places.flatMap(({ isStarting }, index) => (isStarting ? [index] : []));
  }

  /** Of the server at a place; undefined while it is killed or frozen. */
  client(place: number): ServerClient | undefined {
    return this.#places[place]?.client;
  }

  /** One after the other: the first one makes the tables and the token. */
  async start(): Promise<void> {
    for (const place of this.#places) await place.start();
  }

  /** How many blocks the server at a place has. */
  owned(index: number): Promise<number> {
    return this.#ownedBy(this.#at(index).client?.url ?? '');
  }

  /** Places whose server answers and has blocks. */
  async owners(): Promise<readonly number[]> {
    const rows = await this.#database.ask('select distinct n.url from bh.block b join bh.node n on n.id = b.owner');
    const urls = new Set(rows.map(({ url }) => url));
    return this.alive.filter((index) => urls.has(this.client(index)?.url));
  }

  /** Its place stays empty. */
  lose(index: number): Promise<void> {
    return this.#at(index).end('SIGKILL');
  }

  /**
   * Resolves once it is gone, and another server is on its way in its place: `replaced` says when that one answers. `taken` is the milliseconds until others had
   * all that the killed one had. Undefined if it had nothing, or if no other server had answered for a lease then and went on: only such a server gives up others.
   */
  async kill(index: number): Promise<{ readonly had: number; readonly taken: Promise<number | undefined>; readonly replaced: Promise<void> }> {
    const place = this.#at(index);
    const url = place.client?.url;
    await place.end('SIGKILL');
    const replaced = place.start();
    const had = url === undefined ? 0 : await this.#ownedBy(url);
    return { had, taken: had === 0 ? Promise.resolve(undefined) : this.#untilNobodyIs(url ?? '', performance.now()), replaced };
  }

  /** It stands still for so long. */
  async freeze(index: number, ms: number): Promise<void> {
    const thaw = this.#at(index).freeze();
    await delay(ms);
    thaw();
  }

  /** It stands still until what comes back is called. */
  freezeUntil(index: number): () => void {
    return this.#at(index).freeze();
  }

  /** In order. */
  async stop(): Promise<void> {
    await Promise.all(this.#places.map((place) => place.end('SIGTERM')));
    await this.#database.end();
  }

  async #untilNobodyIs(url: string, from: number): Promise<number | undefined> {
    while ((await this.#ownedBy(url)) > 0) await delay(LOOK_EVERY_MS);
    const ms = performance.now() - from;
    return this.#places.some(({ steadySince }) => steadySince < from - this.#options.leaseMs) ? ms : undefined;
  }

  async #ownedBy(url: string): Promise<number> {
    const [row] = await this.#database.ask('select count(*)::int as count from bh.block b join bh.node n on n.id = b.owner where n.url = $1', [url]);
    return Number(row?.['count']);
  }

  #at(index: number): Place {
    const place = this.#places[index];
    if (place === undefined) throw new Error(`there is no place ${index}`);
    return place;
  }
}
