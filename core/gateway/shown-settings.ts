// The settings of all adapters with their sources, for people; secrets are masked.
import type { CredentialStore, StoredSettings } from '../auth/credentials.ts';
import type { Entry } from '../auth/entry.ts';
import { toBlockhouseError } from '../errors.ts';
import { collectSettings, describeSettings, type Environment, maskSecret } from '../auth/settings.ts';
import { unusedSettings } from '../auth/unused-settings.ts';
import type { Adapter } from '../ports.ts';
import type { ShownSetting } from '../schemas/adapter.ts';
import { entryKeys } from './connections/entry-keys.ts';

/** Every value in auth.json or the environment; auth.json wins. Throws ADAPTER_NOT_CONFIGURED for a damaged auth.json. */
export function shownSettings(
  adapters: readonly Adapter[],
  credentials: Pick<CredentialStore, 'ids' | 'read' | 'entry'> | undefined,
  env: Environment,
): ShownSetting[] {
  const known = adapters.map(({ id }) => id);
  const foreign = credentials?.ids().filter((id) => !known.includes(id)) ?? [];
  const rows = (id: string, show: (stored: StoredSettings | undefined) => ShownSetting[]): ShownSetting[] => {
    try {
      return show(credentials?.read(id));
    } catch (error) {
      if (known.includes(id) && !credentials?.ids().includes(id)) throw error;
      return [{ adapter: id, field: '', value: '', source: `auth.json: ${toBlockhouseError(error).message}` }];
    }
  };
  return [
    ...adapters.flatMap((adapter) =>
      rows(adapter.id, (stored) => {
        const keys = severalKeys(adapter.id, credentials?.entry(adapter.id), env);
        const own = ofAdapter(adapter, stored, env);
        const shown = [...(keys.length === 0 ? own : own.filter(({ field }) => field !== 'apiKey')), ...keys, ...unused(adapters, adapter.id, stored)];
        return shown.length > 0 ? shown : builtOn(adapter, credentials?.entry(adapter.id));
      }),
    ),
    ...foreign.flatMap((id) => rows(id, (stored) => unused(adapters, id, stored))),
  ];
}

function ofAdapter(adapter: Adapter, stored: StoredSettings | undefined, env: Environment): ShownSetting[] {
  const settings = collectSettings(adapter.settings, { stored, env });
  return Object.entries(describeSettings(adapter.settings, settings))
    .filter(([, { source }]) => source !== 'default')
    .map(([field, { value, source }]) => ({ adapter: adapter.id, field, value, source: source.replace(/^env:/, '') }));
}

/** A connection of which nothing is set, such as a preset of a local server: it must not look as if it were not there. */
function builtOn({ id, connection }: Adapter, entry: Entry | undefined): ShownSetting[] {
  if (connection === undefined) return [];
  const { preset, protocol } = connection;
  const [field, value] = preset === undefined ? ['adapter', protocol] : ['preset', entry?.fields.preset ?? id];
  return [{ adapter: id, field, value, source: entry === undefined ? 'BLOCKHOUSE_CONNECTIONS' : 'auth.json' }];
}

/** One row for each key of several, by its label; a variable that is not set has none. */
function severalKeys(adapter: string, entry: Entry | undefined, env: Environment): ShownSetting[] {
  return entryKeys(entry, env).map(({ label, value, variable }) => ({
    adapter,
    field: `keys.${label}`,
    value: maskSecret(value),
    source: variable ?? 'auth.json',
  }));
}

/** Fields that no adapter reads are shown too, masked: one may be a key under a mistyped name. */
function unused(adapters: readonly Adapter[], id: string, stored: StoredSettings = {}): ShownSetting[] {
  return unusedSettings(adapters, { [id]: stored }).flatMap(({ field, meant }) => {
    const names = field === undefined ? Object.keys(stored) : [field];
    const question = meant === undefined ? '' : `; did you mean ${meant}?`;
    return names.map((name) => ({
      adapter: id,
      field: name,
      value: maskSecret(stored[name] ?? ''),
      source: `auth.json, not used by any provider${question}`,
    }));
  });
}
