// Which settings each adapter has and lacks, with their sources; secrets are masked.
import {
  type Adapter,
  type Core,
  collectSettings,
  describeSettings,
  type Environment,
  maskSecret,
  resolveSettings,
  type StoredSettings,
  unusedSettings,
} from '../core/index.ts';

/** A row of `auth list`. */
export interface ShownSetting {
  readonly adapter: string;
  readonly field: string;
  /** Masked where it is secret. */
  readonly value: string;
  /** `auth.json` or the name of an environment variable. */
  readonly source: string;
}

/** Whether an adapter can be used. */
export interface Readiness {
  readonly id: string;
  readonly displayName: string;
  readonly defaultModel: string;
  readonly authRequired: boolean;
  readonly envVars: readonly string[];
  readonly ready: boolean;
  /** What is missing and how to set it; absent when `ready`. */
  readonly missing?: string;
  /** True when the settings can't be read; `missing` says why. */
  readonly broken: boolean;
  /** True when a secret was found in auth.json or the environment. */
  readonly hasSecret: boolean;
}

/** The readiness of every adapter. Calls no provider. */
export function readinessOf(core: Core, env: Environment): Readiness[] {
  return core.adapters().map((info) => {
    const adapter = core.adapter(info.id);
    const { id, displayName, defaultModel, authRequired, envVars } = info;
    const facts = { id, displayName, defaultModel, authRequired, envVars };
    try {
      const settings = resolveSettings(adapter.settings, { stored: core.credentials?.read(id), env });
      const missing = adapter.missingCredential(settings);
      const hasSecret = Object.keys(settings.values).some((name) => adapter.settings[name]?.secret);
      return { ...facts, hasSecret, broken: false, ready: missing === undefined, ...(missing !== undefined && { missing }) };
    } catch (error) {
      // A damaged auth.json or an invalid value makes one adapter unusable; the list is still shown.
      return { ...facts, hasSecret: false, broken: true, ready: false, missing: (error as Error).message };
    }
  });
}

/** Every value in auth.json or the environment; auth.json wins. */
export function shownSettings(core: Core, env: Environment): ShownSetting[] {
  const known = core.adapterIds();
  const foreign = core.credentials?.ids().filter((id) => !known.includes(id)) ?? [];
  return [
    ...known.flatMap((id) => [...ofAdapter(core.adapter(id), core.credentials?.read(id), env), ...unused(core, id)]),
    ...foreign.flatMap((id) => unused(core, id)),
  ];
}

function ofAdapter(adapter: Adapter, stored: StoredSettings | undefined, env: Environment): ShownSetting[] {
  const settings = collectSettings(adapter.settings, { stored, env });
  return Object.entries(describeSettings(adapter.settings, settings))
    .filter(([, { source }]) => source !== 'default')
    .map(([field, { value, source }]) => ({ adapter: adapter.id, field, value, source: source.replace(/^env:/, '') }));
}

/** Fields that no adapter reads are shown too, masked: one may be a key under a mistyped name. */
function unused(core: Core, id: string): ShownSetting[] {
  const stored = core.credentials?.read(id) ?? {};
  const adapters = core.adapterIds().map((known) => core.adapter(known));
  return unusedSettings(adapters, { [id]: stored }).flatMap(({ field, meant }) => {
    const names = field === undefined ? Object.keys(stored) : [field];
    const question = meant === undefined ? '' : `; did you mean ${meant}?`;
    return names.map((name) => ({
      adapter: id,
      field: name,
      value: maskSecret(stored[name] ?? ''),
      source: `auth.json, not used by any adapter${question}`,
    }));
  });
}
