// The keys of applications.
//
// closed-by-default: while what is stored can't be used, no key of it is accepted. The workspace's own token still is.
// hashed: only hashes are stored, from which no key can be made.
// known-groups: no key is in a group that there is not, so that no limit is left out.
// hashed-once: a key that was found by its hash is found as it was presented from then on, until the keys change: the hash costs more than everything else that is done to
//   know a caller. Only keys that exist are kept, so there are never more than those.
// gone-but-known: messages wait at blocks for longer than their key may last. What a revoked key was is known until the process ends, so that its caps still hold for them and
//   they count for its group, whose limits are those of now.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../base/json.ts';
import { parseBytes } from '../base/strict-json.ts';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import type { Setting, SettingCodec, SettingState, SettingStore } from '../store/port.ts';
import { MAX_DEBUG_MINUTES } from '../schemas/gateway-api.ts';
import type { ShownKey, ShownKeyGroup } from '../types.ts';
import { checkedFigures, type Figures, type KeyLimits } from './key-limits.ts';
import { assertKeyName, checkedLimits, hashOfKey, type NamedKey, namedKey, newKey, parseGroup, parseKey, type StoredKey } from './named-key.ts';

/** The name of the file in a workspace. */
export const KEYS_FILE = 'keys.json';
const MAX_KEYS = 1000;
const MAX_GROUPS = 1000;
const MINUTE_MS = 60_000;
/** 72 bits: no two states of a key have the same. */
const REV_LENGTH = 12;
/** Anybody may see it, so it says nothing of the content. */
const REFUSED_UNSEEN = `${KEYS_FILE} of the workspace is damaged, so no key is accepted. Its owner sees with \`blockhouse key ls\` what is wrong.`;

/** What is stored, by hash and by name. */
interface KeyTable {
  readonly byHash: ReadonlyMap<string, NamedKey>;
  readonly byName: ReadonlyMap<string, NamedKey>;
  readonly groups: ReadonlyMap<string, Figures>;
  /** By the key itself: hashed-once. Never stored. */
  readonly presented: Map<string, NamedKey>;
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
  #clock: () => number;
  readonly #setting: Setting<KeyTable>;
  /** By name, as they were last. */
  #seen: KeyTable['byName'] = new Map();
  /** gone-but-known: the newest at the end. */
  readonly #gone = new Map<string, NamedKey>();

  constructor({ settings, bus, clock }: KeyStoreOptions) {
    this.#clock = clock ?? Date.now;
    this.#setting = settings.open('keys', KEYS, ({ good, fault }) => {
      if (good !== undefined) this.#see(good);
      if (fault !== undefined) bus.emit('keys.damaged', { file: this.#setting.place, reason: fault });
    });
  }

  /** From now on times are those of this clock, in epoch milliseconds: servers of one workspace share one, and each has a machine that may be wrong. */
  goBy(clock: () => number): void {
    this.#clock = clock;
  }

  /** The key that was presented; undefined if there is none. Throws UNAUTHORIZED if it has expired, WORKSPACE_DAMAGED while keys.json can't be read. */
  find(presented: string): NamedKey | undefined {
    const { good, fault } = this.#setting.now();
    const key = (fault === undefined ? good?.presented.get(presented) : undefined) ?? this.#findByHash(presented);
    if (key !== undefined && this.#hasExpired(key)) throw new BlockhouseError('UNAUTHORIZED', `The key ${key.name} expired at ${key.expiresAt}.`);
    return key;
  }

  #findByHash(presented: string): NamedKey | undefined {
    const hash = hashOfKey(presented);
    if (hash === undefined) return undefined;
    const { byHash, presented: known } = this.#unseen();
    const key = byHash.get(hash);
    if (key !== undefined) known.set(presented, key); // hashed-once
    return key;
  }

  /** The key of this name; undefined if there is none, or it has expired. Throws WORKSPACE_DAMAGED while keys.json can't be read. */
  named(name: string): NamedKey | undefined {
    const key = this.#unseen().byName.get(name);
    return key !== undefined && this.#hasExpired(key) ? undefined : key;
  }

  /** The key of this name, also one that has expired or was revoked (gone-but-known), and the last one that is known while keys.json can't be read; undefined without one. */
  lastKnown(name: string): NamedKey | undefined {
    return this.#setting.now().good?.byName.get(name) ?? this.#gone.get(name);
  }

  #see({ byName, groups }: KeyTable): void {
    for (const [name, key] of this.#seen) {
      if (byName.has(name)) continue;
      this.#gone.delete(name);
      this.#gone.set(name, key);
    }
    this.#seen = byName;
    for (const [name, key] of this.#gone) this.#gone.set(name, inGroupNow(key, groups)); // gone-but-known
    for (const oldest of this.#gone.keys()) {
      if (this.#gone.size <= MAX_KEYS) break;
      this.#gone.delete(oldest);
    }
  }

  /** All keys, in the order in which they were made. Throws WORKSPACE_DAMAGED. */
  list(): ShownKey[] {
    return [...this.#sound(this.#setting.now()).byHash.values()].map(shown);
  }

  /** All groups, in the order in which they were made. Throws WORKSPACE_DAMAGED. */
  groups(): ShownKeyGroup[] {
    const { groups, byName } = this.#sound(this.#setting.now());
    return [...groups].map(([name, figures]) => ({ name, ...figures, keys: membersOf(byName, name) }));
  }

  /** Makes a key and returns it; it can't be shown again. An expired key gives its name away. Throws INVALID_REQUEST, NAME_TAKEN, WORKSPACE_DAMAGED. */
  async create(name: string, limits: Partial<KeyLimits> = {}): Promise<string> {
    assertKeyName(name);
    const key = newKey();
    const createdAt = new Date(this.#clock()).toISOString();
    const entry: StoredKey = { name, hash: hashOfKey(key) ?? '', createdAt, ...this.#checked(limits) };
    await this.#rewrite(({ byName, groups }) => {
      const before = byName.get(name);
      if (before !== undefined && !this.#hasExpired(before))
        throw new BlockhouseError('NAME_TAKEN', `There is a key ${name} already. Revoke it first, or choose another name.`);
      const others = [...byName.values()].filter((one) => one !== before);
      if (others.length >= MAX_KEYS) throw invalidRequest('name', `can't be added: there may be ${MAX_KEYS} keys at most`);
      return tableOf([...others, entry], groups);
    });
    return key;
  }

  /**
   * Changes the limits that are given, for calls from now on. Throws KEY_NOT_FOUND, INVALID_REQUEST, WORKSPACE_DAMAGED, and REVISION_MISMATCH if `ifMatch` is not
   * the `rev` of the key now.
   */
  async change(name: string, limits: Partial<KeyLimits>, { ifMatch }: { readonly ifMatch?: string | undefined } = {}): Promise<ShownKey> {
    const changed = this.#checked(limits);
    const given = Object.fromEntries(Object.entries(changed).filter(([field]) => limits[field as keyof KeyLimits] !== undefined));
    let key: StoredKey | undefined;
    await this.#rewrite(({ byName, groups }) => {
      const before = byName.get(name);
      if (before === undefined) throw noKey(name);
      if (ifMatch !== undefined && ifMatch !== revOf(before))
        throw new BlockhouseError('REVISION_MISMATCH', `The key ${name} is no longer at ${ifMatch.slice(0, 64)}. Read the keys again and repeat the change.`);
      key = { ...before, ...given };
      return tableOf(
        [...byName.values()].map((one) => (one === before ? { ...one, ...given } : one)),
        groups,
      );
    });
    return shown(key as StoredKey);
  }

  /** From now on the key is refused. False if there is no such key. Throws WORKSPACE_DAMAGED. */
  async revoke(name: string): Promise<boolean> {
    let existed = false;
    await this.#rewrite(({ byName, groups }) => {
      existed = byName.has(name);
      if (!existed) return undefined;
      return tableOf(
        [...byName.values()].filter((one) => one.name !== name),
        groups,
      );
    });
    return existed;
  }

  /**
   * Keeps the bodies of its calls for so many minutes, or with 0 no longer. Returns until when, ISO 8601; undefined if they were not kept and are not. Throws
   * KEY_NOT_FOUND, INVALID_REQUEST, WORKSPACE_DAMAGED.
   */
  async debug(name: string, minutes: number): Promise<string | undefined> {
    if (!Number.isInteger(minutes) || minutes < 0 || minutes > MAX_DEBUG_MINUTES)
      throw invalidRequest('minutes', `must be a whole number from 1 to ${MAX_DEBUG_MINUTES}`);
    const debugUntil = minutes === 0 ? undefined : new Date(this.#clock() + minutes * MINUTE_MS).toISOString();
    await this.#rewrite(({ byName, groups }) => {
      const before = byName.get(name);
      if (before === undefined || this.#hasExpired(before)) throw noKey(name);
      if (before.debugUntil === debugUntil) return undefined;
      return tableOf(
        [...byName.values()].map((one) => (one === before ? { ...one, debugUntil } : one)),
        groups,
      );
    });
    return debugUntil;
  }

  /** The keys whose bodies are kept now, and until when. None while keys.json can't be read, since no key is accepted then. */
  debugged(): ReadonlyMap<string, string> {
    const { good, fault } = this.#setting.now();
    if (good === undefined || fault !== undefined) return new Map();
    return new Map([...good.byName.values()].flatMap((key) => (this.isDebugged(key) ? [[key.name, key.debugUntil ?? '']] : [])));
  }

  /** A time that is further away than a person may choose was written by hand, or the clock was changed: it counts as none. */
  isDebugged(key: NamedKey): boolean {
    const leftMs = key.debugUntil === undefined ? 0 : Date.parse(key.debugUntil) - this.#clock();
    return leftMs > 0 && leftMs <= MAX_DEBUG_MINUTES * MINUTE_MS && !this.#hasExpired(key);
  }

  /** Changes the limits of a group that are given; makes the group if there is none. Throws INVALID_REQUEST, WORKSPACE_DAMAGED. */
  async setGroup(name: string, figures: Partial<Figures>): Promise<ShownKeyGroup> {
    assertKeyName(name);
    const changed = checkedFigures(figures);
    const given = Object.fromEntries(Object.entries(changed).filter(([field]) => figures[field as keyof Figures] !== undefined));
    let group: ShownKeyGroup | undefined;
    await this.#rewrite(({ byName, groups }) => {
      if (!groups.has(name) && groups.size >= MAX_GROUPS) throw invalidRequest('name', `can't be added: there may be ${MAX_GROUPS} groups at most`);
      const next = { ...checkedFigures({}), ...groups.get(name), ...given };
      group = { name, ...next, keys: membersOf(byName, name) };
      return tableOf([...byName.values()], new Map([...groups, [name, next]]));
    });
    return group as ShownKeyGroup;
  }

  /** False if there is no such group. What was spent in it stays, for a group of the same name. Throws WRONG_STATE while keys are in it, WORKSPACE_DAMAGED. */
  async removeGroup(name: string): Promise<boolean> {
    let existed = false;
    await this.#rewrite(({ byName, groups }) => {
      existed = groups.has(name);
      if (!existed) return undefined;
      const [member] = membersOf(byName, name);
      if (member !== undefined) throw new BlockhouseError('WRONG_STATE', `The key ${member} is in the group ${name}. Take it out first, or revoke it.`);
      return tableOf([...byName.values()], new Map([...groups].filter(([other]) => other !== name)));
    });
    return existed;
  }

  #checked(limits: Partial<KeyLimits>): KeyLimits {
    const checked = checkedLimits(limits);
    if (checked.expiresAt !== null && Date.parse(checked.expiresAt) <= this.#clock()) throw invalidRequest('expiresAt', 'must be in the future');
    return checked;
  }

  async #rewrite(change: (table: KeyTable) => KeyTable | undefined): Promise<void> {
    await this.#setting.update((state) => change(this.#sound(state))); // overwriting what can't be read would lose it
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
    if (text === undefined) return tableOf([], new Map());
    const json = parseBytes(Buffer.from(text));
    if (!isObject(json) || !Array.isArray(json['keys'])) throw new Error('it must hold an object with a list "keys"');
    const keys = json['keys'].map(parseKey);
    const twice = keys.find(({ name }, index) => keys.findIndex((one) => one.name === name) !== index);
    if (twice !== undefined) throw new Error(`two keys are called ${twice.name}`);
    return tableOf(keys, parsedGroups(json['groups'] ?? {}));
  },
  format: ({ byHash, groups }) => {
    const keys = [...byHash.values()].map(
      ({ name, hash, createdAt, usdPerDay, tokensPerDay, unpriced, models, expiresAt, debugUntil, bounds: [own], group, rights, trusted, blocks }) => {
        return {
          name,
          hash,
          createdAt,
          usdPerDay,
          tokensPerDay,
          ...given(own ?? {}),
          unpriced,
          ...given({ group }),
          models,
          ...(rights.length > 0 && { rights }),
          ...(trusted === true && { trusted }),
          ...given({ blocks }),
          expiresAt,
          ...(debugUntil !== undefined && { debugUntil }),
        };
      },
    );
    const ofGroups = Object.fromEntries([...groups].map(([name, figures]) => [name, given(figures)]));
    return `${JSON.stringify({ keys, ...(groups.size > 0 && { groups: ofGroups }) }, null, 2)}\n`;
  },
};

function parsedGroups(value: unknown): ReadonlyMap<string, Figures> {
  if (!isObject(value)) throw new Error('groups must be an object');
  return new Map(Object.entries(value).map(([name, group]) => [name, parseGroup(name, group)]));
}

/** Throws INVALID_REQUEST for a key in an unknown group: known-groups. */
function tableOf(stored: readonly StoredKey[], groups: ReadonlyMap<string, Figures>): KeyTable {
  const keys = stored.map((key) => {
    if (key.group !== null && !groups.has(key.group))
      throw invalidRequest('group', `of ${key.name} is ${key.group}, which is no group; \`blockhouse key group set ${key.group}\` makes it`);
    return namedKey(key, key.group === null ? undefined : groups.get(key.group));
  });
  return { byHash: new Map(keys.map((key) => [key.hash, key])), byName: new Map(keys.map((key) => [key.name, key])), groups, presented: new Map() };
}

function membersOf(keys: ReadonlyMap<string, StoredKey>, group: string): string[] {
  return [...keys.values()].filter((key) => key.group === group).map(({ name }) => name);
}

/** A key that is gone, with the limits that its group has now. A group that is gone has its last ones. */
function inGroupNow(key: NamedKey, groups: KeyTable['groups']): NamedKey {
  const now = key.group === null ? undefined : groups.get(key.group);
  const before = key.bounds.find(({ kind }) => kind === 'group');
  return now === undefined || isDeepStrictEqual(before, { kind: 'group', name: key.group, ...now }) ? key : namedKey(key, now);
}

/** Without what is not stored, and without the hash. */
function shown(key: StoredKey): ShownKey {
  const { name, createdAt, group, models, rights, trusted, blocks, expiresAt } = key;
  return { name, createdAt, ...checkedFigures(key), group, models, rights, ...(trusted === true && { trusted }), blocks, expiresAt, rev: revOf(key) };
}

/** Another one after each change of the limits, and for each key of the name; the same at all servers of a workspace. */
function revOf(key: StoredKey): string {
  const { hash, createdAt, group, models, rights, trusted, blocks, expiresAt } = key;
  const all = [hash, createdAt, Object.entries(checkedFigures(key)).sort(), group, models, rights, blocks, expiresAt];
  const what = JSON.stringify(trusted === true ? [...all, 'trusted'] : all);
  return createHash('sha256').update(what).digest('base64url').slice(0, REV_LENGTH);
}

/** The limits that there are. */
function given(limits: object): object {
  return Object.fromEntries(Object.entries(limits).filter(([field, value]) => value !== null && field !== 'kind' && field !== 'name'));
}

function noKey(name: string): BlockhouseError {
  return new BlockhouseError('KEY_NOT_FOUND', `There is no key ${JSON.stringify(name.slice(0, 64))}.`);
}
