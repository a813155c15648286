// Every secret that this server knows of its providers, so that texts can be searched for them. Pure: no I/O.
import type { CredentialStore } from '../auth/credentials.ts';
import type { Entry } from '../auth/entry.ts';
import { printedKeys } from '../auth/key-command.ts';
import { collectSettings, type Environment } from '../auth/settings.ts';
import { BlockhouseError } from '../errors.ts';
import type { Adapter } from '../ports.ts';
import { entryKeys, variablesIn } from './connections/entry-keys.ts';

/** Of adapters and connections, from auth.json, the environment and programs that print keys, whether a call uses them now or not. Throws ADAPTER_NOT_CONFIGURED for an auth.json that can't be read. */
export function knownSecrets(upstreams: readonly Adapter[], credentials: Pick<CredentialStore, 'entry'> | undefined, env: Environment): string[] {
  const secrets = upstreams.flatMap(({ id, aliases, settings }) => {
    const names = Object.keys(settings).filter((name) => settings[name]?.secret === true);
    const ofEnvironment = names.map((name) => collectSettings({ [name]: settings[name] ?? {} }, { env }).values[name]);
    return [...ofEnvironment, ...[id, ...aliases].flatMap((name) => secretsIn(credentials?.entry(name), names, env))];
  });
  return [...new Set(secrets)].filter((secret): secret is string => secret !== undefined && secret !== '');
}

/** The variables from which calls may get secrets: those of adapters and presets, and those that entries of auth.json name. An entry that can't be used names none. */
export function secretVariables(upstreams: readonly Adapter[], credentials: Pick<CredentialStore, 'entry'> | undefined): Set<string> {
  const variables = upstreams.flatMap(({ id, aliases, settings }) => [
    ...Object.values(settings).flatMap((spec) => (spec.secret === true ? (spec.env ?? []) : [])),
    ...[id, ...aliases].flatMap((name) => namedBy(credentials, name)),
  ]);
  return new Set(variables);
}

function namedBy(credentials: Pick<CredentialStore, 'entry'> | undefined, name: string): readonly string[] {
  try {
    return variablesIn(credentials?.entry(name));
  } catch (error) {
    if (error instanceof BlockhouseError) return [];
    throw error;
  }
}

/** `names`: the settings that are secret. */
function secretsIn(entry: Entry | undefined, names: readonly string[], env: Environment): (string | undefined)[] {
  if (entry === undefined) return [];
  const { settings, fields } = entry;
  return [
    ...names.map((name) => settings[name]),
    ...entryKeys(entry, env).map(({ value }) => value),
    ...Object.values(fields.headers ?? {}),
    env[fields.apiKeyEnv ?? '']?.trim(),
    ...printedKeys(entry),
  ];
}
