// The stored credentials: `auth.json`, one object per adapter, mode 0600, read again when it changes.
//
// never-empty: a damaged file never counts as an empty one. The last valid content stays in use, and the bus reports the damage. If there never was
//   good content, every use fails and names the file.
// own-entry: an entry of the wrong form affects only its own adapter, and stays in the file.
// given-again: a change to an address at another origin brings the secrets of the entry again (moved-address.ts). An edit by hand needs nothing of that.
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../base/json.ts';
import { parseBytes } from '../base/strict-json.ts';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError } from '../errors.ts';
import { closeToOthers, type FileState, FreshFile, type Turn } from '../store/files/fresh-file.ts';
import { assertSecretsRenewed } from './moved-address.ts';
import type { SettingsSpec } from './settings.ts';

/** The stored settings of one adapter. */
export type StoredSettings = Readonly<Record<string, string>>;
/** The entries as they are in the file; each is checked when it is used (own-entry). */
type Stored = ReadonlyMap<string, unknown>;

/** The credentials of a workspace. Only the resolution of settings gets their values. */
export class CredentialStore {
  readonly #file: FreshFile;
  readonly #bus: CoreBus;
  readonly #settingsOf: (adapterId: string) => SettingsSpec;
  #good: Stored | undefined;
  /** Entries whose form was checked, because every request reads one. */
  readonly #sound = new WeakSet<object>();
  #fault: string | undefined;
  #content: string | undefined;

  /** `now` in monotonic milliseconds. `settingsOf` says which fields of an entry are secrets and addresses. */
  constructor(workspace: string, bus: CoreBus, now?: () => number, settingsOf: (adapterId: string) => SettingsSpec = () => ({}), turn?: Turn) {
    this.#bus = bus;
    this.#settingsOf = settingsOf;
    this.#file = new FreshFile(join(workspace, 'auth.json'), (state) => this.#take(state), now, turn);
  }

  /** The settings stored for an adapter. Throws ADAPTER_NOT_CONFIGURED for a bad entry, or if the file was never good. */
  read(adapterId: string): StoredSettings | undefined {
    return this.#entry(this.#current(), adapterId);
  }

  /** Reads the file if it has changed; the bus reports a change. */
  refresh(force = false): void {
    this.#file.refresh(force);
  }

  /** Looks at the file if there is one: a missing file must not count as a good one yet (never-empty). The bus reports damage. */
  tellDamage(): void {
    if (this.#file.exists) this.#file.refresh();
  }

  /** The ids that have an entry. Throws as `read` does. */
  ids(): string[] {
    return [...this.#current().keys()];
  }

  /**
   * Changes fields of one adapter's entry, keeps the rest of the file, and returns the entry as it was. Throws as `read` does, also if the file has been
   * damaged since, and INVALID_REQUEST for an address that the secrets of the entry don't belong to (given-again).
   */
  async update(adapterId: string, fields: Readonly<Record<string, string>>): Promise<StoredSettings | undefined> {
    let before: StoredSettings | undefined;
    await this.#rewrite((all) => {
      before = this.#entry(all, adapterId);
      assertSecretsRenewed(this.#settingsOf(adapterId), before ?? {}, fields);
      all.set(adapterId, { ...before, ...fields });
    });
    return before;
  }

  /** Takes an update back: the entry becomes what it was `before` the update of `fields`, unless somebody has changed it since. */
  async takeBack(adapterId: string, fields: Readonly<Record<string, string>>, before: StoredSettings | undefined): Promise<void> {
    await this.#rewrite((all) => {
      if (!isDeepStrictEqual(all.get(adapterId), { ...before, ...fields })) return;
      if (before === undefined) all.delete(adapterId);
      else all.set(adapterId, before);
    });
  }

  /** Removes an adapter's entry; false if there was none. */
  async remove(adapterId: string): Promise<boolean> {
    let existed = false;
    await this.#rewrite((all) => {
      existed = all.delete(adapterId);
    });
    return existed;
  }

  async #rewrite(change: (all: Map<string, unknown>) => void): Promise<void> {
    await this.#file.rewrite(() => {
      // Overwriting a file that can't be read would lose its content.
      if (this.#fault !== undefined) throw this.#damage();
      const all = new Map(this.#good);
      change(all);
      return `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`;
    });
  }

  #current(): Stored {
    this.#file.refresh();
    if (this.#good === undefined) throw this.#damage();
    return this.#good;
  }

  /** own-entry. */
  #entry(all: Stored, id: string): StoredSettings | undefined {
    const entry = all.get(id);
    if (entry === undefined) return undefined;
    if (!this.#sound.has(entry as object)) {
      const fault = faultOfEntry(id, entry);
      if (fault !== undefined) throw this.#damage(fault);
      this.#sound.add(entry as StoredSettings);
    }
    return entry as StoredSettings;
  }

  #damage(fault = this.#fault): BlockhouseError {
    return new BlockhouseError('ADAPTER_NOT_CONFIGURED', `${this.#file.path} can't be used: ${fault}. Repair it or remove it.`);
  }

  #take(state: FileState): void {
    closeToOthers(this.#file.path, state); // before it is parsed: a damaged file may hold keys, too
    const content = state.kind === 'text' ? `text ${state.text}` : state.kind;
    if (content === this.#content) return; // only its mode or time has changed
    const first = this.#content === undefined;
    this.#content = content;
    try {
      this.#good = parseStored(state);
      this.#fault = undefined;
    } catch (error) {
      this.#fault = (error as Error).message;
      this.#bus.emit('credentials.damaged', { file: this.#file.path, reason: this.#fault });
      return;
    }
    if (!first) this.#bus.emit('credentials.changed', { file: this.#file.path });
  }
}

function parseStored(state: FileState): Stored {
  if (state.kind === 'missing') return new Map();
  if (state.kind === 'unreadable') throw new Error(state.reason);
  const json = parseBytes(Buffer.from(state.text)); // its errors don't quote the text, which contains keys
  if (!isObject(json)) throw new Error('it must contain a JSON object with one entry for each provider');
  return new Map(Object.entries(json));
}

function faultOfEntry(id: string, entry: unknown): string | undefined {
  if (!isObject(entry)) return `the entry ${id} must be an object`;
  const wrong = Object.entries(entry).find(([, value]) => typeof value !== 'string');
  return wrong === undefined ? undefined : `${id}.${wrong[0]} must be a string`;
}
