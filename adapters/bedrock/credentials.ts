// Whose credential a call carries, and the headers that prove it.
//
// C1 The order: an API key (request, then auth.json), keys of the request, keys in auth.json, a bearer token, then AWS's own provider chain. Keys in the
//    environment are the chain's first link, unless a profile is named, which the chain prefers to them.
// C2 The parts of a key come from one place: half of one key and half of another are nobody's.
// C3 Nothing of AWS is loaded before a call needs it.
import { BlockhouseError, invalidRequest, type ResolvedSettings, type SettingsSpec } from '../../core/index.ts';
import type { UpstreamRequest } from '../http.ts';
import { redact } from '../redact.ts';
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

const WAYS =
  'store keys with `blockhouse auth set bedrock` (bedrock.accessKeyId and bedrock.secretAccessKey in auth.json), set AWS_ACCESS_KEY_ID and ' +
  'AWS_SECRET_ACCESS_KEY, name a profile of ~/.aws in AWS_PROFILE, set AWS_BEARER_TOKEN_BEDROCK, or send config.accessKeyId and config.secretAccessKey';

/** One link of AWS's making: finds keys and caches them until they expire. */
export type KeyProvider = () => Promise<AwsKeys>;

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
 * none at all is no fault yet: the chain may find one.
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
  readonly #loadChain: (profile: string | undefined) => Promise<KeyProvider>;
  readonly #now: () => Date;
  readonly #chains = new Map<string | undefined, Promise<KeyProvider>>();

  constructor(loadChain = loadAwsChain, now = () => new Date()) {
    this.#loadChain = loadChain;
    this.#now = now;
  }

  /** Headers to add. Rejects with ADAPTER_NOT_CONFIGURED when the chain finds nothing. */
  async authorize(request: UpstreamRequest, settings: ResolvedSettings): Promise<Record<string, string>> {
    const credential = chooseCredential(settings);
    if (credential.kind === 'bearer') return { authorization: `Bearer ${credential.token}` };
    const keys = credential.kind === 'keys' ? credential.keys : await this.#fromChain(credential.profile);
    return signRequest(request, keys, regionOf(settings), this.#now());
  }

  async #fromChain(profile: string | undefined): Promise<AwsKeys> {
    try {
      const chain = this.#chains.get(profile) ?? this.#loadChain(profile);
      this.#chains.set(profile, chain);
      return await (await chain)();
    } catch (error) {
      const reason = redact(error instanceof Error ? error.message : String(error), []).replace(/\.$/, '');
      throw new BlockhouseError('ADAPTER_NOT_CONFIGURED', `No AWS credentials were found (${reason}): ${WAYS}.`, { cause: error, retryable: false });
    }
  }
}

/** The chain would write its remarks on the console. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * AWS's own chain: environment, SSO, files, processes, web identity, container and instance metadata. It reads `process.env`
 * and talks to AWS's own hosts itself, which is the point of it: credentials are found as with every other AWS tool.
 */
async function loadAwsChain(profile: string | undefined): Promise<KeyProvider> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  return defaultProvider({ logger: SILENT, ...(profile !== undefined && { profile }) });
}
