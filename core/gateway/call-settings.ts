// What a call of an adapter is made with: settings, egress rule, timeouts; where it goes; and whether it may be made at all.
//
// looked-up-each-time: Settings are looked up for each call, so that a rotated key serves the next one. What follows from them is worked out once for
//   as long as they stay the same, since that is most of what a request would cost.
// own-settings-stay-own: A request that brings settings of its own is worked out by itself and leaves nothing behind.
import type { CredentialStore } from '../auth/credentials.ts';
import { type Endpoint, endpointOf } from '../auth/endpoint.ts';
import type { Entry } from '../auth/entry.ts';
import type { KeyCommands } from '../auth/key-command.ts';
import { type Environment, originOf, placeOf, type ResolvedSettings, resolveSettings, type SettingSource } from '../auth/settings.ts';
import type { Writable } from '../base/writable.ts';
import { BlockhouseError, invalidRequest, toBlockhouseError } from '../errors.ts';
import type { Adapter, AdapterCall, UpstreamTimeouts } from '../ports.ts';
import type { ChatConfig } from '../schemas/chat.ts';
import { entryKeys, type UsableKey, variablesIn, withKey } from './connections/entry-keys.ts';
import type { EntryKeys, KeyRings } from './connections/key-rings.ts';
import type { KeyState } from './connections/key-state.ts';
import { assertRoutable, checkEgress, parseBaseURL } from './egress.ts';
import { type BoundCall, boundCall } from './key-bounds.ts';
import type { OwnAddresses } from './own-addresses.ts';

/** Milliseconds; an adapter may have others, for instance a local daemon that loads its model first. */
export const DEFAULT_TIMEOUTS: UpstreamTimeouts = { connectMs: 10_000, firstByteMs: 120_000, idleMs: 120_000 };

/** Where settings come from, and the operator's limits. */
export interface CallSettingsOptions {
  readonly credentials: CredentialStore | undefined;
  readonly env: Environment;
  readonly timeouts: Partial<UpstreamTimeouts>;
  readonly allowedOrigins: ReadonlySet<string>;
  readonly ownAddresses?: OwnAddresses;
  /** The keys that programs print. */
  readonly commands?: KeyCommands;
  /** Of connections with several keys. */
  readonly rings?: KeyRings;
  /** Origins that are known to be no server like this one. */
  readonly services?: ReadonlySet<string>;
}

/** A call whose settings have the first key of its connection. It belongs to its caller, who completes it in place: a copy would cost every request several times as much. */
export interface ConfiguredCall extends Writable<AdapterCall> {
  /** Set if its connection has several; the call is made with the settings of one of them. */
  readonly keys: EntryKeys | undefined;
  /** True if it leads to a host that may be a server like this one. */
  readonly countsHops: boolean;
}

/** A call without its caller. */
type Prepared = Omit<ConfiguredCall, 'signal'>;

interface Resolved {
  /** The entry of auth.json that it was worked out from. */
  readonly stored: Entry | undefined;
  /** The variables that the adapter reads, as they were. */
  readonly environment: Environment;
  /** What the entry's program printed then. */
  readonly printed: string | undefined;
  /** That of the own addresses then. */
  readonly ownVersion: number | undefined;
  readonly prepared: Prepared;
  /** The credential that is missing, as a sentence. */
  readonly missing: string | undefined;
  /** The variables whose keys are left out, because they don't go to the address of the entry. */
  readonly leftOut: readonly string[];
  readonly address: string | undefined;
}

/** Works out what the calls of all adapters are made with. */
export class CallSettings {
  readonly #options: CallSettingsOptions;
  readonly #resolved = new WeakMap<Adapter, Resolved>();

  constructor(options: CallSettingsOptions) {
    this.#options = options;
  }

  /** A call whose credentials are complete. Throws ADAPTER_NOT_CONFIGURED, and what `checked` throws. */
  configured(adapter: Adapter, config: ChatConfig | undefined, signal: AbortSignal, until?: AbortSignal): ConfiguredCall {
    return withCaller(this.#configured(adapter, config).prepared, signal, until);
  }

  /** The keys of an adapter with several; undefined with one. Throws what `checked` throws. */
  entryKeys(adapter: Adapter): EntryKeys | undefined {
    return this.#resolve(adapter, undefined).prepared.keys;
  }

  /**
   * The address that a request names, as an origin or a region; undefined when the call goes to the provider where it is configured. Throws what
   * `configured` throws.
   */
  addressOf(adapter: Adapter, config: ChatConfig | undefined): string | undefined {
    return this.#configured(adapter, config).address;
  }

  /** The same, with what is said of the upstream besides. */
  placeFor(adapter: Adapter, config: ChatConfig | undefined): { readonly address: string | undefined; readonly endpoint: Endpoint | undefined } {
    const { address, prepared } = this.#configured(adapter, config);
    return { address, endpoint: prepared.settings.endpoint };
  }

  /** The keys of an entry with several that can be used now. Throws what `checked` throws. */
  keysOf(adapter: Adapter): readonly UsableKey[] {
    return entryKeys(this.#stored(adapter), this.#options.env);
  }

  /** The variables whose keys are left out, because they don't go to the address of the entry. Throws what `checked` throws. */
  leftOut(adapter: Adapter): readonly string[] {
    return this.#resolve(adapter, undefined).leftOut;
  }

  /** How many calls its keys may have at a time; infinite where one of them has no limit. Throws what `checked` throws. */
  placesOf(adapter: Adapter): number {
    const keys = this.keysOf(adapter);
    return keys.length === 0 ? Number.POSITIVE_INFINITY : keys.reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  /** Resolves when the key of a program is there; undefined where there is none to wait for. Rejects with ADAPTER_NOT_CONFIGURED; throws what `checked` throws. */
  ready(adapter: Adapter): Promise<void> | undefined {
    const { commands } = this.#options;
    return commands?.ready(adapter.id, this.#stored(adapter));
  }

  /** The upstream has refused the key of an adapter. Throws what `checked` throws. */
  keyRefused(adapter: Adapter): void {
    this.#options.commands?.refused(this.#stored(adapter));
  }

  /** What is said of the upstream of an adapter besides its settings, as it is stored now. Throws what `checked` throws. */
  endpointOf(adapter: Adapter): Endpoint | undefined {
    return this.#resolve(adapter, undefined).prepared.settings.endpoint;
  }

  /** Where the upstream of an adapter is now, so that another place can be told from it. Throws what `checked` throws. */
  placeOf(adapter: Adapter): string | undefined {
    return placeOf(this.#resolve(adapter, undefined).prepared.settings.values['baseURL']);
  }

  /** The settings of an adapter as they are stored now. Throws what `checked` throws. */
  stored(adapter: Adapter): ResolvedSettings {
    return this.#resolve(adapter, undefined).prepared.settings;
  }

  /** A call to a place that it may go to. Throws INVALID_REQUEST or, for a bad stored URL, ADAPTER_NOT_CONFIGURED. */
  checked(adapter: Adapter, config: ChatConfig | undefined, signal: AbortSignal): ConfiguredCall {
    return withCaller(this.#resolve(adapter, config).prepared, signal);
  }

  #configured(adapter: Adapter, config: ChatConfig | undefined): Resolved {
    const resolved = this.#resolve(adapter, config);
    if (resolved.missing !== undefined) throw new BlockhouseError('ADAPTER_NOT_CONFIGURED', resolved.missing);
    return resolved;
  }

  #resolve(adapter: Adapter, config: ChatConfig | undefined): Resolved {
    const stored = this.#stored(adapter);
    if (hasSettings(adapter, config)) return this.#workOut(adapter, config, stored); // own-settings-stay-own
    const known = this.#resolved.get(adapter);
    const isSame =
      known?.stored === stored && known?.ownVersion === this.#options.ownAddresses?.version && known?.printed === this.#options.commands?.known(stored);
    if (known !== undefined && isSame && this.#isSameEnvironment(known.environment)) return known; // looked-up-each-time
    const resolved = this.#workOut(adapter, undefined, stored);
    this.#resolved.set(adapter, resolved);
    return resolved;
  }

  #stored(adapter: Adapter): Entry | undefined {
    const { credentials } = this.#options;
    if (credentials === undefined) return undefined;
    const own = credentials.entry(adapter.id);
    if (own !== undefined) return own;
    for (const alias of adapter.aliases) {
      const other = credentials.entry(alias);
      if (other !== undefined) return other;
    }
    return undefined;
  }

  #environment(adapter: Adapter, stored: Entry | undefined): Environment {
    const names = [...Object.values(adapter.settings).flatMap((setting) => setting.env ?? []), ...variablesIn(stored)];
    return Object.fromEntries(names.map((name) => [name, this.#options.env[name]]));
  }

  #isSameEnvironment(known: Environment): boolean {
    const { env } = this.#options;
    for (const name in known) if (known[name] !== env[name]) return false;
    return true;
  }

  #workOut(adapter: Adapter, config: ChatConfig | undefined, entry: Entry | undefined): Resolved {
    const { env, allowedOrigins, ownAddresses, timeouts, commands } = this.#options;
    const printed = commands?.known(entry);
    if (config?.baseURL !== undefined) assertTakesBaseURL(adapter);
    const lookUp = (of: readonly UsableKey[]) => {
      const { spec, stored } = withKey(adapter.settings, entry, of, printed);
      return { found: resolveSettings(spec, { config, stored, env }), configured: resolveSettings(spec, { stored, env }) };
    };
    const boundWith = (key: UsableKey): BoundCall => {
      const one = lookUp([key]);
      return boundCall(adapter, { settings: one.found, configured: one.configured, env, allowedOrigins });
    };
    const all = entryKeys(entry, env);
    const keys = placeable(all, boundWith);
    const { found, configured } = lookUp(keys);
    const base = found.values['baseURL'];
    const url = base === undefined ? undefined : checkedBase(base, found.sources['baseURL'], allowedOrigins, ownAddresses);
    const bound = boundCall(adapter, { settings: found, configured, env, allowedOrigins });
    const { egress } = bound;
    if (url !== undefined) checkEgress(egress, url, adapter);
    // A request with a key or an address of its own has no part in what the entry sends.
    const isElsewhere = egress.ownKey || found.sources['baseURL'] === 'request';
    const values = keys.map(({ value }) => value);
    const endpoint = endpointFor(adapter, entry, values, isElsewhere);
    const settings = withEndpoint(bound.settings, endpoint);
    const ring = egress.ownKey || isElsewhere ? undefined : this.#options.rings?.of(adapter.id, keys);
    // Each key has bounds of its own: one of a variable does not go wherever one of auth.json does.
    const withOne = (key: UsableKey): ResolvedSettings => withEndpoint(boundWith(key).settings, endpoint);
    const prepared = {
      countsHops: url !== undefined && this.#options.services?.has(url.origin) === false,
      settings,
      egress,
      keys: ring === undefined ? undefined : { ring, settingsOf: settingsByKey(withOne) },
      timeouts: { ...DEFAULT_TIMEOUTS, ...adapter.timeouts, ...timeouts, ...endpoint?.timeouts },
    };
    return {
      stored: entry,
      environment: this.#environment(adapter, entry),
      printed,
      ownVersion: ownAddresses?.version,
      prepared,
      // A program is run for its key when a call is about to be sent.
      missing: entry?.fields.keyCommand === undefined || printed !== undefined ? adapter.missingCredential(settings) : undefined,
      leftOut: [...all.flatMap((key) => (keys.includes(key) || key.variable === undefined ? [] : [key.variable])), ...withheld(adapter, found, settings)],
      address: addressOf(settings, configured),
    };
  }
}

/** The variables of secrets that were found, and are not among the settings of the call. */
function withheld(adapter: Adapter, found: ResolvedSettings, { values }: ResolvedSettings): string[] {
  return Object.keys(adapter.settings).flatMap((name) => {
    const source = found.sources[name] ?? '';
    return adapter.settings[name]?.secret === true && values[name] === undefined && source.startsWith('env:') ? [source.slice('env:'.length)] : [];
  });
}

/** Of several keys, those that may go where the entry leads; all, if none may, so that the call says why. */
function placeable(keys: readonly UsableKey[], boundWith: (key: UsableKey) => BoundCall): readonly UsableKey[] {
  if (keys.length < 2) return keys;
  const fitting = keys.filter((key) => {
    try {
      boundWith(key);
      return true;
    } catch (error) {
      if (toBlockhouseError(error).code === 'ADAPTER_NOT_CONFIGURED') return false;
      throw error;
    }
  });
  return fitting.length === 0 ? keys : fitting;
}

/** Worked out once for each key. */
function settingsByKey(workOut: (key: UsableKey) => ResolvedSettings): EntryKeys['settingsOf'] {
  const known = new Map<string, ResolvedSettings>();
  return ({ key }: KeyState) => {
    const { value } = key;
    const settings = known.get(value) ?? workOut(key);
    known.set(value, settings);
    return settings;
  };
}

function withEndpoint(settings: ResolvedSettings, endpoint: Endpoint | undefined): ResolvedSettings {
  return endpoint === undefined ? settings : Object.freeze({ ...settings, endpoint });
}

/** Undefined where there is nothing to say. The headers of the entry may be secrets, so a request with a key or an address of its own has no part in them. */
function endpointFor(adapter: Adapter, entry: Entry | undefined, keys: readonly string[], isElsewhere: boolean): Endpoint | undefined {
  const { connection } = adapter;
  if (connection === undefined && (entry === undefined || Object.keys(entry.fields).length === 0)) return undefined;
  const endpoint = endpointOf(adapter.id, connection !== undefined, entry?.fields ?? {}, connection?.preset, keys);
  return isElsewhere ? { ...endpoint, headers: {} } : endpoint;
}

/** Throws INVALID_REQUEST naming `field` for an adapter that takes no base URL, and for a connection, which is one address. */
export function assertTakesBaseURL(adapter: Adapter, field = 'config.baseURL'): void {
  if (adapter.connection !== undefined)
    throw invalidRequest(field, `can't be set for the connection ${adapter.id}, whose address is that of its entry in auth.json; leave it out`);
  if (adapter.settings['baseURL'] === undefined) throw invalidRequest(field, `can't be set for ${adapter.id}; its endpoint is determined by the region`);
}

/** Another region is another host, although the request does not spell it out. */
function addressOf({ values, sources }: ResolvedSettings, configured: ResolvedSettings): string | undefined {
  const { baseURL, region } = values;
  if (sources['baseURL'] === 'request' && originOf(baseURL) !== originOf(configured.values['baseURL'])) return originOf(baseURL);
  return sources['region'] === 'request' && region !== configured.values['region'] ? region : undefined;
}

/** Field by field: a spread costs several times as much, and every request passes here. */
function withCaller({ settings, egress, timeouts, keys, countsHops }: Prepared, signal: AbortSignal, until?: AbortSignal): ConfiguredCall {
  return { settings, egress, timeouts, signal, until, hop: undefined, instance: undefined, traceparent: undefined, onAnswer: undefined, keys, countsHops };
}

/** True when a request sets anything that the adapter would look up elsewhere, or a base URL that the adapter does not take. */
function hasSettings(adapter: Adapter, config: ChatConfig | undefined): boolean {
  if (config === undefined) return false;
  if (config.baseURL !== undefined) return true;
  const values = config as Readonly<Record<string, unknown>>;
  for (const name in adapter.settings) if (values[name] !== undefined) return true;
  return false;
}

/** The base URL, if calls may be made there at all. A bad one in a request is the caller's fault; in auth.json or the environment it is the operator's. */
function checkedBase(base: string, source: SettingSource | undefined, allowed: ReadonlySet<string>, own: OwnAddresses | undefined): URL {
  try {
    const url = parseBaseURL(base);
    if (!allowed.has(url.origin)) assertRoutable(url);
    const owner = own?.ownerOf(url);
    if (owner !== undefined)
      throw invalidRequest('config.baseURL', `leads to ${owner} (${url.origin}), so each call would make the next; name the provider's address`);
    return url;
  } catch (error) {
    if (source === 'request') throw error;
    const { message } = error as Error;
    throw new BlockhouseError('ADAPTER_NOT_CONFIGURED', `${message.replace('config.baseURL', 'baseURL')} It comes from ${source}.`, {
      cause: error,
      forKeys: "The provider's address on this server can't be used.",
    });
  }
}
