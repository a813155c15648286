// The keys of applications.
//
// closed-by-default: while what is stored can't be used, no key of it is accepted. The workspace's own token still is.
// hashed: only hashes are stored, from which no key can be made.
import { isObject } from '../base/json.ts';
import { parseBytes } from '../base/strict-json.ts';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import type { Setting, SettingCodec, SettingState, SettingStore } from '../store/port.ts';
import type { ShownKey } from '../types.ts';
import { assertKeyName, checkedLimits, hashOfKey, type KeyLimits, type NamedKey, newKey, parseKey } from './named-key.ts';

/** The name of the file in a workspace. */
export const KEYS_FILE = 'keys.json';
const MAX_KEYS = 1000;
/** Anybody may see it, so it says nothing of the content. */
const REFUSED_UNSEEN = `${KEYS_FILE} of the workspace is damaged, so no key is accepted. Its owner sees with \`blockhouse key ls\` what is wrong.`;

/** What is stored, by hash and by name. */
interface KeyTable {
  readonly byHash: ReadonlyMap<string, NamedKey>;
  readonly byName: ReadonlyMap<string, NamedKey>;
}

/** What a store works with. */
export interface KeyStoreOptions {
  readonly settings: SettingStore;
  readonly bus: CoreBus;
  /** Epoch milliseconds. */
  readonly clock?: (() => number) | undefined;
}

/** The keys of a workspace. */
export class KeyStore {
  readonly #clock: () => number;
  readonly #setting: Setting<KeyTable>;

  constructor({ settings, bus, clock }: KeyStoreOptions) {
    this.#clock = clock ?? Date.now;
    this.#setting = settings.open('keys', KEYS, ({ fault }) => {
      if (fault !== undefined) bus.emit('keys.damaged', { file: this.#setting.place, reason: fault });
    });
  }

  /** The key that was presented; undefined if there is none. Throws UNAUTHORIZED if it has expired, WORKSPACE_DAMAGED while keys.json can't be read. */
  find(presented: string): NamedKey | undefined {
    const hash = hashOfKey(presented);
    if (hash === undefined) return undefined;
    const key = this.#unseen().byHash.get(hash);
    if (key !== undefined && this.#hasExpired(key)) throw new BlockhouseError('UNAUTHORIZED', `The key ${key.name} expired at ${key.expiresAt}.`);
    return key;
  }

  /** The key of this name; undefined if there is none, or it has expired. Throws WORKSPACE_DAMAGED while keys.json can't be read. */
  named(name: string): NamedKey | undefined {
    const key = this.#unseen().byName.get(name);
    return key !== undefined && this.#hasExpired(key) ? undefined : key;
  }

  /** All keys, in the order in which they were made. Throws WORKSPACE_DAMAGED. */
  list(): ShownKey[] {
    return [...this.#sound(this.#setting.now()).byHash.values()].map(({ hash: _hash, ...shown }) => shown);
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
    await this.#setting.update((state) => {
      const before = [...this.#sound(state).byHash.values()]; // overwriting what can't be read would lose it
      const keys = change(before);
      return keys.length === before.length ? undefined : tableOf(keys);
    });
  }

  #hasExpired({ expiresAt }: NamedKey): boolean {
    return expiresAt !== null && Date.parse(expiresAt) <= this.#clock();
  }

  /** For applications: the error says nothing of the content. */
  #unseen(): KeyTable {
    const { good, fault } = this.#setting.now();
    if (good === undefined || fault !== undefined) throw new BlockhouseError('WORKSPACE_DAMAGED', REFUSED_UNSEEN); // closed-by-default
    return good;
  }

  /** For the owner. */
  #sound({ good, fault }: SettingState<KeyTable>): KeyTable {
    if (good !== undefined && fault === undefined) return good;
    const message = `${this.#setting.place} can't be used: ${fault}. Repair it or remove it; until then its keys are refused.`;
    throw new BlockhouseError('WORKSPACE_DAMAGED', message);
  }
}

/** How keys are stored. */
export const KEYS: SettingCodec<KeyTable> = {
  parse: (text) => {
    if (text === undefined) return tableOf([]);
    const json = parseBytes(Buffer.from(text));
    if (!isObject(json) || !Array.isArray(json['keys'])) throw new Error('it must hold an object with a list "keys"');
    const keys = json['keys'].map(parseKey);
    const twice = keys.find(({ name }, index) => keys.findIndex((one) => one.name === name) !== index);
    if (twice !== undefined) throw new Error(`two keys are called ${twice.name}`);
    return tableOf(keys);
  },
  format: ({ byHash }) => `${JSON.stringify({ keys: [...byHash.values()] }, null, 2)}\n`,
};

function tableOf(keys: readonly NamedKey[]): KeyTable {
  return { byHash: new Map(keys.map((key) => [key.hash, key])), byName: new Map(keys.map((key) => [key.name, key])) };
}
