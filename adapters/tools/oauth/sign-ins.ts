// The tokens with which servers of tools are called: those that auth.json has, and how they are renewed.
//
// one-renewal: of all calls that need a new token, in all processes of the workspace, one asks for it; the others take what it got. A refresh token may work only once.
// own-issuer: a token goes to the server that it was made for, a secret and a refresh token to the authorization server that gave them (records.ts, discovery.ts).
// not-begun: what can't get a token was surely not sent.
import { BlockhouseError, type CredentialStore, inTurn } from '../../../core/index.ts';
import { abortable } from '../abortable.ts';
import { isMasked } from '../masked-result.ts';
import { type Challenge, joinedScopes } from './challenge.ts';
import { algorithmAt, assertionOf, type ClientKey, clientKeyIn, keyInFile } from './client-key.ts';
import { type Authority, discovered, namedBy } from './discovery.ts';
import { SignInFault } from './places.ts';
import {
  CLIENT_KEY,
  CLIENT_SECRET,
  clientSecret,
  isFresh,
  keepRecord,
  type OAuthSettings,
  recordOf,
  recordsOf,
  renewsItself,
  secretFor,
  signInFault,
  type SignInPlace,
  type SignInRecord,
} from './records.ts';
import { SignInHttp } from './sign-in-http.ts';
import { authMethodFor, type Client, RefusedGrant, type Tokens, tokensFor } from './token-request.ts';

/** What sign-ins are made with. */
export interface SignInsOptions {
  readonly workspace: string;
  /** Epoch milliseconds. */
  readonly clock?: (() => number) | undefined;
  credentials(): CredentialStore;
}

/** A request that the server has refused, and with which token. */
export interface Refusal {
  readonly status: number;
  readonly challenge: Challenge | undefined;
  readonly token: string | undefined;
}

/** See the file's head. */
export class SignIns {
  readonly http = new SignInHttp();
  readonly clock: () => number;
  readonly #options: SignInsOptions;
  /** By server. */
  readonly #renewals = new Map<string, Promise<string>>();
  readonly #closing = new AbortController();

  constructor(options: SignInsOptions) {
    this.#options = options;
    this.clock = options.clock ?? Date.now;
  }

  get credentials(): CredentialStore {
    return this.#options.credentials();
  }

  /** The token for a request; undefined for a server that was not signed in to. Rejects with TOOL_NOT_BEGUN. */
  async token(place: SignInPlace, signal: AbortSignal): Promise<string | undefined> {
    const record = recordOf(this.credentials, place);
    if (record === undefined && place.oauth === undefined) return undefined;
    if (record !== undefined && isFresh(record, this.clock())) return record.accessToken;
    return this.#renewed(place, undefined, signal);
  }

  /** Another token for a request that was refused. Rejects with TOOL_NOT_BEGUN, which says what to do. */
  async afterRefusal(place: SignInPlace, refusal: Refusal, signal: AbortSignal): Promise<string> {
    const record = recordOf(this.credentials, place);
    if (record === undefined && place.oauth === undefined)
      throw notBegun(`it wants a sign-in (HTTP ${refusal.status}); sign in: \`blockhouse tools login ${place.name}\`, or give it a header with a token`);
    const token = await this.#renewed(place, refusal, signal);
    return token === refusal.token ? this.#renewed(place, refusal, signal) : token; // a renewal had begun before the refusal
  }

  /** Does something with the sign-in of a server while no other process does. */
  inTurn<T>(server: string, work: () => Promise<T>): Promise<T> {
    return inTurn(this.#options.workspace, `.sign-in-${server}.lock`, work);
  }

  /** What the texts of a server must not show: the tokens that it gets, and the secret of a client that was registered for them. */
  secretsOf(server: string): readonly string[] {
    try {
      const records = recordsOf(this.credentials, server);
      return records.flatMap(({ accessToken = '', refreshToken = '', clientSecret: own = '' }) => [accessToken, refreshToken, own]).filter(isMasked);
    } catch (error) {
      if (!(error instanceof BlockhouseError) || error.code !== 'ADAPTER_NOT_CONFIGURED') throw error;
      return []; // without auth.json it has none
    }
  }

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the server is shutting down'));
    await this.http.close();
  }

  /** one-renewal. */
  #renewed(place: SignInPlace, refusal: Refusal | undefined, signal: AbortSignal): Promise<string> {
    const key = JSON.stringify([place.name, refusal?.status === 403 ? refusal.challenge?.scope : undefined]);
    const known = this.#renewals.get(key);
    if (known !== undefined) return abortable(known, signal);
    const work = this.inTurn(place.name, () => this.#renew(place, refusal)).finally(() => this.#renewals.delete(key));
    this.#renewals.set(key, work);
    work.catch(() => undefined); // those that wait hear of it
    return abortable(work, signal);
  }

  async #renew(place: SignInPlace, refusal: Refusal | undefined): Promise<string> {
    this.credentials.refresh(true);
    const record = recordOf(this.credentials, place);
    const isOther = refusal === undefined || record?.accessToken !== refusal.token;
    if (record?.accessToken !== undefined && isOther && isFresh(record, this.clock())) return record.accessToken; // another one has renewed it
    try {
      if (refusal?.status === 403) return await this.#widened(place, record, refusal);
      const next =
        place.oauth?.grant === 'client_credentials' ? await this.#obtained(place, place.oauth, record, refusal) : await this.#refreshed(place, record);
      await keepRecord(this.credentials, place.name, next);
      return next.accessToken;
    } catch (error) {
      if (error instanceof SignInFault) throw notBegun(error.message, error);
      throw error;
    }
  }

  /** A person has to agree to more rights; a program asks for them, once. */
  async #widened(place: SignInPlace, record: SignInRecord | undefined, refusal: Refusal): Promise<string> {
    const wants = joinedScopes(record?.scope, refusal.challenge?.scope);
    const isMore = wants !== undefined && wants !== joinedScopes(record?.scope);
    if (place.oauth?.grant === 'client_credentials') {
      if (!isMore) throw new SignInFault('its server wants more rights than its sign-in has (insufficient_scope)');
      if (place.oauth.scope !== undefined)
        throw new SignInFault('its server wants more rights than its oauth.scope has (insufficient_scope); if it may have them, add them in mcp.json'); // a person has approved it
      const next = await this.#obtained(place, place.oauth, record, refusal);
      await keepRecord(this.credentials, place.name, next);
      return next.accessToken;
    }
    if (record !== undefined && isMore) await keepRecord(this.credentials, place.name, { ...record, wants });
    throw new SignInFault(`its server wants more rights than its sign-in has (insufficient_scope); sign in again: \`blockhouse tools login ${place.name}\``);
  }

  /** As a program that signs in for itself. */
  async #obtained(
    place: SignInPlace,
    oauth: OAuthSettings,
    record: SignInRecord | undefined,
    refusal: Refusal | undefined,
  ): Promise<SignInRecord & { readonly accessToken: string }> {
    const { issuer } = oauth;
    const proof = await this.proof(place.name, oauth);
    const authority = await discovered(this.http, { url: place.url, issuer, metadata: refusal?.challenge?.metadata, secrets: place.secrets }, this.signal);
    if (authority.grants?.includes('client_credentials') === false)
      throw new SignInFault('its authorization server lets no program sign in for itself (client_credentials)');
    const client = proof(authority);
    const asked = oauth.scope ?? refusal?.challenge?.scope ?? authority.scope;
    const scope = refusal?.status === 403 ? joinedScopes(record?.scope ?? asked, refusal.challenge?.scope) : asked;
    const { tokenEndpoint, resource, revocationEndpoint } = authority;
    const tokens = await tokensFor(
      this.http,
      { endpoint: tokenEndpoint, method: client.known.method, client, named: namedBy({ url: place.url, issuer }) },
      { grant_type: 'client_credentials', scope, resource },
      this.signal,
    );
    const known = {
      issuer: authority.issuer,
      url: place.url,
      resource,
      grant: 'client_credentials' as const,
      ...client.known,
      tokenEndpoint,
      revocationEndpoint,
      isNamed: true,
    };
    return { ...known, ...this.kept(tokens, scope) };
  }

  /** How a client that the user has registered proves who it is, once its authorization server is known. */
  async proof(server: string, { clientId = '', method, keyFile, keyId }: OAuthSettings): Promise<(authority: Authority) => Proof> {
    if (method === 'private_key_jwt') {
      const key = await clientKeyOf(this.credentials, server, keyFile);
      return ({ issuer, authMethods, authAlgorithms }) => {
        const known = { clientId, method, keyFile, keyId: keyId ?? key.id, algorithm: algorithmAt(key, authMethods, authAlgorithms) };
        return { clientId, secret: undefined, known, assertion: () => assertionOf(key, { ...known, issuer, now: this.clock() }) };
      };
    }
    const secret = clientSecret(this.credentials, server) ?? notStored(server, CLIENT_SECRET);
    return ({ authMethods }) => ({ clientId, secret, known: { clientId, method: authMethodFor(true, authMethods) } });
  }

  /** What signs for a client whose sign-in is known; undefined for one that signs nothing. */
  async assertionFor(server: string, { method, clientId, issuer, keyFile, keyId, algorithm = '' }: SignInRecord): Promise<(() => string) | undefined> {
    if (method !== 'private_key_jwt') return undefined;
    const key = await clientKeyOf(this.credentials, server, keyFile);
    return () => assertionOf(key, { clientId, issuer, algorithm, keyId, now: this.clock() });
  }

  async #refreshed(place: SignInPlace, record: SignInRecord | undefined): Promise<SignInRecord & { readonly accessToken: string }> {
    const fault = signInFault(place.name, record, place.oauth, this.clock());
    if (record === undefined || fault !== undefined)
      throw new SignInFault(fault ?? `nobody has signed in to it; sign in: \`blockhouse tools login ${place.name}\``);
    const again = `; sign in again: \`blockhouse tools login ${place.name}\``;
    if (!renewsItself(record)) {
      await keepRecord(this.credentials, place.name, { ...record, accessToken: undefined, ended: 'refused' });
      throw new SignInFault(`its server does not take its token any more${again}`);
    }
    const { tokenEndpoint, method, clientId, refreshToken, resource, scope } = record;
    const named = namedBy({ url: place.url, issuer: record.isNamed === true ? record.issuer : undefined });
    try {
      const assertion = await this.assertionFor(place.name, record);
      const client = { clientId, secret: secretFor(this.credentials, place, record), assertion };
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken, resource };
      const tokens = await tokensFor(this.http, { endpoint: tokenEndpoint, method, client, named }, form, this.signal);
      return { ...record, ...this.kept(tokens, scope), refreshToken: tokens.refreshToken ?? refreshToken };
    } catch (error) {
      if (!(error instanceof RefusedGrant) || error.code !== 'invalid_grant') throw error;
      await keepRecord(this.credentials, place.name, { ...record, accessToken: undefined, refreshToken: undefined, ended: error.code });
      throw new SignInFault(`its sign-in has ended (${error.code})${again}`, { cause: error });
    }
  }

  /** What a record has of tokens that were just given. */
  kept(
    { accessToken, refreshToken, lifeMs, scope }: Tokens,
    asked: string | undefined,
  ): Required<Pick<SignInRecord, 'expiresAt' | 'scope' | 'refreshToken'>> & { accessToken: string } {
    return { accessToken, refreshToken, expiresAt: lifeMs === undefined ? undefined : this.clock() + lifeMs, scope: scope ?? asked };
  }
}

/** A client, and what its sign-in keeps of it. */
interface Proof extends Client {
  readonly known: Pick<SignInRecord, 'clientId' | 'method' | 'keyFile' | 'keyId' | 'algorithm'>;
}

async function clientKeyOf(credentials: CredentialStore, server: string, keyFile: string | undefined): Promise<ClientKey> {
  return keyFile === undefined ? clientKeyIn(clientSecret(credentials, server, CLIENT_KEY) ?? notStored(server, CLIENT_KEY)) : keyInFile(keyFile);
}

function notStored(server: string, field: string): never {
  throw new SignInFault(`its secret ${server}.${field} is not stored; store it: \`blockhouse tools secret set ${server}.${field}\``);
}

function notBegun(text: string, cause?: unknown): BlockhouseError {
  return new BlockhouseError('TOOL_NOT_BEGUN', text, { cause });
}
