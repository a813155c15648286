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
const PLACE = 'database';

/** Rejects with STORE_UNREACHABLE. */
export async function checkDatabase(database: Database, nodes: readonly ServerNode[]): Promise<readonly Finding[]> {
  return [...checkNodes(nodes), ...(await checkBlocks(database)), ...(await checkParts(database)), ...(await checkHindrances(database))];
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
