// The connections: named upstreams, one for each entry of auth.json that is one. Each is an adapter of its own, which speaks the protocol of one of the adapters.
//
// one-look-up: a connection is made with its first look-up, and is the same object until auth.json or presets.json changes.
// own-entry: a wrong entry hurts only itself. Its name stays that of a connection, and each use says what is wrong.
// own-variables: a connection reads the variable of its preset and those that its entry names, and never those of its adapter. Else the key for OpenAI would go to
//   every server that speaks OpenAI's protocol.
// own-name: a connection has no name of an adapter, so that an adapter's entry stays the adapter's.
import type { CredentialStore, EntryFields } from '../../auth/credentials.ts';
import { isConnectionName } from '../../auth/connection-name.ts';
import type { Entry } from '../../auth/entry.ts';
import type { KnownPreset } from '../../auth/preset.ts';
import type { PresetFile } from '../../auth/preset-file.ts';
import type { ResolvedSettings, SettingSpec, SettingsSpec } from '../../auth/settings.ts';
import { urlOf } from '../../base/url.ts';
import { BlockhouseError, invalidRequest, toBlockhouseError } from '../../errors.ts';
import type { Adapter, ConnectionProfile } from '../../ports.ts';
import { isLoopbackHost } from '../egress.ts';
import type { BuiltEntry } from './built-entry.ts';
import { assertChange } from './connection-changes.ts';

/** What connections are made of. */
export interface ConnectionsOptions {
  readonly adapters: readonly Adapter[];
  /** Undefined without a workspace: then there are those of `names` alone. */
  readonly credentials: CredentialStore | undefined;
  readonly presets: PresetFile;
  /** Presets that are connections without an entry (`BLOCKHOUSE_CONNECTIONS`). */
  readonly names: readonly string[];
}

const NO_ENTRY: Entry = { settings: {}, fields: {} };

/** All connections. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #adapters: ReadonlyMap<string, Adapter>;
  /** one-look-up. */
  #made = new Map<string, Adapter>();
  #entries: object | undefined;
  #presets: object | undefined;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#adapters = new Map(options.adapters.flatMap((adapter) => [adapter.id, ...adapter.aliases].map((name) => [name, adapter])));
  }

  /** True if this is the name of a connection, sound or not. Must not throw. */
  has(name: string): boolean {
    if (this.#current().has(name)) return true;
    if (this.#adapters.has(name) || !isConnectionName(name)) return false; // own-name
    try {
      return this.#make(name) !== undefined;
    } catch {
      return true; // own-entry: `get` says what is wrong
    }
  }

  /** The connection of this name; undefined if there is none. Throws ADAPTER_NOT_CONFIGURED for a wrong entry (own-entry). */
  get(name: string): Adapter | undefined {
    const made = this.#current().get(name);
    if (made !== undefined) return made;
    return this.#adapters.has(name) || !isConnectionName(name) ? undefined : this.#make(name); // own-name
  }

  /** The names of all connections, sound or not, in order. */
  names(): string[] {
    const { credentials, names } = this.#options;
    const entries = credentials?.content() === undefined ? [] : credentials.ids();
    return [...new Set([...entries, ...names])].filter((name) => this.has(name)).sort();
  }

  /** What an entry is built on. Throws INVALID_REQUEST naming the field that is missing or wrong. */
  built(name: string, entry: Entry): BuiltEntry {
    const own = this.#adapters.get(name);
    if (own !== undefined) {
      if (own.id !== name) throw invalidRequest('name', `is another name of ${own.id}; write ${own.id}`);
      return { entry, base: own, preset: undefined };
    }
    if (!isConnectionName(name)) throw invalidRequest('name', 'must have 1 to 32 characters of a-z, 0-9 and -, and begin with a letter');
    const preset = this.#options.presets.of(entry.fields.preset ?? name);
    if (preset === undefined && entry.fields.preset !== undefined)
      throw invalidRequest('preset', 'is none that is known; `blockhouse auth presets` lists them');
    const protocol = entry.fields.adapter ?? preset?.adapter;
    const base = this.#adapters.get(protocol ?? '');
    if (protocol === undefined) throw invalidRequest('adapter', `is required, because ${name} is no preset; it is one of ${this.#protocols()}`);
    if (base?.connect === undefined) throw invalidRequest('adapter', `must be one of ${this.#protocols()}`);
    return { entry, base, preset };
  }

  /** A rule for CredentialStore. Throws INVALID_REQUEST. */
  assertChange(name: string, change: EntryFields, before: Entry | undefined, after: Entry): void {
    assertChange(name, change, before === undefined ? undefined : this.#builtBefore(name, before), this.built(name, after));
  }

  /** An entry that could not be used has sent its secrets nowhere, yet they are not given away: its home is unknown. */
  #builtBefore(name: string, entry: Entry): BuiltEntry {
    try {
      return this.built(name, entry);
    } catch (error) {
      if (toBlockhouseError(error).code !== 'INVALID_REQUEST') throw error;
      return { entry, base: [...this.#adapters.values()][0] as Adapter, preset: undefined };
    }
  }

  #protocols(): string {
    return [...new Set([...this.#adapters.values()].filter(({ connect }) => connect !== undefined).map(({ id }) => id))].join(', ');
  }

  /** The preset that an entry is built on. Throws ADAPTER_NOT_CONFIGURED for one that does not exist. */
  presetOf(name: string, { fields }: Entry): KnownPreset | undefined {
    const preset = this.#options.presets.of(fields.preset ?? name);
    if (preset === undefined && fields.preset !== undefined) throw wrong(name, `preset is none that is known; \`blockhouse auth presets\` lists them`);
    return preset;
  }

  /** Forgets what was made before a change of the files. */
  #current(): Map<string, Adapter> {
    const [entries, presets] = [this.#options.credentials?.content(), this.#options.presets.content()];
    if (entries !== this.#entries || presets !== this.#presets) {
      this.#made = new Map();
      this.#entries = entries;
      this.#presets = presets;
    }
    return this.#made;
  }

  #make(name: string): Adapter | undefined {
    const { credentials, names } = this.#options;
    const entry = credentials?.content() === undefined ? undefined : credentials.entry(name);
    if (entry === undefined && !names.includes(name)) return undefined;
    const preset = this.presetOf(name, entry ?? NO_ENTRY);
    const protocol = entry?.fields.adapter ?? preset?.adapter;
    if (protocol === undefined) {
      if (entry === undefined) throw wrong(name, `is named in BLOCKHOUSE_CONNECTIONS, but is no preset; \`blockhouse auth presets\` lists them`);
      return undefined; // a misspelt name, perhaps; the doctor tells it
    }
    const base = this.#adapters.get(protocol);
    if (base?.connect === undefined) throw wrong(name, `adapter must be one of ${this.#protocols()}`);
    const made = base.connect(profileOf(name, base, entry ?? NO_ENTRY, preset));
    this.#made.set(name, made);
    return made;
  }
}

function wrong(name: string, what: string): BlockhouseError {
  return new BlockhouseError('ADAPTER_NOT_CONFIGURED', `The connection ${name} of auth.json can't be used: ${name}.${what}.`);
}

function profileOf(name: string, base: Adapter, entry: Entry, preset: KnownPreset | undefined): ConnectionProfile {
  const settings = settingsOf(base.settings, entry, preset);
  return {
    id: name,
    protocol: base.id,
    preset,
    settings,
    defaultModel: entry.fields.offer?.[0] ?? Object.keys(entry.fields.models ?? {})[0] ?? base.defaultModel,
    missingCredential: (resolved) => missingIn(name, base, entry, preset, settings, resolved),
  };
}

/** own-variables. An address is that of the entry or of the preset, and no request may name another. */
function settingsOf(spec: SettingsSpec, entry: Entry, preset: KnownPreset | undefined): SettingsSpec {
  return Object.fromEntries(
    Object.entries(spec).map(([name, { env: _env, default: usual, ...setting }]): [string, SettingSpec] => {
      const variables = name === 'apiKey' ? variablesOf(entry, preset) : [];
      const own = name === 'baseURL' ? preset?.baseURL : name === 'api' ? preset?.api : undefined;
      const fallback = own ?? (name === 'baseURL' && preset?.baseURLForm !== undefined ? undefined : usual);
      return [name, { ...setting, ...(variables.length > 0 && { env: variables }), ...(fallback !== undefined && { default: fallback }) }];
    }),
  );
}

/** An entry with a key of its own, or without any, has no part in the variable of its preset. */
function variablesOf({ settings, fields }: Entry, preset: KnownPreset | undefined): string[] {
  if (fields.apiKeyEnv !== undefined) return [fields.apiKeyEnv];
  const hasOwn = settings['apiKey'] !== undefined || fields.keys !== undefined || fields.keyCommand !== undefined;
  return hasOwn || fields.auth === 'none' || preset?.variable === undefined ? [] : [preset.variable];
}

/** As `Adapter.missingCredential`, with the names of the connection. */
function missingIn(
  name: string,
  base: Adapter,
  entry: Entry,
  preset: KnownPreset | undefined,
  spec: SettingsSpec,
  resolved: ResolvedSettings,
): string | undefined {
  const { baseURL } = resolved.values;
  const cure = `(\`blockhouse auth set ${name}\`)`;
  if (spec['baseURL'] !== undefined && baseURL === undefined)
    return `${name} needs an address: set ${name}.baseURL in auth.json${preset?.baseURLForm === undefined ? '' : `, such as ${preset.baseURLForm}`} ${cure}.`;
  const hasKey = Object.keys(spec).some((field) => spec[field]?.secret === true && resolved.values[field] !== undefined);
  if (hasKey || !base.authRequired) return base.missingCredential(resolved);
  const isOpen = (entry.fields.auth ?? preset?.auth) === 'none' || isLoopbackHost(urlOf(baseURL ?? '')?.hostname ?? '');
  if (isOpen && spec['baseURL'] !== undefined) return undefined; // Bedrock has no base URL, and each of its requests is signed
  const { keys } = entry.fields;
  if (keys !== undefined) {
    const unset = keys.flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
    return `${name} needs a key: set ${unset.join(' or ')}, or add one to ${name}.keys in auth.json (\`blockhouse auth set ${name} --add\`).`;
  }
  const [variable] = spec['apiKey']?.env ?? [];
  return `${name} needs a key: set ${variable === undefined ? '' : `${variable}, or `}${name}.apiKey in auth.json ${cure}.`;
}

/** The presets that adapters bring along. */
export function presetsOf(adapters: readonly Adapter[]): [name: string, preset: KnownPreset][] {
  return adapters.flatMap(({ id, presets = {} }) => Object.entries(presets).map(([name, preset]): [string, KnownPreset] => [name, { ...preset, adapter: id }]));
}
