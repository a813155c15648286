// The doctor's look at a database without a server: joins nobody, and changes nothing.
import { randomBytes } from 'node:crypto';
import { BlockhouseError } from '../../errors.ts';
import type { Finding } from '../../types.ts';
import { halfCopy, parseNote } from '../parts/copy-note.ts';
import type { StoreCheck } from '../port.ts';
import type { ConnectOptions } from '../store.ts';
import { checkDatabase } from './check.ts';
import { nodesIn } from './membership.ts';
import { isWithoutSchema, pendingMigrations } from './migrate.ts';
import { parseStorePlace, type StorePlace } from './place.ts';
import { Database } from './pool.ts';
import { Listener } from './signals/listener.ts';
import { NOTE } from './sql/copy.ts';
import { COUNTS } from './sql/blocks.ts';
import { NOTIFY } from './sql/signals.ts';

const HEARS_MS = 3000;

/** Rejects with INVALID_REQUEST for an address that is none, and without the package `pg`. */
export async function checkPostgres(store: string, { direct, leaseMs }: ConnectOptions = {}): Promise<StoreCheck> {
  const place = parseStorePlace(store);
  const listening = direct === undefined ? place : parseStorePlace(direct);
  const database = await Database.open(place, { connections: 1 });
  try {
    const unusable = await schemaFindings(database);
    if (unusable.length > 0) return { blocks: 0, findings: unusable };
    const [counts] = await database.query<{ blocks: number }>(COUNTS);
    const nodes = await nodesIn(database, leaseMs);
    return {
      blocks: counts?.blocks ?? 0,
      findings: [...(await copyFindings(database)), ...(await checkDatabase(database, nodes, () => hears(database, listening)))],
    };
  } catch (error) {
    if (!(error instanceof BlockhouseError) || error.code === 'INVALID_REQUEST') throw error;
    return { blocks: 0, findings: [finding(place.shown, error.message, CURES[error.code] ?? 'Look at the log of the database.')] };
  } finally {
    await database.close();
  }
}

const CURES: Readonly<Record<string, string>> = {
  STORE_UNREACHABLE: 'See that the database runs, that this machine reaches it, and that BLOCKHOUSE_STORE has its address.',
  STORE_TOO_NEW: 'Install that version on this machine.',
  STORE_NOT_MIGRATED: 'Use the build that has made it, or another schema.',
};

async function schemaFindings(database: Database): Promise<Finding[]> {
  const { shown } = database.place;
  if (await isWithoutSchema(database))
    return [{ ...finding(shown, 'it has no workspace yet', 'Start a server, which makes its tables, or run `blockhouse copy` into it.'), severity: 'warning' }];
  const names = (await pendingMigrations(database.query)).map(({ name }) => name);
  return names.length === 0 ? [] : [finding(shown, `it has not been brought to this version yet (${names.join(', ')})`, 'blockhouse migrate')];
}

async function copyFindings(database: Database): Promise<Finding[]> {
  const [row] = await database.query<{ value: string }>(NOTE);
  const note = row === undefined ? undefined : parseNote(row.value);
  if (note === undefined || note.isWhole) return [];
  return [finding(database.place.shown, halfCopy('It', note).message, 'blockhouse copy')];
}

function finding(shown: string, problem: string, fix: string): Finding {
  return { severity: 'error', place: `database ${shown}`, problem: problem.replace(/\.$/, ''), fix };
}

/** Whether a notice arrives that this process sends to itself, as servers do. */
async function hears(database: Database, place: StorePlace): Promise<boolean> {
  const channel = `bh_${randomBytes(20).toString('hex')}`;
  let arrived = (_isHeard: boolean): void => undefined;
  const answer = new Promise<boolean>((resolve) => {
    arrived = resolve;
  });
  const listener = new Listener({ place, channels: () => [channel], onNotice: () => arrived(true), onGap: () => undefined });
  const timer = setTimeout(() => arrived(false), HEARS_MS);
  try {
    await listener.open();
    await database.query(NOTIFY, [[channel], ['']]);
    return await answer;
  } catch {
    return false; // it can't even listen
  } finally {
    clearTimeout(timer);
    await listener.close();
  }
}
