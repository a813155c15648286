// Whose credential a call carries, and the headers that prove it.
//
// C1 The order: an API key (request, then auth.json), keys of the request, keys in auth.json, a bearer token, then AWS's own provider chain. Keys in the
//    environment are the chain's first link, unless a profile is named, which the chain prefers to them.
// C2 The parts of a key come from one place: half of one key and half of another are nobody's.
// C3 Nothing of AWS is loaded before a call needs it.
// C4 After `close` no request is proved any more, and so none is sent.
import { type AdapterCall, invalidRequest, type ResolvedSettings, type SettingsSpec } from '../../core/index.ts';
import { closing } from '../connection-errors.ts';
import type { UpstreamRequest } from '../http.ts';
import { ProviderChain } from './chain.ts';
import { regionOf } from './endpoints.ts';
import { type AwsKeys, signRequest } from './sign.ts';

export const CREDENTIAL_SETTINGS: SettingsSpec = {
  accessKeyId: { env: ['AWS_ACCESS_KEY_ID'], secret: true },
  secretAccessKey: { env: ['AWS_SECRET_ACCESS_KEY'], secret: true },
  sessionToken: { env: ['AWS_SESSION_TOKEN'], secret: true },
  apiKey: { secret: true }, // a Bedrock API key, by the name that the other adapters' keys have
  bearerToken: { env: ['AWS_BEARER_TOKEN_BEDROCK'], secret: true, storedOnly: true },
  profile: { env: ['AWS_PROFILE'], storedOnly: true },
};
const KEY_PARTS = ['accessKeyId', 'secretAccessKey', 'sessionToken'] as const;

export type Credential =
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'keys'; readonly keys: AwsKeys }
  | { readonly kind: 'chain'; readonly profile: string | undefined };

type Place = 'request' | 'auth.json' | 'env';

/** C1. */
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
 * C2: throws INVALID_REQUEST for half a key in a request; says what is wrong with half a key in auth.json. That there is
 * none at all is no error yet: the chain may find one.
 */
export function keyProblem({ sources }: ResolvedSettings): string | undefined {
  for (const place of ['request', 'auth.json'] as const) {
    const here = (name: string): boolean => placeOf(sources[name]) === place;
    const missing = KEY_PARTS.slice(0, 2).find((name) => !here(name));
    if (missing === undefined || !KEY_PARTS.some(here)) continue;
    const given = KEY_PARTS.find(here);
    if (place === 'request') throw invalidRequest(`config.${missing}`, `is required beside config.${given}`);
    return `bedrock.${given} in auth.json is part of a key; bedrock.${missing} is missing beside it (\`blockhouse auth set bedrock\`).`;
  }
  return undefined;
}

function keysOf({ values, sources }: ResolvedSettings): AwsKeys | undefined {
  const { accessKeyId, secretAccessKey, sessionToken } = values;
  const place = placeOf(sources['accessKeyId']);
  if (accessKeyId === undefined || secretAccessKey === undefined || placeOf(sources['secretAccessKey']) !== place) return undefined;
  return { accessKeyId, secretAccessKey, ...(placeOf(sources['sessionToken']) === place && { sessionToken }) };
}

function placeOf(source: ResolvedSettings['sources'][string]): Place | undefined {
  if (source === 'request' || source === 'auth.json') return source;
  return source?.startsWith('env:') ? 'env' : undefined;
}

/** Proves requests. One for each adapter, so that what the chain found is kept. */
export class Authorizer {
  readonly #chain: ProviderChain;
  readonly #now: () => Date;
  #isClosed = false;

  constructor(chain = new ProviderChain(), now = () => new Date()) {
    this.#chain = chain;
    this.#now = now;
  }

  /** The call's settings with the keys that the chain finds for it; undefined where it has a credential already. Rejects as `ProviderChain.find` does. */
  completeSettings({ settings, timeouts, signal }: AdapterCall): Promise<ResolvedSettings> | undefined {
    const credential = chooseCredential(settings);
    if (credential.kind !== 'chain') return undefined;
    return this.#chain.find(credential.profile, { timeouts, signal }).then((keys) => withOwnKeys(settings, keys));
  }

  /** Headers to add, by settings that are complete. Rejects with SHUTTING_DOWN (C4). */
  async authorize(request: UpstreamRequest, settings: ResolvedSettings): Promise<Record<string, string>> {
    const credential = chooseCredential(settings);
    if (credential.kind === 'chain') throw new Error('keys are asked for before the chain has found them');
    const headers =
      credential.kind === 'bearer'
        ? { authorization: `Bearer ${credential.token}` }
        : await signRequest(request, credential.keys, regionOf(settings), this.#now());
    if (this.#isClosed) throw closing();
    return headers;
  }

  close(): void {
    this.#isClosed = true;
    this.#chain.close();
  }
}

/** As if the request had brought them: nothing goes before them (C1), and errors leave them out like any other secret. */
function withOwnKeys({ values, sources }: ResolvedSettings, { accessKeyId, secretAccessKey, sessionToken }: AwsKeys): ResolvedSettings {
  return {
    values: { ...values, accessKeyId, secretAccessKey, sessionToken },
    sources: { ...sources, accessKeyId: 'request', secretAccessKey: 'request', sessionToken: sessionToken === undefined ? undefined : 'request' },
  };
}
