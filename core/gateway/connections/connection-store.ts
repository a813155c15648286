// Connections as people see and change them. No answer has a secret.
//
// only-here: a search for local servers asks 127.0.0.1 and nothing else, by GET alone, and only when somebody wants it.
// not-strange: the server of another person of this machine is not offered: messages would go there.
import type { CredentialStore, EntryFields } from '../../auth/credentials.ts';
import type { Entry } from '../../auth/entry.ts';
import { parseEntry } from '../../auth/entry.ts';
import type { PresetFile } from '../../auth/preset-file.ts';
import { type Environment, originOf } from '../../auth/settings.ts';
import { isListenedOnByPerson } from '../../auth/socket-owner.ts';
import { timeLimit } from '../../base/abort.ts';
import { urlOf } from '../../base/url.ts';
import { BlockhouseError, invalidRequest, toBlockhouseError } from '../../errors.ts';
import type { Adapter } from '../../ports.ts';
import type { ChangeEntryKey, DetectedServer, EntryKey, ShownConnection, ShownConnectionKey, ShownPreset } from '../../types.ts';
import type { Finding } from '../../schemas/workspace-api.ts';
import type { ConnectionBook } from '../books.ts';
import type { CallSettings } from '../call-settings.ts';
import { isLoopbackHost } from '../egress.ts';
import type { GatewayLoad, PlaceCounts } from '../live.ts';
import { connectionFindings } from './connection-findings.ts';
import type { Connections } from './connections.ts';
import { labelsOf } from './entry-keys.ts';
import { withChangedKey, withoutKey } from './key-list.ts';
import type { KeyState } from './key-state.ts';

/** What the store works with. */
export interface ConnectionStoreOptions {
  readonly adapters: readonly Adapter[];
  readonly connections: Connections;
  readonly credentials: CredentialStore | undefined;
  readonly presets: PresetFile;
  readonly settings: CallSettings;
  readonly env: Environment;
  load(name: string): GatewayLoad;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

const DETECT_MS = 300;
const LOCAL_HOST = '127.0.0.1';
/** Of an entry that has no list of keys. With spaces, which no label of a person has. */
const ONLY_KEY = 'the only key';

/** The connections of a workspace. */
export class ConnectionStore implements ConnectionBook {
  readonly #options: ConnectionStoreOptions;

  constructor(options: ConnectionStoreOptions) {
    this.#options = options;
  }

  list(): ShownConnection[] {
    const { adapters, connections } = this.#options;
    return [...adapters.map((adapter) => this.#shown(adapter)), ...connections.names().map((name) => this.#named(name))];
  }

  /** For the doctor. What is wrong with the file as a whole is found elsewhere. */
  findings(): Finding[] {
    const { adapters, credentials } = this.#options;
    if (credentials?.content() === undefined) return [];
    const isNamed = ({ fields }: Entry): boolean => fields.apiKeyEnv !== undefined || fields.keys !== undefined;
    const named = adapters.flatMap((adapter) => {
      const entry = soundEntry(credentials, adapter.id);
      return entry !== undefined && isNamed(entry) ? [adapter.id] : [];
    });
    return connectionFindings(this.list(), new Set(adapters.map(({ id }) => id)), new Set(named));
  }

  async set(name: string, change: EntryFields): Promise<void> {
    await this.#credentials.update(name, change);
  }

  async adopt(entries: ReadonlyMap<string, EntryFields>, replaces: boolean, isTrial = false): Promise<void> {
    for (const [name, fields] of entries) {
      if (fields['keyCommand'] !== undefined) throw invalidRequest(`${name}.keyCommand`, 'can only be written into auth.json by hand');
      this.#options.connections.built(name, parseEntry(name, fields));
    }
    if (!isTrial) await this.#credentials.adopt(entries, replaces);
  }

  async remove(name: string): Promise<void> {
    if (!(await this.#credentials.remove(name))) throw new BlockhouseError('CONNECTION_NOT_FOUND', 'auth.json has no entry of this name.');
  }

  async addKey(name: string, key: EntryKey): Promise<string[]> {
    return this.#changeKeys(name, (keys) => [...keys, key]);
  }

  async changeKey(name: string, label: string, change: ChangeEntryKey): Promise<string[]> {
    return this.#changeKeys(name, (keys) => withChangedKey(keys, this.#indexOf(keys, label), change));
  }

  async removeKey(name: string, label: string): Promise<string[]> {
    return this.#changeKeys(name, (keys) => withoutKey(name, keys, this.#indexOf(keys, label)));
  }

  /** Reads and writes the list in one step, so that of two changes at once none is lost. A provider without an entry gets one. */
  async #changeKeys(name: string, change: (keys: readonly EntryKey[]) => EntryKey[]): Promise<string[]> {
    let labels: string[] = [];
    await this.#credentials.update(name, (before) => {
      const { adapters, connections } = this.#options;
      if (before === undefined && !adapters.some(({ id }) => id === name) && connections.get(name) === undefined)
        throw new BlockhouseError('CONNECTION_NOT_FOUND', 'auth.json has no entry of this name.');
      const keys = change(this.#keysIn(name, parseEntry(name, before ?? {}), before !== undefined));
      labels = labelsOf(keys, this.#options.env);
      return { keys, apiKey: null, apiKeyEnv: null };
    });
    return labels;
  }

  /** The keys of an entry; one that has a single key, or that of a variable, has a list of one. The server may have a variable that this process does not have. */
  #keysIn(name: string, entry: Entry, isStored: boolean): readonly EntryKey[] {
    const { keys, apiKeyEnv, keyCommand } = entry.fields;
    if (keyCommand !== undefined) throw invalidRequest('keys', `can't stand beside keyCommand, from which ${name} has its key; change auth.json by hand`);
    if (keys !== undefined) return keys;
    const { apiKey } = entry.settings;
    if (apiKey !== undefined) return [{ apiKey }];
    const { base, preset } = this.#options.connections.built(name, entry);
    const usual = preset?.variable ?? (base.id === name ? base.settings['apiKey']?.env?.[0] : undefined);
    const isMeant = isStored && preset?.variable !== undefined && (entry.fields.auth ?? preset.auth) !== 'none';
    const variable = apiKeyEnv ?? (usual !== undefined && (isMeant || this.#options.env[usual] !== undefined) ? usual : undefined);
    return variable === undefined ? [] : [{ apiKeyEnv: variable }];
  }

  #indexOf(keys: readonly EntryKey[], label: string): number {
    const labels = labelsOf(keys, this.#options.env);
    const index = labels.indexOf(label);
    if (index < 0) throw invalidRequest('key', `must be ${oneOf(labels) ?? 'one of several keys, which the entry does not have'}`);
    return index;
  }

  presets(): ShownPreset[] {
    const { presets, env } = this.#options;
    return presets.names().flatMap((name): ShownPreset[] => {
      const preset = presets.of(name);
      if (preset === undefined) return [];
      const { adapter, baseURL = null, baseURLForm = null, variable = null, isLocal = false, prices = null, source } = preset;
      const isSet = variable !== null && (env[variable]?.trim() ?? '') !== '';
      return [{ name, adapter, baseURL, baseURLForm, variable, isSet, isLocal, prices, source }];
    });
  }

  /** only-here. */
  async detect(): Promise<DetectedServer[]> {
    const { adapters, connections } = this.#options;
    const known = new Map(connections.names().map((name) => [this.#originOf(name), name]));
    const found = new Map<string, DetectedServer>();
    const looks = adapters.flatMap((adapter) =>
      Object.entries(adapter.presets ?? {}).flatMap(([preset, { baseURL, isLocal, marks = [] }]) => {
        const base = urlOf(baseURL ?? '');
        return isLocal === true && base?.hostname === LOCAL_HOST ? [{ adapter, preset, base, marks }] : [];
      }),
    );
    const answers = await Promise.all(looks.map(async (look) => ({ ...look, answered: await answersTo(look.adapter, look.base, look.marks) })));
    for (const { preset, base, answered } of answers) {
      if (!answered || found.has(base.origin)) continue;
      found.set(base.origin, { preset, baseURL: base.href, connection: known.get(base.origin) ?? null });
    }
    return [...found.values()];
  }

  #originOf(name: string): string | undefined {
    const { baseURL } = this.#named(name);
    return originOf(baseURL ?? undefined);
  }

  #named(name: string): ShownConnection {
    try {
      const connection = this.#options.connections.get(name);
      if (connection !== undefined) return this.#shown(connection);
    } catch (error) {
      return broken(name, messageOf(error));
    }
    return broken(name, 'The entry has gone.');
  }

  #shown(adapter: Adapter): ShownConnection {
    const { settings, load } = this.#options;
    const { id, connection } = adapter;
    const preset = connection?.preset;
    try {
      const resolved = settings.stored(adapter);
      const { baseURL = null } = resolved.values;
      const { missing, limits, atWork, waiting, breaker, counts = NO_COUNTS } = load(id);
      return {
        name: id,
        adapter: connection?.protocol ?? id,
        preset: preset === undefined ? null : (this.#entryOf(adapter)?.fields.preset ?? id),
        baseURL,
        ready: missing === undefined,
        detail: missing ?? leftOutText(adapter, baseURL, settings.leftOut(adapter)),
        isLocal: preset?.isLocal === true || isLoopbackHost(urlOf(baseURL ?? '')?.hostname ?? ''),
        models: this.#entryOf(adapter)?.fields.models ?? {},
        limits: { inFlight: limits.concurrency, waiting: limits.waiting },
        atWork,
        waiting,
        breaker: breaker.phase,
        cachedShare: shareOf(counts),
        keys: this.#keysOf(adapter, resolved.sources['apiKey'], { ...counts, inFlight: atWork }),
      };
    } catch (error) {
      return { ...broken(id, messageOf(error)), adapter: connection?.protocol ?? id };
    }
  }

  #entryOf({ id }: Adapter) {
    const { credentials } = this.#options;
    return credentials?.content() === undefined ? undefined : credentials.entry(id);
  }

  #keysOf(adapter: Adapter, source: string | undefined, counts: KeyCounts): ShownConnectionKey[] {
    const { settings } = this.#options;
    if (this.#entryOf(adapter)?.fields.keyCommand !== undefined) return [shownKey(ONLY_KEY, 'keyCommand', counts)];
    const ring = settings.entryKeys(adapter)?.ring;
    if (this.#entryOf(adapter)?.fields.keys !== undefined) return this.#severalOf(adapter, ring?.states ?? [], counts);
    const [only] = settings.keysOf(adapter);
    if (only !== undefined) return [shownKey(only.label, only.variable ?? 'auth.json', counts)];
    const [leftOut] = settings.leftOut(adapter);
    if (source === undefined && leftOut !== undefined) return [{ ...unused(ONLY_KEY, leftOut), state: 'elsewhere' }];
    return source === undefined || source === 'default' ? [] : [shownKey(ONLY_KEY, source.replace(/^env:/, ''), counts)];
  }

  /** In the order of the entry, with those whose variable is not set. */
  #severalOf(adapter: Adapter, states: readonly KeyState[], counts: KeyCounts): ShownConnectionKey[] {
    const { settings, env } = this.#options;
    const stored = this.#entryOf(adapter)?.fields.keys ?? [];
    const [usable, leftOut] = [settings.keysOf(adapter), settings.leftOut(adapter)];
    return labelsOf(stored, env).flatMap((label, index): ShownConnectionKey[] => {
      const { apiKeyEnv, weight = 1, inFlight: maxInFlight = null } = stored[index] ?? {};
      const terms = { weight, maxInFlight };
      const state = states.find((each) => each.label === label);
      if (state !== undefined) return [{ ...this.#shownState(state), ...terms }];
      const source = apiKeyEnv ?? 'auth.json';
      if (leftOut.includes(source)) return [{ ...unused(label, source), ...terms, state: 'elsewhere' }];
      if (usable.some((each) => each.label === label)) return [{ ...shownKey(label, source, counts), ...terms }];
      const isSet = apiKeyEnv === undefined || (env[apiKeyEnv]?.trim() ?? '') !== '';
      return isSet ? [] : [{ ...unused(label, source), ...terms, state: 'unset' }]; // the same key a second time counts once
    });
  }

  #shownState(state: KeyState): ShownConnectionKey {
    const now = this.#options.now();
    const { fault, until, models } = state.shown(now);
    const shown = shownKey(state.label, state.key.variable ?? 'auth.json', state);
    if (fault === undefined || until === undefined) return shown;
    return { ...shown, state: fault, until: new Date(Date.now() + Math.max(0, until - now)).toISOString(), models: [...models] };
  }

  get #credentials(): CredentialStore {
    const { credentials } = this.#options;
    if (credentials === undefined) throw new Error('This core has no workspace.');
    return credentials;
  }
}

/** Undefined also for a wrong entry, which the doctor finds by itself. */
function soundEntry(credentials: CredentialStore, name: string): Entry | undefined {
  try {
    return credentials.entry(name);
  } catch (error) {
    messageOf(error);
    return undefined;
  }
}

/** What is known of the calls with a key. */
interface KeyCounts extends PlaceCounts {
  readonly inFlight: number;
}

const NO_COUNTS: PlaceCounts = { calls: 0, inputTokens: 0, cachedTokens: 0 };

/** Undefined for none. */
function oneOf(labels: readonly string[]): string | undefined {
  const [first] = labels;
  return labels.length > 1 ? `one of ${labels.join(', ')}` : first === undefined ? undefined : `${first}, the only label there is`;
}

function shownKey(label: string, source: string, counts: KeyCounts): ShownConnectionKey {
  const { inFlight, calls } = counts;
  return { label, source, state: 'ready', until: null, models: [], weight: 1, maxInFlight: null, inFlight, calls, cachedShare: shareOf(counts) };
}

/** Of a key that no call has. */
function unused(label: string, source: string): ShownConnectionKey {
  return shownKey(label, source, { ...NO_COUNTS, inFlight: 0 });
}

/** Null if no key is left out. */
function leftOutText({ id, displayName }: Adapter, baseURL: string | null, variables: readonly string[]): string | null {
  if (variables.length === 0) return null;
  const keys = variables.length === 1 ? `The key in ${variables[0]} is` : `The keys in ${variables.join(', ')} are`;
  return (
    `${keys} not sent: the address of ${displayName}${baseURL === null ? '' : `, ${baseURL},`} does not come from the environment. ` +
    `Store the key beside the address (\`blockhouse auth set ${id}\`), or add the origin to BLOCKHOUSE_ALLOWED_ORIGINS.`
  );
}

/** Null while nothing is known. */
function shareOf({ inputTokens, cachedTokens }: Pick<PlaceCounts, 'inputTokens' | 'cachedTokens'>): number | null {
  return inputTokens === 0 ? null : Math.round((cachedTokens / inputTokens) * 1000) / 1000;
}

function broken(name: string, detail: string): ShownConnection {
  return {
    name,
    adapter: name,
    preset: null,
    baseURL: null,
    ready: false,
    detail,
    isLocal: false,
    models: {},
    limits: { inFlight: 0, waiting: 0 },
    atWork: 0,
    waiting: 0,
    breaker: 'closed',
    cachedShare: null,
    keys: [],
  };
}

function messageOf(error: unknown): string {
  const { code, message } = toBlockhouseError(error);
  if (code === 'INTERNAL_ERROR') throw error;
  return message;
}

/** Of a server that another person runs, nothing is asked: not-strange. */
async function answersTo(adapter: Adapter, base: URL, marks: readonly { readonly path: string; readonly text: string }[]): Promise<boolean> {
  if (await isListenedOnByPerson(base.hostname, Number(base.port))) return false;
  const timeouts = { connectMs: DETECT_MS, firstByteMs: DETECT_MS, idleMs: DETECT_MS };
  const home = new Set([base.origin]);
  const egress = { trustedOrigins: home, allowedOrigins: new Set<string>(), ownKey: false, isKeyless: true, home };
  for (const { path, text } of marks) {
    const call = { settings: { values: {}, sources: {} }, egress, timeouts, signal: timeLimit(DETECT_MS) };
    const answer = await adapter.look?.(call, new URL(path, base));
    if (answer?.replace(/\s/g, '').includes(text) === true) return true;
  }
  return false;
}
