// The keys of an entry: the one that it has, or the first of several. Pure: no I/O.
import type { Entry } from '../../auth/entry.ts';
import type { Environment, SettingsSpec } from '../../auth/settings.ts';

/** One key of several, as it can be used now. */
export interface UsableKey {
  readonly label: string;
  readonly value: string;
  /** The variable that has it; undefined for auth.json. */
  readonly variable: string | undefined;
}

const NONE: readonly UsableKey[] = [];

/** The keys in `keys` that can be used now: a variable that is not set has none. */
export function entryKeys(entry: Entry | undefined, env: Environment): readonly UsableKey[] {
  if (entry?.fields.keys === undefined) return NONE;
  return entry.fields.keys.flatMap(({ label, apiKey, apiKeyEnv }): UsableKey[] => {
    const value = apiKey ?? env[apiKeyEnv ?? '']?.trim();
    return value === undefined || value === '' ? [] : [{ label: label ?? labelOf(value), value, variable: apiKeyEnv }];
  });
}

/** The end of a key of 20 characters or more says which it is; of a shorter one it would be too much. */
function labelOf(key: string): string {
  return key.length < 20 ? '…' : `…${key.slice(-4)}`;
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
