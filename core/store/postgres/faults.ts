// What an error of the driver or of the database means. Pure: no I/O.
import { BlockhouseError } from '../../errors.ts';

const SQLSTATE = /^[0-9A-Z]{5}$/;
/** Serialization failure, deadlock, lock not available: the statement has changed nothing, and may succeed now. */
const REPEATABLE: ReadonlySet<string> = new Set(['40001', '40P01', '55P03']);
/** The name of a prepared statement is taken or unknown: a pooler gives the statements of one client different connections. */
const UNPREPARED: ReadonlySet<string> = new Set(['42P05', '26000']);
/** Wrong password, unknown user or database, no right: another try changes nothing. */
const REFUSED: ReadonlySet<string> = new Set(['28000', '28P01', '3D000', '42501']);
/** Classes: connection, resources, shutdown by an administrator or after a crash, system error. */
const AWAY: readonly string[] = ['08', '53', '57', '58'];
/** Read only: a standby. Idle in a transaction for too long, or the transaction too long: the database has closed the connection. */
const CLOSED: ReadonlySet<string> = new Set(['25006', '25P03', '25P04']);
const DISK_FULL = '53100';
const RETRY_AFTER_MS = 1000;
/** What keys read. */
export const NOT_ANSWERING = 'The database of this server does not answer. Try again later.';

/** The code that the database gives its errors; undefined for an error of the connection. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && SQLSTATE.test(code) && !(error as NodeJS.ErrnoException).syscall ? code : undefined;
}

/** True if the transaction was undone and should be repeated. */
export function isRepeatable(error: unknown): boolean {
  return REPEATABLE.has(sqlStateOf(error) ?? '');
}

/** True if a pooler lies between, so that statements can't have names. */
export function isUnprepared(error: unknown): boolean {
  return UNPREPARED.has(sqlStateOf(error) ?? '');
}

/** True if the connection should not be used again: it is broken, its answer may still come, or it leads to a standby. */
export function isConnectionBad(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === undefined || CLOSED.has(state) || AWAY.includes(state.slice(0, 2));
}

/** What a caller gets: STORAGE_FULL, STORE_UNREACHABLE, or the error itself where the statement is wrong. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof BlockhouseError) return error;
  const state = sqlStateOf(error);
  const cause = { cause: error, forKeys: NOT_ANSWERING };
  if (state === DISK_FULL) return new BlockhouseError('STORAGE_FULL', 'The disk of the database is full. Nothing was changed.', { cause: error });
  if (state !== undefined && REFUSED.has(state)) {
    const text = `The database refuses the connection: ${(error as Error).message}. Check BLOCKHOUSE_STORE.`;
    return new BlockhouseError('STORE_UNREACHABLE', text, { ...cause, retryable: false });
  }
  if (state !== undefined && !REPEATABLE.has(state) && !isConnectionBad(error)) return error;
  const text = `The database does not answer (${state ?? (error as NodeJS.ErrnoException).code ?? (error as Error).message}). Try again.`;
  return new BlockhouseError('STORE_UNREACHABLE', text, { ...cause, retryAfterMs: RETRY_AFTER_MS });
}
