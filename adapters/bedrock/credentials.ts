// Chooses the credential of a call, and makes the headers that prove it.
//
// credential-order: an API key (request, then auth.json) comes first, then keys of the request, keys in auth.json, a bearer token, and at last
//    AWS's own provider chain. The chain looks at keys in the environment first, unless a profile is named.
// one-place: all parts of a key come from the same place, because half of one key and half of another don't work.
// closed-for-good: after `close` no request is authorized, so none is sent.
import { type AdapterCall, invalidRequest, type ResolvedSettings, type SettingsSpec } from '../../core/index.ts';
import type { UpstreamRequest } from '../outbound/client.ts';
import { closing } from '../outbound/connection-errors.ts';
import { ProviderChain } from './chain.ts';
import { regionOf } from './endpoints.ts';
import { type AwsKeys, signRequest } from './sign.ts';

/** The settings that hold credentials: where each is read from, and that it is secret. */
export const CREDENTIAL_SETTINGS: SettingsSpec = {
  accessKeyId: { env: ['AWS_ACCESS_KEY_ID'], secret: true },
  secretAccessKey: { env: ['AWS_SECRET_ACCESS_KEY'], secret: true },
  sessionToken: { env: ['AWS_SESSION_TOKEN'], secret: true },
  apiKey: { secret: true }, // a Bedrock API key, named like the other adapters' keys
  bearerToken: { env: ['AWS_BEARER_TOKEN_BEDROCK'], secret: true, storedOnly: true },
  profile: { env: ['AWS_PROFILE'], storedOnly: true },
};
const KEY_PARTS = ['accessKeyId', 'secretAccessKey', 'sessionToken'] as const;

/** What a call proves itself with. `chain` means that AWS's provider chain has to look for keys first. */
export type Credential =
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'keys'; readonly keys: AwsKeys }
  | { readonly kind: 'chain'; readonly profile: string | undefined };

type Place = 'request' | 'auth.json' | 'env';

/** The credential that comes first in the order above. */
export function chooseCredential(settings: ResolvedSettings): Credential {
  const { apiKey, bearerToken, profile } = settings.values;
  if (apiKey !== undefined) return { kind: 'bearer', token: apiKey };
  const keys = keysOf(settings);
  const place = placeOf(settings.sources['accessKeyId']);
  if (keys !== undefined && place !== 'env') return { kind: 'keys', keys };
  if (bearerToken !== undefined) return { kind: 'bearer', token: bearerToken };
  return keys !== undefined && profile === undefined ? { kind: 'keys', keys } : { kind: 'chain', profile };
}

/**
 * Throws INVALID_REQUEST for half a key in a request, and returns a sentence about half a key in auth.json. No key at all is not an error
 * here: AWS's chain may find one.
 */
export function keyProblem({ sources }: ResolvedSettings): string | undefined {
  for (const place of ['request', 'auth.json'] as const) {
    const here = (name: string): boolean => placeOf(sources[name]) === place;
    const missing = KEY_PARTS.slice(0, 2).find((name) => !here(name));
    if (missing === undefined || !KEY_PARTS.some(here)) continue;
    const given = KEY_PARTS.find(here);
    if (place === 'request') throw invalidRequest(`config.${missing}`, `is required together with config.${given}`);
    return `bedrock.${given} is set in auth.json, but bedrock.${missing} is missing. Set both with \`blockhouse auth set bedrock\`.`;
  }
  return undefined;
}

function keysOf({ values, sources }: ResolvedSettings): AwsKeys | undefined {
  const { accessKeyId, secretAccessKey, sessionToken } = values;
  const place = placeOf(sources['accessKeyId']);
  if (accessKeyId === undefined || secretAccessKey === undefined || placeOf(sources['secretAccessKey']) !== place) return undefined;
  return { accessKeyId, secretAccessKey, ...(placeOf(sources['sessionToken']) === place && { sessionToken }) }; // one-place
}

function placeOf(source: ResolvedSettings['sources'][string]): Place | undefined {
  if (source === 'request' || source === 'auth.json') return source;
  return source?.startsWith('env:') ? 'env' : undefined;
}

/** Authorizes requests. One for each adapter, so that it keeps the keys that the chain found. */
export class Authorizer {
  readonly #chain: ProviderChain;
  readonly #now: () => Date;
  #isClosed = false;

  constructor(chain = new ProviderChain(), now = () => new Date()) {
    this.#chain = chain;
    this.#now = now;
  }

  /** The call's settings with the keys that the chain finds; undefined if the call already has a credential. Rejects as `ProviderChain.find` does. */
  completeSettings({ settings, timeouts, signal }: AdapterCall): Promise<ResolvedSettings> | undefined {
    const credential = chooseCredential(settings);
    if (credential.kind !== 'chain') return undefined;
    return this.#chain.find(credential.profile, { timeouts, signal }).then((keys) => withOwnKeys(settings, keys));
  }

  /** The headers to add, for complete settings. Rejects with SHUTTING_DOWN after `close`. */
  async authorize(request: UpstreamRequest, settings: ResolvedSettings): Promise<Record<string, string>> {
    if (this.#isClosed) throw closing(); // closed-for-good
    const credential = chooseCredential(settings);
    if (credential.kind === 'chain') throw new Error('The request was authorized before the chain found its keys.');
    if (credential.kind === 'bearer') return { authorization: `Bearer ${credential.token}` };
    return signRequest(request, credential.keys, regionOf(settings), this.#now());
  }

  close(): void {
    this.#isClosed = true;
    this.#chain.close();
  }
}

/** Treats them as keys of the request: they come first (credential-order), and errors redact them like any other secret. */
function withOwnKeys({ values, sources }: ResolvedSettings, { accessKeyId, secretAccessKey, sessionToken }: AwsKeys): ResolvedSettings {
  return {
    values: { ...values, accessKeyId, secretAccessKey, sessionToken },
    sources: { ...sources, accessKeyId: 'request', secretAccessKey: 'request', sessionToken: sessionToken === undefined ? undefined : 'request' },
  };
}
