// Every secret that this server knows of its providers, so that texts can be searched for them. Pure: no I/O.
import type { CredentialStore } from '../auth/credentials.ts';
import { collectSettings, type Environment } from '../auth/settings.ts';
import type { Adapter } from '../ports.ts';
import { entryKeys } from './connections/entry-keys.ts';

/** Of adapters and connections, from auth.json and the environment, whether a call uses them now or not. Throws ADAPTER_NOT_CONFIGURED for an auth.json that can't be read. */
export function knownSecrets(upstreams: readonly Adapter[], credentials: Pick<CredentialStore, 'entry'> | undefined, env: Environment): string[] {
  const secrets = upstreams.flatMap(({ id, settings }) => {
    const entry = credentials?.entry(id);
    const own = Object.entries(settings).flatMap(([name, spec]) =>
      spec.secret === true ? [collectSettings({ [name]: spec }, { env }).values[name], entry?.settings[name]] : [],
    );
    return [
      ...own,
      ...entryKeys(entry, env).map(({ value }) => value),
      ...Object.values(entry?.fields.headers ?? {}),
      env[entry?.fields.apiKeyEnv ?? '']?.trim(),
    ];
  });
  return [...new Set(secrets)].filter((secret): secret is string => secret !== undefined && secret !== '');
}
