// The stored credentials: `auth.json`, one object per adapter, mode 0600, read again when it changes.
//
// never-empty: a damaged file never counts as an empty one. The last valid content stays in use, and the bus reports the damage. If there never was
//   good content, every use fails and names the file.
// own-entry: an entry of the wrong form affects only its own adapter, and stays in the file.
// given-again: a change to an address at another origin brings the secrets of the entry again (moved-address.ts, connection-changes.ts). An edit by hand
//   needs nothing of that.
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../base/json.ts';
import { parseBytes } from '../base/strict-json.ts';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import { closeToOthers, type FileState, FreshFile, type Turn } from '../store/files/fresh-file.ts';
import { type Entry, noObject, parseEntry, type StoredSettings } from './entry.ts';
import { assertSecretsRenewed } from './moved-address.ts';
import { HOOKS, isSection, NOTIFY, OAUTH, SERVERS, secretsIn, secretTexts, setSecrets } from './secret-sections.ts';
import type { SettingsSpec } from './settings.ts';

export type { StoredSettings } from './entry.ts';

/** The entries as they are in the file; each is checked when it is used (own-entry). */
type Stored = ReadonlyMap<string, unknown>;
/** Beside the secrets of a block's hooks: when the block was made, in epoch milliseconds. No hook has a name with a capital letter. */
const MADE_AT = 'madeAt';
/** Fields of an entry as they stand in the file. */
export type EntryFields = Readonly<Record<string, unknown>>;

/** What a change of an entry over the API has to fulfil. Throws INVALID_REQUEST naming the field. */
export type EntryRule = (name: string, change: EntryFields, before: Entry | undefined, after: Entry) => void;

/** The credentials of a workspace. Only the resolution of settings gets their values. */
export class CredentialStore {
  readonly #file: FreshFile;
  readonly #bus: CoreBus;
  readonly #settingsOf: (adapterId: string) => SettingsSpec;
  #good: Stored | undefined;
  readonly #rule: EntryRule;
  /** Entries whose form was checked, because every request reads one. */
  readonly #sound = new WeakMap<object, Entry>();
  #fault: string | undefined;
  #content: string | undefined;

  /** `now` in monotonic milliseconds. `settingsOf` says which fields of an entry are secrets and addresses; `rule` judges what `update` is given besides. */
  constructor(
    workspace: string,
    bus: CoreBus,
    now?: () => number,
    settingsOf: (adapterId: string) => SettingsSpec = () => ({}),
    rule: EntryRule = () => undefined,
    turn?: Turn,
  ) {
    this.#bus = bus;
    this.#settingsOf = settingsOf;
    this.#rule = rule;
    this.#file = new FreshFile(join(workspace, 'auth.json'), (state) => this.#take(state), now, turn);
  }

  /** The settings stored for an adapter. Throws ADAPTER_NOT_CONFIGURED for a bad entry, or if the file was never good. */
  read(adapterId: string): StoredSettings | undefined {
    return this.#entry(this.#current(), adapterId)?.settings;
  }

  /** The entry of this name, the same object until it changes. Throws as `read` does. */
  entry(name: string): Entry | undefined {
    return this.#entry(this.#current(), name);
  }

  /** The content that is in use, as an object that is another one after each change; undefined if the file was never good. */
  content(): object | undefined {
    this.#file.refresh();
    return this.#good;
  }

  /** What is wrong with the file; undefined while it is good. What was read of it before is used. */
  get fault(): string | undefined {
    this.#file.refresh(true);
    return this.#fault;
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
    return [...this.#current().keys()].filter((id) => !isSection(id));
  }

  /**
   * Changes fields of one entry, of which null removes one; a function gets the entry as it is and says the fields. Keeps the rest of the file, and returns the entry as it was. Throws as `read` does, also if the
   * file has been damaged since, and INVALID_REQUEST for an entry that would be wrong, and for an address that the secrets of the entry don't belong to (given-again).
   */
  async update(name: string, change: EntryFields | ((before: EntryFields | undefined) => EntryFields)): Promise<EntryFields | undefined> {
    let before: EntryFields | undefined;
    await this.#rewrite((all) => {
      const known = this.#entry(all, name);
      before = all.get(name) as EntryFields | undefined;
      const fields = typeof change === 'function' ? change(before) : change;
      const merged = mergedEntry(before, fields);
      const after = checkedEntry(name, merged);
      assertSecretsRenewed(this.#settingsOf(name), known?.settings ?? {}, stringsIn(fields));
      this.#rule(name, fields, known, after);
      all.set(name, merged);
    });
    return before;
  }

  /** Takes an update back: the entry becomes what it was `before` the update of `fields`, unless somebody has changed it since. */
  async takeBack(name: string, fields: EntryFields, before: EntryFields | undefined): Promise<void> {
    await this.#rewrite((all) => {
      if (!isDeepStrictEqual(all.get(name), mergedEntry(before, fields))) return;
      if (before === undefined) all.delete(name);
      else all.set(name, before);
    });
  }

  /** The names of those that would not be adopted: there is another entry of the name. Throws as `read` does. */
  conflicting(entries: ReadonlyMap<string, EntryFields>): string[] {
    const all = this.#current();
    return [...entries].filter(([name, entry]) => all.has(name) && !isDeepStrictEqual(all.get(name), entry)).map(([name]) => name);
  }

  /**
   * Adds entries of a file that the owner of the workspace has chosen, all in one write; those whose name another entry has stay out, unless `replaces`. As an edit by hand, it may
   * name any variable and address. Throws as `update` does for an entry of the wrong form.
   */
  async adopt(entries: ReadonlyMap<string, EntryFields>, replaces: boolean): Promise<void> {
    for (const [name, entry] of entries) checkedEntry(name, entry);
    await this.#rewrite((all) => {
      const before = new Map(all);
      for (const [name, entry] of entries) if (replaces || !all.has(name)) all.set(name, entry);
      return [...all].some(([name, entry]) => !isDeepStrictEqual(before.get(name), entry));
    });
  }

  /** The secret of a hook of a block. Throws as `read` does. As in HookSecrets. */
  hookSecret(block: string, hook: string, madeAt?: number): string | undefined {
    const { [hook]: secret, [MADE_AT]: of } = secretsIn(this.#current(), HOOKS, block);
    const isOfAnother = madeAt !== undefined && of !== undefined && of !== madeAt;
    return typeof secret === 'string' && !isOfAnother ? secret : undefined;
  }

  /** Stores the secret of a hook; undefined removes it. Rejects as `update` does. As in HookSecrets. */
  async setHookSecret(block: string, hook: string, secret: string | undefined, madeAt?: number): Promise<void> {
    await this.#rewrite((all) => {
      const { [MADE_AT]: of = madeAt, ...held } = secretsIn(all, HOOKS, block);
      const { [hook]: old, ...others } = madeAt === undefined || of === madeAt ? held : {}; // of an earlier block of the name
      if (old === secret) return false;
      const secrets = secret === undefined ? others : { ...others, [hook]: secret };
      const is = madeAt ?? of;
      setSecrets(all, HOOKS, block, is === undefined || Object.keys(secrets).length === 0 ? secrets : { ...secrets, [MADE_AT]: is });
      return true;
    });
  }

  /** The hooks of a block that has another name. An earlier block of that name has left its secrets; they open nothing any more. As in HookSecrets. */
  async renameHooks(from: string, to: string, isResumed = false): Promise<void> {
    if (!this.#hasHooks(from)) return isResumed ? undefined : this.forgetHooks(to);
    await this.#rewrite((all) => {
      setSecrets(all, HOOKS, to, secretsIn(all, HOOKS, from));
      setSecrets(all, HOOKS, from, {});
    });
  }

  /** Removes the secrets that an earlier block of this name has left. Where the file was never good, none is known. */
  async forgetHooks(block: string): Promise<void> {
    this.#file.refresh();
    if (this.#good === undefined || !this.#hasHooks(block)) return;
    await this.#rewrite((all) => setSecrets(all, HOOKS, block, {}));
  }

  /** The secrets of a server of tools by their fields. Throws as `read` does. */
  serverSecrets(server: string): StoredSettings {
    return stringsIn(secretsIn(this.#current(), SERVERS, server));
  }

  /** All texts of the file that must not be shown. Throws as `read` does. */
  secretTexts(): string[] {
    return secretTexts(this.#current());
  }

  /** Stores secrets of a server of tools, of which undefined removes one; `all` removes those that are not given. Rejects as `update` does. */
  async setServerSecrets(server: string, change: Readonly<Record<string, string | undefined>>, replaces: 'all' | 'given' = 'given'): Promise<void> {
    await this.#rewrite((all) => {
      const before = secretsIn(all, SERVERS, server);
      const merged = { ...(replaces === 'given' && before), ...change };
      const after = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
      if (isDeepStrictEqual({ ...before }, after)) return false;
      setSecrets(all, SERVERS, server, after);
      return true;
    });
  }

  /** The sign-ins of a server of tools as they stand in the file. Throws as `read` does. */
  signIns(server: string): Readonly<Record<string, unknown>> {
    return secretsIn(this.#current(), OAUTH, server);
  }

  /** Replaces the sign-ins of a server of tools. Rejects as `update` does. */
  async setSignIns(server: string, signIns: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#rewrite((all) => {
      if (isDeepStrictEqual({ ...secretsIn(all, OAUTH, server) }, signIns)) return false;
      setSecrets(all, OAUTH, server, signIns);
      return true;
    });
  }

  #hasHooks(block: string): boolean {
    return Object.keys(secretsIn(this.#current(), HOOKS, block)).length > 0;
  }

  /** The targets of notifications as they stand in the file. Throws as `read` does. */
  notifyTargets(): Readonly<Record<string, unknown>> {
    const section = this.#current().get(NOTIFY);
    return isObject(section) ? section : {};
  }

  /** Stores a target of notifications; undefined removes it. Rejects as `update` does. */
  async setNotifyTarget(name: string, entry: object | undefined): Promise<void> {
    await this.#rewrite((all) => {
      const section = all.get(NOTIFY);
      const { [name]: _old, ...others } = isObject(section) ? section : {};
      const next = entry === undefined ? others : { ...others, [name]: entry };
      if (Object.keys(next).length === 0) all.delete(NOTIFY);
      else all.set(NOTIFY, next);
    });
  }

  /** Removes an adapter's entry; false if there was none. */
  async remove(adapterId: string): Promise<boolean> {
    let existed = false;
    if (isSection(adapterId)) return false;
    await this.#rewrite((all) => {
      existed = all.delete(adapterId);
    });
    return existed;
  }

  /** Without a write where `change` returns false. */
  async #rewrite(change: (all: Map<string, unknown>) => unknown): Promise<void> {
    await this.#file.rewrite(() => {
      // Overwriting a file that can't be read would lose its content.
      if (this.#fault !== undefined) throw this.#damage();
      const all = new Map(this.#good);
      if (change(all) === false) return undefined;
      return `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`;
    });
  }

  #current(): Stored {
    this.#file.refresh();
    if (this.#good === undefined) throw this.#damage();
    return this.#good;
  }

  /** own-entry. */
  #entry(all: Stored, id: string): Entry | undefined {
    const raw = all.get(id);
    if (raw === undefined || isSection(id)) return undefined;
    const known = this.#sound.get(raw as object);
    if (known !== undefined) return known;
    let entry: Entry;
    try {
      entry = parseEntry(id, raw);
    } catch (error) {
      throw this.#wrongEntry(id, (error as Error).message);
    }
    this.#sound.set(raw as object, entry);
    return entry;
  }

  /** The cure is not to remove the file, which has the keys of all others. */
  #wrongEntry(id: string, fault: string): BlockhouseError {
    const what = fault === noObject(id) ? 'it must be an object' : fault;
    return new BlockhouseError(
      'ADAPTER_NOT_CONFIGURED',
      `The entry ${id} of ${this.#file.path} can't be used: ${what}. Repair it, or remove it: \`blockhouse auth rm ${id}\`.`,
      {
        forKeys: `The entry ${id} in auth.json of this server is wrong. \`blockhouse doctor\` says what is wrong.`,
      },
    );
  }

  #damage(): BlockhouseError {
    return new BlockhouseError('ADAPTER_NOT_CONFIGURED', `${this.#file.path} can't be used: ${this.#fault}. Repair it or remove it.`, {
      forKeys: 'auth.json of this server is damaged, so its providers have no keys. The log of the server says what is wrong.',
    });
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

function mergedEntry(before: EntryFields | undefined, fields: EntryFields): EntryFields {
  return Object.fromEntries(Object.entries({ ...before, ...fields }).filter(([, value]) => value !== null));
}

/** Throws INVALID_REQUEST. */
function checkedEntry(name: string, entry: EntryFields): Entry {
  try {
    return parseEntry(name, entry);
  } catch (error) {
    const fault = (error as Error).message;
    const [path = '', ...words] = fault.split(' ');
    throw invalidRequest(path.slice(name.length + 1), words.join(' '));
  }
}

function stringsIn(fields: EntryFields): StoredSettings {
  return Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => typeof field[1] === 'string'));
}
