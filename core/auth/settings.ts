// Resolves the settings of an adapter for one request: the request's `config`, then auth.json, then the environment, then the default. Pure: no I/O;
// the caller passes in the stored values and the environment.
import { urlOf } from '../base/url.ts';
import { BlockhouseError } from '../errors.ts';
import type { ChatConfig } from '../schemas/chat.ts';
import { SECRET_PATTERN } from '../schemas/chat.ts';
import type { Endpoint } from './endpoint.ts';

/** One setting of an adapter. */
export interface SettingSpec {
  /** Environment variables; the first that is set wins. */
  readonly env?: readonly string[];
  readonly default?: string;
  /** A secret: it is never shown or logged, and is sent only to the provider that it belongs to. */
  readonly secret?: true;
  /** Only auth.json and the environment may set it, not the `config` of a request. */
  readonly storedOnly?: true;
  /** A base URL: stored secrets go there only under the rules of key-bounds.ts. `baseURL` is always one. */
  readonly address?: true;
  /** Converts other spellings of a stored value to the one that the adapter reads. Must not throw. */
  readonly normalize?: (value: string) => string;
  /** The allowed values; any value if absent. */
  readonly oneOf?: readonly string[];
}

/** The settings of an adapter, by name. */
export type SettingsSpec = Readonly<Record<string, SettingSpec>>;

/** Where a value comes from; `env:NAME` names the variable. */
export type SettingSource = 'request' | 'auth.json' | `env:${string}` | 'default';

/** The settings of one request, each with where it comes from. */
export interface ResolvedSettings {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly sources: Readonly<Record<string, SettingSource | undefined>>;
  /** What the entry of auth.json and its preset say besides; undefined where they say nothing. */
  readonly endpoint?: Endpoint;
}

/** True for a setting that says where calls go. */
export function isAddress(name: string, { address }: SettingSpec): boolean {
  return name === 'baseURL' || address === true;
}

/** Undefined if the text is not a URL. */
export function originOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : urlOf(url)?.origin;
}

/** The origin and the path of an address, without slashes at its end; undefined if the text is not a URL. On a shared host, each path may be another tenant's. */
export function placeOf(url: string | undefined): string | undefined {
  const place = url === undefined ? undefined : urlOf(url);
  return place && place.origin + place.pathname.replace(/\/+$/, '');
}

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

const HEADER_SAFE = new RegExp(SECRET_PATTERN);

/** The places where settings are looked for, in this order. */
export interface SettingPlaces {
  readonly config?: ChatConfig | undefined;
  readonly stored?: Readonly<Record<string, string>> | undefined;
  readonly env: Environment;
}

/** The settings to work with. Throws ADAPTER_NOT_CONFIGURED, which names the setting, for a stored value that can't be used. */
export function resolveSettings(spec: SettingsSpec, places: SettingPlaces): ResolvedSettings {
  const settings = collectSettings(spec, places);
  for (const [name, setting] of Object.entries(spec)) assertUsable(name, setting, settings.values[name], settings.sources[name]);
  return settings;
}

/**
 * The settings as they are found, whether they can be used or not. The secrets of a request are never mixed with stored ones: a request that brings one
 * secret must bring all that it needs, since half of one key pair and half of another are not a key pair.
 */
export function collectSettings(spec: SettingsSpec, { config: given, stored, env }: SettingPlaces): ResolvedSettings {
  const config = (given ?? {}) as Readonly<Record<string, unknown>>;
  const ownSecrets = Object.entries(spec).some(([name, setting]) => setting.secret && !setting.storedOnly && config[name] !== undefined);
  const values: Record<string, string | undefined> = {};
  const sources: Record<string, SettingSource | undefined> = {};
  for (const [name, setting] of Object.entries(spec)) {
    const withheld = ownSecrets && setting.secret;
    const found = findSetting(name, setting, config, withheld ? {} : stored, withheld ? {} : env);
    if (found === undefined) continue;
    values[name] = found.value;
    sources[name] = found.source;
  }
  return Object.freeze({ values: Object.freeze(values), sources: Object.freeze(sources) });
}

interface Found {
  readonly value: string;
  readonly source: SettingSource;
}

function findSetting(
  name: string,
  setting: SettingSpec,
  config: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, string>> | undefined,
  env: Environment,
): Found | undefined {
  const asked = setting.storedOnly ? undefined : config[name];
  if (typeof asked === 'string') return { value: asked, source: 'request' };
  const normalize = setting.normalize ?? ((value: string) => value);
  const kept = stored?.[name];
  if (kept !== undefined && kept !== '') return { value: normalize(kept), source: 'auth.json' };
  for (const variable of setting.env ?? []) {
    const value = env[variable]?.trim();
    if (value !== undefined && value !== '') return { value: normalize(value), source: `env:${variable}` };
  }
  return setting.default === undefined ? undefined : { value: setting.default, source: 'default' };
}

/** Reports a stored value that can't be used by its name, never by its value. */
function assertUsable(name: string, setting: SettingSpec, value: string | undefined, source: SettingSource | undefined): void {
  if (value === undefined) return;
  if (setting.oneOf !== undefined && !setting.oneOf.includes(value)) {
    throw new BlockhouseError('ADAPTER_NOT_CONFIGURED', `${name} from ${source} must be one of ${setting.oneOf.join(', ')}.`);
  }
  if (setting.secret && !HEADER_SAFE.test(value)) {
    throw new BlockhouseError(
      'ADAPTER_NOT_CONFIGURED',
      `${name} from ${source} contains characters that are not allowed in a key (spaces, line breaks or non-ASCII characters). Set it again.`,
    );
  }
}

/** The settings as they are shown to people: of a secret only the last four characters. */
export function describeSettings(spec: SettingsSpec, settings: ResolvedSettings): Record<string, { value: string; source: SettingSource }> {
  const shown: Record<string, { value: string; source: SettingSource }> = {};
  for (const [name, setting] of Object.entries(spec)) {
    const value = settings.values[name];
    const source = settings.sources[name];
    if (value === undefined || source === undefined) continue;
    shown[name] = { value: setting.secret ? maskSecret(value) : isAddress(name, setting) ? maskInAddress(value) : value, source };
  }
  return shown;
}

/** A word of this length, without a dot, a colon and a slash, is a key in the wrong field rather than a host. */
const KEY_LIKE = /^[^.:/@]{16,}$/;

/** An address without what may be a secret in it: a password, and parameters. Calls use neither, but people paste addresses as they have them. */
function maskInAddress(address: string): string {
  if (KEY_LIKE.test(address)) return maskSecret(address);
  if (address.includes('@') && urlOf(address) === undefined) return address.replace(/^.*@/s, '••••@').replace(/[?#].*$/s, '?••••'); // a password with a slash in it
  return address.replace(/^([a-z][\w+.-]*:\/\/)?[^/?#\\]*@/i, '$1••••@').replace(/[?#].*$/s, '?••••');
}

/** The last four characters of a secret of 20 or more. A short one is hidden whole: four characters of eight would be half of it. */
export function maskSecret(secret: string): string {
  return secret.length < 20 ? '••••' : `••••${secret.slice(-4)}`;
}

/** Every secret in use, so that it can be removed from texts. */
export function secretsOf(spec: SettingsSpec, settings: ResolvedSettings): string[] {
  const own = Object.entries(spec).flatMap(([name, setting]) => {
    const value = settings.values[name];
    return setting.secret && value !== undefined ? [value] : [];
  });
  return settings.endpoint === undefined ? own : [...own, ...settings.endpoint.secrets];
}
