// What auth.json has of the sign-ins of servers of tools: by server, then by issuer.
//
// one-place: a sign-in counts for the address of the server that it was made for, and, where mcp.json says who signs in, for that issuer and client alone. So no change of an entry sends a
//   token to somebody else.
// own-secret: the stored secret of a client goes to the issuer that mcp.json names, or to the one that was signed in to with this very secret: who stores a secret for another issuer at
//   `tools login` names that issuer there alone.
import { isObject } from '../../../core/base/json.ts';
import { urlOf } from '../../../core/base/url.ts';
import { type CredentialStore, sha256 } from '../../../core/index.ts';
import { SignInFault } from './places.ts';
import type { AuthMethod } from './token-request.ts';

/** How somebody signs in: a program for itself, or a person in a browser. */
export type Grant = 'client_credentials' | 'authorization_code';

/** What mcp.json says of the sign-in. */
export interface OAuthSettings {
  readonly grant: Grant;
  readonly clientId?: string | undefined;
  readonly issuer?: string | undefined;
  readonly scope?: string | undefined;
  /** How a client proves who it is: with a secret, if it has one (left out), or with a signature. */
  readonly method?: 'client_secret' | 'private_key_jwt' | undefined;
  /** The file of its key; left out, the stored one. */
  readonly keyFile?: string | undefined;
  /** The name of the key there. */
  readonly keyId?: string | undefined;
}

/** A server of tools as a sign-in knows it. */
export interface SignInPlace {
  readonly name: string;
  readonly url: string;
  readonly oauth?: OAuthSettings | undefined;
  /** The secrets of its entry. An address that holds one of them is sent to no authorization server. */
  readonly secrets?: readonly string[] | undefined;
}

/** A sign-in. */
export interface SignInRecord {
  readonly issuer: string;
  readonly url: string;
  readonly resource: string;
  readonly grant: Grant;
  readonly clientId: string;
  /** Of a client that was registered for this sign-in. */
  readonly clientSecret?: string | undefined;
  /** sha256 of the stored secret with which the sign-in was made. */
  readonly secretHash?: string | undefined;
  readonly method: AuthMethod;
  /** Of `private_key_jwt`. */
  readonly keyFile?: string | undefined;
  readonly keyId?: string | undefined;
  readonly algorithm?: string | undefined;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint?: string | undefined;
  /** The user has named the issuer, so that it may be in a private network. */
  readonly isNamed?: boolean | undefined;
  readonly accessToken?: string | undefined;
  readonly refreshToken?: string | undefined;
  /** Epoch milliseconds; undefined where nothing is known. */
  readonly expiresAt?: number | undefined;
  /** What was asked for, or given. */
  readonly scope?: string | undefined;
  /** What calls needed besides. */
  readonly wants?: string | undefined;
  /** Why it can't be renewed: a code. */
  readonly ended?: string | undefined;
}

/** What people see of a sign-in. */
export interface SignInView {
  readonly state: 'signed-in' | 'expired' | 'ended' | 'needed';
  readonly grant: Grant;
  readonly issuer: string | null;
  readonly scope: string | null;
  /** When the token ends; a sign-in that renews itself goes on then. */
  readonly expiresAt: string | null;
}

/** Fields of the secrets of a server. */
export const CLIENT_SECRET = 'client_secret';
export const CLIENT_KEY = 'client_key';
/** Beside the issuers: no address has this form. */
const BEGUN = 'begun';
const GRANTS: ReadonlySet<unknown> = new Set(['client_credentials', 'authorization_code']);
const METHODS: ReadonlySet<unknown> = new Set(['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt']);

/** The sign-in of a server (one-place); undefined for none, and for one that is not as we write it. */
export function recordOf(credentials: CredentialStore, place: SignInPlace): SignInRecord | undefined {
  return recordsOf(credentials, place.name).find((one) => isFor(one, place));
}

/** one-place. */
export function isFor({ url, grant, method, issuer, clientId }: SignInRecord, { url: own, oauth }: SignInPlace): boolean {
  if (url !== own) return false;
  if (oauth === undefined) return grant === 'authorization_code';
  if ((method === 'private_key_jwt') !== (oauth.method === 'private_key_jwt')) return false;
  return grant === oauth.grant && [undefined, issuer].includes(oauth.issuer) && [undefined, clientId].includes(oauth.clientId);
}

/** The secret of the client of a server, or its key, which the user has stored. */
export function clientSecret(credentials: CredentialStore, server: string, field = CLIENT_SECRET): string | undefined {
  const secrets = credentials.serverSecrets(server);
  return Object.hasOwn(secrets, field) ? secrets[field] : undefined;
}

/** own-secret. */
export function hasItsSecret(
  credentials: CredentialStore,
  { name, oauth }: SignInPlace,
  { issuer, method, clientSecret: own, secretHash }: SignInRecord,
): boolean {
  if (method === 'none' || method === 'private_key_jwt' || own !== undefined || oauth?.issuer === issuer) return true;
  const secret = clientSecret(credentials, name);
  return secret !== undefined && sha256(secret) === secretHash;
}

/** The secret of the client of a sign-in; undefined for one without. Throws a SignInFault where it has another one by now (own-secret). */
export function secretFor(credentials: CredentialStore, place: SignInPlace, record: SignInRecord): string | undefined {
  const { method, clientSecret: own } = record;
  if (!hasItsSecret(credentials, place, record))
    throw new SignInFault(`its sign-in was made with another secret than the one that is stored now; sign in again: \`blockhouse tools login ${place.name}\``);
  return method === 'none' || method === 'private_key_jwt' ? undefined : (own ?? clientSecret(credentials, place.name));
}

/** The stored secret that a sign-in needs; undefined for none. */
export function neededSecret(oauth: Readonly<Record<string, unknown>> | undefined): string | undefined {
  if (oauth?.['method'] === 'private_key_jwt') return oauth['keyFile'] === undefined ? CLIENT_KEY : undefined;
  return oauth?.['grant'] === 'client_credentials' ? CLIENT_SECRET : undefined;
}

/** All sign-ins of a server, also those that count for none of its present settings. */
export function recordsOf(credentials: CredentialStore, server: string): readonly SignInRecord[] {
  return Object.entries(credentials.signIns(server)).flatMap(([issuer, raw]) => parsed(issuer, raw));
}

/** Keeps the only sign-in of a server; undefined forgets it. One that has begun stays. */
export async function keepRecord(credentials: CredentialStore, server: string, record: SignInRecord | undefined): Promise<void> {
  const begun = credentials.signIns(server)[BEGUN];
  const { issuer, ...rest } = record ?? { issuer: undefined };
  await credentials.setSignIns(server, { ...(issuer !== undefined && { [issuer]: rest }), ...(begun !== undefined && { [BEGUN]: begun }) });
}

/** Forgets what a program has got for itself. */
export async function forgetProgram(credentials: CredentialStore, server: string): Promise<void> {
  if (recordsOf(credentials, server).some(({ grant }) => grant === 'client_credentials')) await keepRecord(credentials, server, undefined);
}

/** A sign-in that waits for the answer of a browser. It is in auth.json, so that any process of the workspace can finish it. */
export interface BegunSignIn {
  /** sha256 of what the answer must name. */
  readonly stateHash: string;
  /** Proves that who has begun finishes it (PKCE). */
  readonly codeSecret: string;
  readonly redirectURI: string;
  /** Epoch milliseconds. */
  readonly endsAt: number;
  /** The answer must name its issuer (RFC 9207). */
  readonly namesIssuer: boolean;
  /** What it becomes. */
  readonly record: SignInRecord;
}

/** The sign-in that has begun; undefined for none. */
export function begunOf(credentials: CredentialStore, server: string): BegunSignIn | undefined {
  const raw = credentials.signIns(server)[BEGUN];
  if (!isObject(raw) || !isObject(raw['record'])) return undefined;
  const { stateHash, codeSecret, redirectURI, endsAt, namesIssuer } = raw;
  const [record] = parsed(String(raw['record']['issuer']), raw['record']);
  if (typeof stateHash !== 'string' || typeof codeSecret !== 'string' || typeof redirectURI !== 'string' || typeof endsAt !== 'number') return undefined;
  return record && { stateHash, codeSecret, redirectURI, endsAt, namesIssuer: namesIssuer === true, record };
}

/** Remembers a sign-in that begins, in place of an earlier one; undefined forgets it. */
export async function keepBegun(credentials: CredentialStore, server: string, begun: BegunSignIn | undefined): Promise<void> {
  const { [BEGUN]: _old, ...records } = credentials.signIns(server);
  await credentials.setSignIns(server, { ...records, ...(begun !== undefined && { [BEGUN]: begun }) });
}

/** True for a token that can be used for half a minute or longer. */
export function isFresh({ accessToken, expiresAt, ended }: SignInRecord, now: number): boolean {
  return accessToken !== undefined && ended === undefined && (expiresAt === undefined || expiresAt - now > 30_000);
}

/** True if it goes on without a person. */
export function renewsItself({ grant, refreshToken, ended }: SignInRecord): boolean {
  return ended === undefined && (grant === 'client_credentials' || refreshToken !== undefined);
}

/** What people see; undefined for a server that has no sign-in and needs none that is known. */
export function viewOf(record: SignInRecord | undefined, oauth: OAuthSettings | undefined, now: number): SignInView | undefined {
  if (record === undefined) {
    if (oauth === undefined) return undefined;
    const state = oauth.grant === 'client_credentials' ? 'signed-in' : 'needed'; // a program signs in with the first call
    return { state, grant: oauth.grant, issuer: oauth.issuer ?? null, scope: oauth.scope ?? null, expiresAt: null };
  }
  const { grant, issuer, scope, expiresAt, ended } = record;
  const isOver = expiresAt !== undefined && expiresAt <= now && !renewsItself(record);
  const state = ended !== undefined ? 'ended' : isOver ? 'expired' : 'signed-in';
  return { state, grant, issuer, scope: scope ?? null, expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString() };
}

/** Why a server can't be called before a person has done something: as a fault of its entry. */
export function signInFault(name: string, record: SignInRecord | undefined, oauth: OAuthSettings | undefined, now: number): string | undefined {
  const state = viewOf(record, oauth, now)?.state;
  if (state === undefined || state === 'signed-in') return undefined;
  if (state === 'needed') return `nobody has signed in to it; sign in: \`blockhouse tools login ${name}\``;
  const why = state === 'expired' ? 'its sign-in has expired' : `its sign-in has ended (${record?.ended})`;
  return `${why}; sign in again: \`blockhouse tools login ${name}\``;
}

function parsed(issuer: string, raw: unknown): SignInRecord[] {
  if (!isObject(raw) || urlOf(issuer) === undefined) return [];
  const { grant, method, expiresAt, isNamed } = raw;
  const text = (name: string): string | undefined => (typeof raw[name] === 'string' ? raw[name] : undefined);
  const [url, resource, clientId, tokenEndpoint] = ['url', 'resource', 'clientId', 'tokenEndpoint'].map(text);
  if (url === undefined || resource === undefined || clientId === undefined || tokenEndpoint === undefined) return [];
  if (!GRANTS.has(grant) || !METHODS.has(method)) return [];
  return [
    {
      issuer,
      url,
      resource,
      grant: grant as Grant,
      clientId,
      clientSecret: text('clientSecret'),
      secretHash: text('secretHash'),
      method: method as AuthMethod,
      keyFile: text('keyFile'),
      keyId: text('keyId'),
      algorithm: text('algorithm'),
      tokenEndpoint,
      revocationEndpoint: text('revocationEndpoint'),
      isNamed: isNamed === true || undefined,
      accessToken: text('accessToken'),
      refreshToken: text('refreshToken'),
      expiresAt: typeof expiresAt === 'number' ? expiresAt : undefined,
      scope: text('scope'),
      wants: text('wants'),
      ended: text('ended'),
    },
  ];
}
