// The keys of applications: `keys.json`, mode 0600, read again when it changes.
//
// closed-by-default: while the file can't be used, no key of it is accepted. The workspace's own token still is.
// hashed: the file has only hashes, from which no key can be made.
import { join } from 'node:path';
import { isObject } from '../base/json.ts';
import { parseBytes } from '../base/strict-json.ts';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import { closeToOthers, type FileState, FreshFile } from '../store/files/fresh-file.ts';
import type { ShownKey } from '../types.ts';
import { assertKeyName, checkedLimits, hashOfKey, type KeyLimits, type NamedKey, newKey, parseKey } from './named-key.ts';

/** The name of the file in a workspace. */
export const KEYS_FILE = 'keys.json';
const MAX_KEYS = 1000;
/** Anybody may see it, so it says nothing of the content. */
const REFUSED_UNSEEN = `${KEYS_FILE} of the workspace is damaged, so no key is accepted. Its owner sees with \`blockhouse key ls\` what is wrong.`;

/** What a store works with. */
export interface KeyStoreOptions {
  readonly workspace: string;
  readonly bus: CoreBus;
  /** Monotonic milliseconds. */
  readonly now?: (() => number) | undefined;
  /** Epoch milliseconds. */
  readonly clock?: (() => number) | undefined;
}

/** The keys of a workspace. */
export class KeyStore {
  readonly #bus: CoreBus;
  readonly #clock: () => number;
  readonly #file: FreshFile;
  #byHash: ReadonlyMap<string, NamedKey> = new Map();
  #byName: ReadonlyMap<string, NamedKey> = new Map();
  #fault: string | undefined;

  constructor({ workspace, bus, now, clock }: KeyStoreOptions) {
    this.#bus = bus;
    this.#clock = clock ?? Date.now;
    this.#file = new FreshFile(join(workspace, KEYS_FILE), (state) => this.#take(state), now);
  }

  /** The key that was presented; undefined if there is none. Throws UNAUTHORIZED if it has expired, WORKSPACE_DAMAGED while keys.json can't be read. */
  find(presented: string): NamedKey | undefined {
    const hash = hashOfKey(presented);
    if (hash === undefined) return undefined;
    this.#file.refresh();
    if (this.#fault !== undefined) throw new BlockhouseError('WORKSPACE_DAMAGED', REFUSED_UNSEEN);
    const key = this.#byHash.get(hash);
    if (key !== undefined && this.#hasExpired(key)) throw new BlockhouseError('UNAUTHORIZED', `The key ${key.name} expired at ${key.expiresAt}.`);
    return key;
  }

  /** The key of this name; undefined if there is none, or it has expired. Throws WORKSPACE_DAMAGED while keys.json can't be read. */
  named(name: string): NamedKey | undefined {
    this.#file.refresh();
    if (this.#fault !== undefined) throw new BlockhouseError('WORKSPACE_DAMAGED', REFUSED_UNSEEN);
    const key = this.#byName.get(name);
    return key !== undefined && this.#hasExpired(key) ? undefined : key;
  }

  /** All keys, in the order in which they were made. Throws WORKSPACE_DAMAGED. */
  list(): ShownKey[] {
    this.#file.refresh();
    if (this.#fault !== undefined) throw this.#damage();
    return [...this.#byHash.values()].map(({ hash: _hash, ...shown }) => shown);
  }

  /** Makes a key and returns it; it can't be shown again. Throws INVALID_REQUEST, NAME_TAKEN, WORKSPACE_DAMAGED. */
  async create(name: string, limits: Partial<KeyLimits> = {}): Promise<string> {
    assertKeyName(name);
    const key = newKey();
    const createdAt = new Date(this.#clock()).toISOString();
    const entry: NamedKey = { name, hash: hashOfKey(key) ?? '', createdAt, ...checkedLimits(limits) };
    if (entry.expiresAt !== null && Date.parse(entry.expiresAt) <= Date.parse(createdAt)) throw invalidRequest('expiresAt', 'must be in the future');
    await this.#rewrite((keys) => {
      if (keys.some((one) => one.name === name))
        throw new BlockhouseError('NAME_TAKEN', `There is a key ${name} already. Revoke it first, or choose another name.`);
      if (keys.length >= MAX_KEYS) throw invalidRequest('name', `can't be added: there may be ${MAX_KEYS} keys at most`);
      return [...keys, entry];
    });
    return key;
  }

  /** From now on the key is refused. False if there is no such key. Throws WORKSPACE_DAMAGED. */
  async revoke(name: string): Promise<boolean> {
    let existed = false;
    await this.#rewrite((keys) => {
      const others = keys.filter((one) => one.name !== name);
      existed = others.length < keys.length;
      return others;
    });
    return existed;
  }

  async #rewrite(change: (keys: readonly NamedKey[]) => readonly NamedKey[]): Promise<void> {
    await this.#file.rewrite(() => {
      if (this.#fault !== undefined) throw this.#damage(); // overwriting a file that can't be read would lose its content
      const before = [...this.#byHash.values()];
      const keys = change(before);
      return keys.length === before.length ? undefined : `${JSON.stringify({ keys }, null, 2)}\n`;
    });
  }

  #hasExpired({ expiresAt }: NamedKey): boolean {
    return expiresAt !== null && Date.parse(expiresAt) <= this.#clock();
  }

  #damage(): BlockhouseError {
    return new BlockhouseError(
      'WORKSPACE_DAMAGED',
      `${this.#file.path} can't be used: ${this.#fault}. Repair it or remove it; until then its keys are refused.`,
    );
  }

  #take(state: FileState): void {
    closeToOthers(this.#file.path, state);
    try {
      const keys = parseKeys(state);
      this.#byHash = new Map(keys.map((key) => [key.hash, key]));
      this.#byName = new Map(keys.map((key) => [key.name, key]));
      this.#fault = undefined;
    } catch (error) {
      this.#byHash = new Map(); // closed-by-default
      this.#byName = new Map();
      this.#fault = (error as Error).message.replace(/\.$/, '');
      this.#bus.emit('keys.damaged', { file: this.#file.path, reason: this.#fault });
    }
  }
}

/** Throws an Error that says what is wrong. */
export function parseKeys(state: FileState): NamedKey[] {
  if (state.kind === 'missing') return [];
  if (state.kind === 'unreadable') throw new Error(state.reason);
  const json = parseBytes(Buffer.from(state.text));
  if (!isObject(json) || !Array.isArray(json['keys'])) throw new Error('it must hold an object with a list "keys"');
  const keys = json['keys'].map(parseKey);
  const twice = keys.find(({ name }, index) => keys.findIndex((one) => one.name === name) !== index);
  if (twice !== undefined) throw new Error(`two keys are called ${twice.name}`);
  return keys;
}
