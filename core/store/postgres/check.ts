// What the doctor finds in a database, besides what is wrong with single blocks. Reads only.
import type { Finding, ServerNode } from '../../types.ts';
import type { Database } from './pool.ts';
import * as sql from './sql/check.ts';
import { RESTS } from './sql/partitions.ts';

/** A server claims what is due within a second, or a lease after another one has died. */
const UNTAKEN_MS = 10_000;
const MOST = 20;
/** Of the queue of notices of the whole database. */
const MUCH_UNREAD = 0.1;
const LONG_OPEN_S = 600;
/** Of the fastest of some questions: a message asks several times. */
const SLOW_MS = 100;
const QUESTIONS = 5;
const OLDEST_MAJOR = 15;
/** What one more server needs: BLOCKHOUSE_STORE_POOL, and two for notices. */
const FEW_FREE = 8;
/** Nothing depends on it, since all times are the database's; but logs are hard to compare. */
const APART_MS = 5000;
const PLACE = 'database';

/** How the database answers, as this server sees it. */
export interface ServerSeen {
  readonly version: string;
  readonly major: number;
  /** By how much its clock is before that of this machine. */
  readonly aheadMs: number;
  readonly latencyMs: number;
  /** Connections for clients, and how many of them are free. */
  readonly most: number;
  readonly free: number;
  /** Whether notices between servers arrive. */
  readonly hears: boolean;
}

/** `hears`: whether a notice of this server comes back to it. Rejects with STORE_UNREACHABLE. */
export async function checkDatabase(database: Database, nodes: readonly ServerNode[], hears: () => Promise<boolean>): Promise<readonly Finding[]> {
  return [
    ...serverFindings(await seeServer(database, hears)),
    ...checkNodes(nodes),
    ...(await checkBlocks(database)),
    ...(await checkParts(database)),
    ...(await checkHindrances(database)),
  ];
}

async function seeServer(database: Database, hears: () => Promise<boolean>): Promise<ServerSeen> {
  type Row = Pick<ServerSeen, 'version' | 'major' | 'most' | 'free'> & { readonly now: number };
  const all: ServerSeen[] = [];
  const isHeard = await hears();
  while (all.length < QUESTIONS) {
    const before = Date.now();
    const from = performance.now();
    const [row] = await database.query<Row>(sql.SERVER);
    if (row === undefined) break;
    const latencyMs = performance.now() - from;
    all.push({ ...row, latencyMs, aheadMs: row.now - before - latencyMs / 2, hears: isHeard });
  }
  const [fastest] = all.sort((a, b) => a.latencyMs - b.latencyMs);
  if (fastest === undefined) throw new Error('The database has said nothing of itself.');
  return fastest;
}

/** What is wrong with how a database answers. Pure. */
export function serverFindings({ version, major, aheadMs, latencyMs, most, free, hears }: ServerSeen): Finding[] {
  const findings: Finding[] = [];
  if (major < OLDEST_MAJOR)
    findings.push({ ...warning(`PostgreSQL ${version} is too old`, `Bring the database to PostgreSQL ${OLDEST_MAJOR} or newer.`), severity: 'error' });
  if (latencyMs > SLOW_MS)
    findings.push(
      warning(
        `it takes ${Math.round(latencyMs)} ms to answer the smallest question, and a message asks several`,
        'Run the servers in the region of the database; if they do, look at its load (pg_stat_activity).',
      ),
    );
  if (free < FEW_FREE)
    findings.push(
      warning(
        `${Math.max(free, 0)} of its ${most} connections are free, and one more server needs ${FEW_FREE}`,
        'Raise max_connections, lower BLOCKHOUSE_STORE_POOL, or end connections that nobody needs (pg_stat_activity).',
      ),
    );
  if (Math.abs(aheadMs) > APART_MS) {
    const place = aheadMs > 0 ? 'ahead of' : 'behind';
    findings.push(
      warning(
        `its clock is ${Math.round(Math.abs(aheadMs) / 1000)} s ${place} that of this machine; messages have the database's time, the log has this machine's`,
        'Set both by a time server (NTP).',
      ),
    );
  }
  if (!hears)
    findings.push(
      warning(
        'notices between servers do not arrive, so what another server does is seen up to a second later; mostly a pooler in transaction mode is between',
        'Set BLOCKHOUSE_STORE_DIRECT to an address of the database past the pooler.',
      ),
    );
  return findings;
}

function checkNodes(nodes: readonly ServerNode[]): Finding[] {
  const versions = [...new Set(nodes.map(({ version }) => version))].sort();
  const findings = nodes
    .filter(({ alive }) => !alive)
    .map(({ id, seenAt }) =>
      warning(`the server ${id} has given no sign of life since ${seenAt}`, 'If it runs, look at its log; its blocks go on with another server.'),
    );
  if (versions.length > 1) findings.push(warning(`its servers have different versions: ${versions.join(', ')}`, 'Bring all of them to the newest version.'));
  return findings;
}

async function checkBlocks(database: Database): Promise<Finding[]> {
  const untaken = await database.query<{ name: string; seconds: number }>(sql.UNTAKEN, [UNTAKEN_MS, MOST]);
  const miscounted = await database.query<{ name: string }>(sql.MISCOUNTED, [MOST]);
  return [
    ...untaken.map(({ name, seconds }) => ({
      ...warning(`something waits in it for ${seconds} s, and no server takes it`, 'Start a server on this database, or look at the log of those that run.'),
      place: `blocks/${name}`,
    })),
    ...miscounted.map(({ name }) => ({
      severity: 'error' as const,
      place: `blocks/${name}`,
      problem: 'the numbers of its waiting messages differ from its messages',
      fix: `Please report this. \`blockhouse export ${name}\`, then \`blockhouse import\` under another name, makes a block with the right numbers.`,
    })),
  ];
}

async function checkParts(database: Database): Promise<Finding[]> {
  const rests = await database.query<{ table: string; rows: number }>(RESTS);
  return rests
    .filter(({ rows }) => rows > 0)
    .map(({ table, rows }) =>
      warning(
        `${rows} rows lie in ${table}_rest, because the part of ${table} for their time was not there yet`,
        `They count. Copy them elsewhere, delete them from ${table}_rest, and copy them back once a server has made the part, within an hour.`,
      ),
    );
}

async function checkHindrances(database: Database): Promise<Finding[]> {
  const [row] = await database.query<{ unread: number; oldest: number }>(sql.HINDRANCES);
  const findings: Finding[] = [];
  if ((row?.unread ?? 0) > MUCH_UNREAD) {
    const percent = Math.round((row?.unread ?? 0) * 100);
    findings.push(
      warning(
        `a connection listens and does not read: ${percent} % of the queue of notices is full`,
        'End that connection; pg_stat_activity names those that LISTEN.',
      ),
    );
  }
  if ((row?.oldest ?? 0) > LONG_OPEN_S) {
    const minutes = Math.floor((row?.oldest ?? 0) / 60);
    findings.push(warning(`a transaction has been open for ${minutes} minutes, so nothing is vacuumed`, 'End it; pg_stat_activity names it by xact_start.'));
  }
  return findings;
}

function warning(problem: string, fix: string): Finding {
  return { severity: 'warning', place: PLACE, problem, fix };
}
