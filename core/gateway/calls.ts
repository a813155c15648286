// What a call of an adapter is made with: settings, egress rule, timeouts; and whether it may be made at all.
//
// N1 Settings are looked up for each call, so that a rotated key serves the next one. What follows from them is worked out once for as
//    long as they stay the same, since that is most of what a request would cost.
// N2 A request that brings settings of its own is worked out by itself, and leaves nothing behind.
import type { CredentialStore, StoredSettings } from '../auth/credentials.ts';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import type { Adapter, AdapterCall, UpstreamTimeouts } from '../ports.ts';
import type { ChatConfig } from '../schemas/chat.ts';
import { checkEgress, type EgressRule, egressRule, parseBaseURL } from './egress.ts';
import { type Environment, resolveSettings, type SettingSource } from './settings.ts';

/** The contract's defaults; an adapter may differ (a local daemon loads its model first). */
export const DEFAULT_TIMEOUTS: UpstreamTimeouts = { connectMs: 10_000, firstByteMs: 120_000, idleMs: 120_000 };

export interface CallsOptions {
  readonly credentials: CredentialStore | undefined;
  readonly env: Environment;
  readonly timeouts: Partial<UpstreamTimeouts>;
  readonly allowedOrigins: ReadonlySet<string>;
}

/** A call without its caller. */
type Prepared = Omit<AdapterCall, 'signal'>;

interface Standing {
  readonly stored: StoredSettings | undefined;
  /** Of the variables that the adapter reads. */
  readonly environment: Environment;
  readonly prepared: Prepared;
  readonly missing: string | undefined;
}

export class Calls {
  readonly #options: CallsOptions;
  readonly #standing = new Map<Adapter, Standing>();

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** A call whose credentials are complete. Throws ADAPTER_NOT_CONFIGURED, and what `checked` throws. */
  configured(adapter: Adapter, config: ChatConfig | undefined, signal: AbortSignal): AdapterCall {
    return withCaller(this.#configured(adapter, config), signal);
  }

  /** Throws what `configured` throws. */
  assertConfigured(adapter: Adapter, config: ChatConfig | undefined): void {
    this.#configured(adapter, config);
  }

  /** A call to a place that it may go to. Throws INVALID_REQUEST or, for a bad stored URL, ADAPTER_NOT_CONFIGURED. */
  checked(adapter: Adapter, config: ChatConfig | undefined, signal: AbortSignal): AdapterCall {
    return withCaller(this.#stand(adapter, config).prepared, signal);
  }

  #configured(adapter: Adapter, config: ChatConfig | undefined): Prepared {
    const { prepared, missing } = this.#stand(adapter, config);
    if (missing !== undefined) throw new BlockhouseError('ADAPTER_NOT_CONFIGURED', missing);
    return prepared;
  }

  #stand(adapter: Adapter, config: ChatConfig | undefined): Standing {
    const stored = this.#stored(adapter);
    if (hasSettings(adapter, config)) return this.#workOut(adapter, config, stored); // N2
    const known = this.#standing.get(adapter);
    if (known !== undefined && known.stored === stored && this.#isSameEnvironment(known.environment)) return known; // N1
    const standing = this.#workOut(adapter, undefined, stored);
    this.#standing.set(adapter, standing);
    return standing;
  }

  #stored(adapter: Adapter): StoredSettings | undefined {
    const { credentials } = this.#options;
    if (credentials === undefined) return undefined;
    const own = credentials.read(adapter.id);
    if (own !== undefined) return own;
    for (const alias of adapter.aliases) {
      const other = credentials.read(alias);
      if (other !== undefined) return other;
    }
    return undefined;
  }

  #environment(adapter: Adapter): Environment {
    const names = Object.values(adapter.settings).flatMap((setting) => setting.env ?? []);
    return Object.fromEntries(names.map((name) => [name, this.#options.env[name]]));
  }

  #isSameEnvironment(known: Environment): boolean {
    const { env } = this.#options;
    for (const name in known) if (known[name] !== env[name]) return false;
    return true;
  }

  #workOut(adapter: Adapter, config: ChatConfig | undefined, stored: StoredSettings | undefined): Standing {
    const { env, allowedOrigins, timeouts } = this.#options;
    if (config?.baseURL !== undefined && adapter.settings['baseURL'] === undefined)
      throw invalidRequest('config.baseURL', `can't be set for ${adapter.id}; its endpoint follows from the region`);
    const settings = resolveSettings(adapter.settings, { config, stored, env });
    const configured = resolveSettings(adapter.settings, { stored, env });
    const egress = egressRule(settings, {
      defaultBaseURL: adapter.settings['baseURL']?.default,
      configuredBaseURL: configured.values['baseURL'],
      furtherOrigins: adapter.trustedOrigins?.(settings) ?? [],
      allowedOrigins,
      secretNames: Object.keys(adapter.settings).filter((name) => adapter.settings[name]?.secret),
    });
    const base = settings.values['baseURL'];
    if (base !== undefined) checkBase(base, settings.sources['baseURL'], egress);
    const prepared = { settings, egress, timeouts: { ...DEFAULT_TIMEOUTS, ...adapter.timeouts, ...timeouts } };
    return { stored, environment: this.#environment(adapter), prepared, missing: adapter.missingCredential(settings) };
  }
}

/** Named one by one, for a spread costs several times as much, and every request passes here. */
function withCaller({ settings, egress, timeouts }: Prepared, signal: AbortSignal): AdapterCall {
  return { settings, egress, timeouts, signal };
}

/** True when a request sets anything that the adapter looks up elsewhere, or a base URL that it can't have. */
function hasSettings(adapter: Adapter, config: ChatConfig | undefined): boolean {
  if (config === undefined) return false;
  if (config.baseURL !== undefined) return true;
  const values = config as Readonly<Record<string, unknown>>;
  for (const name in adapter.settings) if (values[name] !== undefined) return true;
  return false;
}

/** A bad address in a request is the caller's fault; in auth.json or the environment it is the operator's. */
function checkBase(base: string, source: SettingSource | undefined, rule: EgressRule): void {
  try {
    checkEgress(rule, parseBaseURL(base));
  } catch (error) {
    if (source === 'request') throw error;
    const { message } = error as Error;
    throw new BlockhouseError('ADAPTER_NOT_CONFIGURED', `${message.replace('config.baseURL', 'baseURL')} (it comes from ${source}).`, { cause: error });
  }
}
