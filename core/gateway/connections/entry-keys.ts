// The keys of an entry: the one that it has, or several. Pure: no I/O.
import type { Entry } from '../../auth/entry.ts';
import type { Environment, SettingsSpec } from '../../auth/settings.ts';

/** One key of several, as it can be used now. */
export interface UsableKey {
  readonly label: string;
  readonly value: string;
  /** The variable that has it; undefined for auth.json. */
  readonly variable: string | undefined;
  /** How many conversations it takes, compared with the others. */
  readonly weight: number;
  /** The most calls at a time; infinite without a limit. */
  readonly inFlight: number;
}

const NONE: readonly UsableKey[] = [];

/** The keys in `keys` that can be used now: a variable that is not set has none. Of two that are the same, the first counts. */
export function entryKeys(entry: Entry | undefined, env: Environment): readonly UsableKey[] {
  if (entry?.fields.keys === undefined) return NONE;
  const labels = labelsOf(entry.fields.keys, env);
  const values = new Set<string>();
  return entry.fields.keys.flatMap(({ apiKey, apiKeyEnv, weight = 1, inFlight = Number.POSITIVE_INFINITY }, index): UsableKey[] => {
    const value = apiKey ?? env[apiKeyEnv ?? '']?.trim();
    if (value === undefined || value === '' || values.has(value)) return [];
    values.add(value);
    return [{ label: labels[index] ?? '', value, variable: apiKeyEnv, weight, inFlight }];
  });
}

/** The labels of keys in their order; those of variables that are not set by their number. */
export function labelsOf(keys: NonNullable<Entry['fields']['keys']>, env: Environment): string[] {
  const taken = new Set(keys.map(({ label }) => label));
  return keys.map(({ label, apiKey, apiKeyEnv }, index) => {
    const own = label ?? labelOf(apiKey ?? env[apiKeyEnv ?? '']?.trim() ?? '', index, taken);
    taken.add(own);
    return own;
  });
}

/** The end of a key of 20 characters or more says which it is; of a shorter one it would be too much. */
function labelOf(key: string, index: number, taken: ReadonlySet<string | undefined>): string {
  const end = `…${key.slice(-4)}`;
  return key.length < 20 || taken.has(end) ? `#${index + 1}` : end;
}

/** True if both are the same keys with the same terms. */
export function areSameKeys(some: readonly UsableKey[], others: readonly UsableKey[]): boolean {
  return some.length === others.length && some.every((key, index) => isSameKey(key, others[index]));
}

function isSameKey(one: UsableKey, other: UsableKey | undefined): boolean {
  return one.value === other?.value && one.label === other.label && one.weight === other.weight && one.inFlight === other.inFlight;
}

/** The variables that an entry names. */
export function variablesIn(entry: Entry | undefined): string[] {
  if (entry === undefined) return [];
  const { apiKeyEnv, keys = [] } = entry.fields;
  return [apiKeyEnv, ...keys.map((key) => key.apiKeyEnv)].filter((name) => name !== undefined);
}

/**
 * Where the settings of an entry are looked for. With several keys, the first that can be used counts; `apiKeyEnv` takes the place of the usual variable, and what a
 * program has `printed` that of a stored key.
 */
export function withKey(
  spec: SettingsSpec,
  entry: Entry | undefined,
  keys: readonly UsableKey[],
  printed?: string,
): { readonly spec: SettingsSpec; readonly stored: Readonly<Record<string, string>> | undefined } {
  if (entry === undefined) return { spec, stored: undefined };
  const { settings, fields } = entry;
  if (fields.keyCommand !== undefined)
    return { spec: withVariable(spec, undefined), stored: printed === undefined ? settings : { ...settings, apiKey: printed } };
  const named = fields.keys === undefined ? fields.apiKeyEnv : keys[0]?.variable;
  if (fields.keys === undefined && named === undefined) return { spec, stored: settings };
  const stored = named === undefined && keys[0] !== undefined ? { ...settings, apiKey: keys[0].value } : settings;
  return { spec: withVariable(spec, named), stored };
}

function withVariable(spec: SettingsSpec, variable: string | undefined): SettingsSpec {
  const { env: _usual, ...apiKey } = spec['apiKey'] ?? {};
  return { ...spec, apiKey: { ...apiKey, ...(variable !== undefined && { env: [variable] }) } };
}
