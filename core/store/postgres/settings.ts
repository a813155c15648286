// The settings of a workspace in PostgreSQL.
//
// in-memory: a node looks at all settings once a second, in one statement, and answers from what it saw. A hint makes it look earlier. Only what has changed is read.
// one-change-at-a-time: changes of one setting at this node are made one after the other. At once, all but one would find another revision, and would be made again.
// never-older: two looks may come in another order than they were sent; a content is replaced only by one with a higher revision.
// closed-after-ten-minutes: what a node knows holds for ten minutes while the database is away. Then every setting has a fault, so that a token or key
//   that was taken back meanwhile is refused at last.
// no-secrets: nobody can sign in with what the database has of the token, which is its hash.
import { BlockhouseError } from '../../errors.ts';
import type { Setting, SettingCodec, SettingName, SettingState, SettingStore } from '../port.ts';
import type { Database } from './pool.ts';
import { SET, SETTINGS } from './sql/settings.ts';

const NAMES: readonly SettingName[] = ['halt', 'keys', 'models', 'token', 'mcp', 'mcp-pins'];
const LOOK_EVERY_MS = 1000;
const HOLDS_MS = 600_000;
const AWAY = 'the database has not answered for ten minutes';
const HASH = /^[0-9a-f]{64}$/;

/** What is stored; `rev` 0 where there is nothing. */
interface Stored {
  readonly rev: number;
  readonly text: string | undefined;
}
const NOTHING: Stored = { rev: 0, text: undefined };

/** The settings in a database. */
export class PostgresSettings implements SettingStore {
  readonly #database: Database;
  readonly #now: () => number;
  readonly #stored = new Map<string, Stored>();
  readonly #timer: NodeJS.Timeout;
  #seenAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  /** What is known may be from before the database has restarted. */
  #isPast = false;
  #onSet = (): void => undefined;

  private constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
    this.#timer = setInterval(() => this.hint(), LOOK_EVERY_MS); // in-memory
    this.#timer.unref();
  }

  /** Looks for the first time. `now` in monotonic milliseconds. Rejects with STORE_UNREACHABLE. */
  static async open(database: Database, now: () => number = () => performance.now()): Promise<PostgresSettings> {
    const settings = new PostgresSettings(database, now);
    try {
      await settings.look();
    } catch (error) {
      settings.close();
      throw error;
    }
    return settings;
  }

  /** Of a database that has no settings yet, and is not asked for any. */
  static ofNothing(database: Database): PostgresSettings {
    const settings = new PostgresSettings(database, () => 0);
    settings.close();
    settings.#seenAt = 0;
    return settings;
  }

  /** Looks now. Rejects with STORE_UNREACHABLE; what is known stays in use. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** The database has restarted, and its last commits may be lost: what was known is compared with nothing. Rejects as `look` does. */
  async lookAgain(): Promise<void> {
    await this.#looking?.catch(() => undefined); // that one may have been answered before
    this.#isPast = true;
    await this.look();
  }

  /** Something may have changed. */
  hint(): void {
    this.look().catch(() => undefined); // the next look is a second away
  }

  /** `onSet` is called after each change that is made here. */
  told(onSet: () => void): void {
    this.#onSet = onSet;
  }

  /** Looks no more. */
  close(): void {
    clearInterval(this.#timer);
  }

  open<T>(name: SettingName, codec: SettingCodec<T>, onChange: (state: SettingState<T>) => void): Setting<T> {
    let seen: Stored | undefined;
    let state: SettingState<T> = { good: undefined, fault: undefined };
    let away: SettingState<T> | undefined;
    const now = (): SettingState<T> => {
      const stored = this.#stored.get(name) ?? NOTHING;
      if (stored !== seen) {
        seen = stored;
        away = undefined;
        state = parsed(stored, codec, state.good);
        onChange(state);
      }
      if (this.#now() - this.#seenAt <= HOLDS_MS) {
        away = undefined;
        return state;
      }
      away ??= { good: state.good, fault: AWAY }; // closed-after-ten-minutes
      return away;
    };
    const makeChange: Setting<T>['update'] = async (change) => {
      for (;;) {
        await this.#look();
        const next = change(now());
        if (next === undefined) return false;
        const text = codec.format(next);
        const before = this.#stored.get(name) ?? NOTHING;
        if (text === undefined && before.text === undefined) return true;
        if (await this.#set(name, text, before.rev)) {
          now();
          return true;
        }
      }
    };
    let last: Promise<unknown> = Promise.resolve();
    const update: Setting<T>['update'] = (change) => {
      const made = last.then(() => makeChange(change)); // one-change-at-a-time
      last = made.catch(() => undefined); // the caller has it
      return made;
    };
    return { place: `the setting ${name} in ${this.#database.place.shown}`, now, look: () => this.#look(), update };
  }

  async check<T>(name: SettingName, codec: SettingCodec<T>): Promise<SettingState<T>> {
    await this.#look();
    return parsed(this.#stored.get(name) ?? NOTHING, codec, undefined);
  }

  async #look(): Promise<void> {
    const at = this.#now();
    const isPast = this.#isPast;
    const known = NAMES.map((name) => (isPast ? 0 : (this.#stored.get(name) ?? NOTHING).rev));
    const rows = await this.#database.query<{ key: string; value: string | null; rev: number }>(SETTINGS, [NAMES, known]);
    this.#seenAt = Math.max(at, this.#seenAt);
    if (isPast) this.#stored.clear();
    if (isPast) this.#isPast = false;
    for (const { key, value, rev } of rows) this.#take(key, { rev, text: value ?? undefined });
  }

  #take(name: string, stored: Stored): void {
    if (stored.rev > (this.#stored.get(name) ?? NOTHING).rev) this.#stored.set(name, stored); // never-older
  }

  /** False if somebody else has changed it since. */
  async #set(name: SettingName, text: string | undefined, before: number): Promise<boolean> {
    if (name === 'token' && text !== undefined && !HASH.test(text.trim())) {
      throw new BlockhouseError('INTERNAL_ERROR', 'Only the hash of the token may be stored in a database.'); // no-secrets
    }
    const [row] = await this.#database.query<{ rev: number }>(SET, [name, text ?? null, before]);
    if (row === undefined) return false;
    this.#take(name, { rev: row.rev, text });
    this.#onSet();
    return true;
  }
}

function parsed<T>({ text }: Stored, codec: SettingCodec<T>, before: T | undefined): SettingState<T> {
  try {
    return { good: codec.parse(text), fault: undefined };
  } catch (error) {
    return { good: before, fault: (error as Error).message.replace(/\.$/, '') };
  }
}
