// Brings the schema of a workspace to the version of this program.
//
// one-at-a-time: whoever migrates holds a lock of the schema, and looks again what is to be done once it has it.
// short-locks: a change that can't have its lock within three seconds lets the servers work on, and tries again.
// made-at-once: an empty database gets all steps in one transaction, so that nobody sees a schema that is half there.
// known-texts: the schema keeps the hash of each migration, so that two programs never mean different schemas by the same number.
import { createHash } from 'node:crypto';
import { BlockhouseError } from '../../errors.ts';
import { TABLES } from './migrations/001-tables.ts';
import { BLOCKS } from './migrations/002-blocks.ts';
import { CREDENTIALS } from './migrations/003-credentials.ts';
import { RUNS } from './migrations/004-runs.ts';
import { LIST_TEXTS } from './migrations/005-list-texts.ts';
import { COST_DAYS } from './migrations/006-cost-days.ts';
import { SUMS_OF_COSTS } from './migrations/007-sums-of-costs.ts';
import type { StorePlace } from './place.ts';
import { PROTOCOL } from './protocol.ts';
import { Database, type Run } from './pool.ts';

/** One step. They are numbered from 1. */
export interface Migration {
  readonly name: string;
  readonly text: string;
}

const MIGRATIONS: readonly Migration[] = [
  { name: '001-tables', text: TABLES },
  { name: '002-blocks', text: BLOCKS },
  { name: '003-credentials', text: CREDENTIALS },
  { name: '004-runs', text: RUNS },
  { name: '005-list-texts', text: LIST_TEXTS },
  { name: '006-cost-days', text: COST_DAYS },
  { name: '007-sums-of-costs', text: SUMS_OF_COSTS },
];

const HAS_SETTINGS = { name: 'schema-exists', text: "select to_regclass('bh.setting') is not null as found" };
const STEPS = { name: 'schema-steps', text: "select key, value from bh.setting where key like 'schema.%'" };
const NOTE = { name: 'schema-note', text: 'insert into bh.setting (key, value) values ($1, $2)' };
const LOCK = { name: 'schema-lock', text: "select pg_advisory_xact_lock(hashtext('bh.setting'))" }; // one-at-a-time
const SHORT_LOCKS = { name: '', text: "set local lock_timeout = '3s'" };
/** Two minutes of waiting for other migrations; a statement may take as long as it needs. */
const PATIENCE = { connections: 1, tries: 40, queryTimeoutMs: 3_600_000 };

/** False where there is no workspace yet. */
export async function hasSchema(query: Run): Promise<boolean> {
  const [exists] = await query<{ found: boolean }>(HAS_SETTINGS);
  return exists?.found === true;
}

/** What is to be done, in its order; nothing when the schema is up to date. Throws STORE_TOO_NEW, STORE_NOT_MIGRATED for a schema of another program. */
export async function pendingMigrations(query: Run, all = MIGRATIONS): Promise<readonly Migration[]> {
  if (!(await hasSchema(query))) return all;
  const steps = new Map((await query<{ key: string; value: string }>(STEPS)).map(({ key, value }) => [key, value]));
  const needed = Number(steps.get('schema.min_protocol') ?? 0);
  if (needed > PROTOCOL) {
    const text = `The database needs a newer version of Blockhouse: it may be written by protocol ${needed} on, and this version has ${PROTOCOL}. Install that version.`;
    throw new BlockhouseError('STORE_TOO_NEW', text);
  }
  return all.filter(({ name, text }) => {
    const known = steps.get(`schema.${name}`);
    if (known !== undefined && known !== hashOf(text)) {
      throw new BlockhouseError(
        'STORE_NOT_MIGRATED',
        `The database was made by another build: its migration ${name} has another text than the one in this version.`,
      );
    }
    return known === undefined;
  });
}

/** Does what is to be done, and returns it. `onStep` comes after each. */
export async function migrate(place: StorePlace, onStep?: (done: Migration) => void, all = MIGRATIONS): Promise<readonly Migration[]> {
  const database = await Database.open(place, PATIENCE);
  const done: Migration[] = [];
  const step = (): Promise<readonly Migration[]> =>
    database.transaction(async (run) => {
      await run(SHORT_LOCKS);
      await run(LOCK);
      const pending = await pendingMigrations(run, all);
      const now = pending.length === all.length ? pending : pending.slice(0, 1); // made-at-once
      if (now.length > 0) await run({ name: '', text: schemaText(place) });
      for (const { name, text } of now) {
        await run({ name: '', text });
        await run(NOTE, [`schema.${name}`, hashOf(text)]);
      }
      return now;
    });
  try {
    for (let now = await step(); now.length > 0; now = await step()) {
      done.push(...now);
      for (const one of now) onStep?.(one);
    }
  } finally {
    await database.close();
  }
  return done;
}

/** What is to be done now in a database, by name, and as a text for `psql`. Throws as `pendingMigrations` does. */
export async function planMigrations(place: StorePlace): Promise<{ readonly names: readonly string[]; readonly script: string }> {
  const database = await Database.open(place, { connections: 1 });
  try {
    const pending = await pendingMigrations(database.query);
    return { names: pending.map(({ name }) => name), script: pending.length === 0 ? '' : migrationScript(database, pending) };
  } finally {
    await database.close();
  }
}

/** Steps as a text for `psql`. */
export function migrationScript(database: Database, pending: readonly Migration[]): string {
  const steps = pending.map(
    ({ name, text }) => `-- ${name}\n${text.trim()}\ninsert into bh.setting (key, value) values ('schema.${name}', '${hashOf(text)}');\n`,
  );
  return database.text([`begin;\n${SHORT_LOCKS.text};\n${LOCK.text};`, schemaText(database.place), ...steps, 'commit;\n'].join('\n'));
}

/** True for a database that no server has used. */
export async function isWithoutSchema(database: Database): Promise<boolean> {
  return (await pendingMigrations(database.query)).length === MIGRATIONS.length;
}

/** Throws STORE_NOT_MIGRATED with the command, STORE_TOO_NEW. A database without the schema gets it. */
export async function assertMigrated(database: Database): Promise<void> {
  const pending = await pendingMigrations(database.query);
  if (pending.length === MIGRATIONS.length) await migrate(database.place);
  else if (pending.length > 0) {
    const names = pending.map(({ name }) => name).join(', ');
    throw new BlockhouseError('STORE_NOT_MIGRATED', `The database has not been brought to this version yet (${names}). Run \`blockhouse migrate\`.`);
  }
}

/** A user without the right to make schemas may have been given one. */
function schemaText({ schema }: StorePlace): string {
  return `do $$ begin if to_regnamespace('${schema}') is null then create schema ${schema}; end if; end $$;`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
