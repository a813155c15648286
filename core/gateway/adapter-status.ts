// Whether an adapter can be used at this moment. Costs nothing: no model is called, and a key is not tried out (`verify` does that).
import type { ResolvedSettings } from '../auth/settings.ts';
import { timeLimit } from '../base/abort.ts';
import { toBlockhouseError } from '../errors.ts';
import type { Adapter, AdapterCall, UpstreamTimeouts } from '../ports.ts';
import type { AdapterStatus } from '../schemas/adapter.ts';
import { adapterInfo } from './registry.ts';

/** How long a daemon or a credential chain may take to answer; a person waits for the list. */
const PROBE_MS = 1500;
/** An answer that drips would never end by the limits of its parts. */
const MAX_PROBE_MS = 4000;
const PROBE_TIMEOUTS: UpstreamTimeouts = { connectMs: PROBE_MS, firstByteMs: PROBE_MS, idleMs: PROBE_MS };

/** How thorough the look is. */
export interface StatusOptions {
  readonly signal?: AbortSignal;
  /** Only this adapter, by its id or an alias. */
  readonly only?: string | undefined;
  /** False leaves out the search for credentials outside of auth.json and the environment, which loads much code; such an adapter is `unchecked`. */
  readonly searches?: boolean;
}

/** The status of one adapter. `makeCall` throws a BlockhouseError for settings that can't be used. Never rejects for a fault of the provider. */
export async function adapterStatus(adapter: Adapter, makeCall: () => AdapterCall, searches: boolean): Promise<AdapterStatus> {
  const info = adapterInfo(adapter);
  try {
    const call = makeCall();
    const hasSecret = hasSecretIn(adapter, call.settings);
    const missing = adapter.missingCredential(call.settings);
    if (missing !== undefined) return { ...info, ready: false, hasSecret, problem: 'credential', detail: missing };
    if (!searches && mustSearch(adapter, call.settings)) return { ...info, ready: false, hasSecret, problem: 'unchecked' };
    const fault = await probeFault(adapter, call);
    return fault === undefined ? { ...info, ready: true, hasSecret } : { ...info, ready: false, hasSecret, ...fault };
  } catch (error) {
    // A damaged auth.json or an invalid value makes one adapter unusable; the others are still listed.
    return { ...info, ready: false, hasSecret: false, problem: 'settings', detail: toBlockhouseError(error).message };
  }
}

async function probeFault(adapter: Adapter, call: AdapterCall): Promise<Pick<AdapterStatus, 'problem' | 'detail'> | undefined> {
  const late = timeLimit(MAX_PROBE_MS);
  try {
    await adapter.probe?.({ ...call, timeouts: PROBE_TIMEOUTS, signal: AbortSignal.any([call.signal, late]) });
    return undefined;
  } catch (error) {
    if (late.aborted) return { problem: 'unreachable', detail: `${adapter.displayName} did not finish its answer within ${MAX_PROBE_MS / 1000} s.` };
    const { code, message } = toBlockhouseError(error);
    return { problem: code === 'ADAPTER_NOT_CONFIGURED' ? 'credential' : 'unreachable', detail: message };
  }
}

/** True if only a search outside of auth.json and the environment tells whether the adapter has a credential. */
export function mustSearch(adapter: Pick<Adapter, 'authRequired' | 'probe' | 'settings'>, settings: ResolvedSettings): boolean {
  return adapter.authRequired && adapter.probe !== undefined && !hasSecretIn(adapter, settings);
}

function hasSecretIn(adapter: Pick<Adapter, 'settings'>, { values }: ResolvedSettings): boolean {
  return Object.entries(adapter.settings).some(([name, { secret }]) => secret === true && values[name] !== undefined);
}
