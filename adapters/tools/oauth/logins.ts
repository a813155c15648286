// Signs a person in to a server of tools: what a browser opens, and what becomes of its answer (authorization code with PKCE).
//
// one-answer: an answer counts once, for the sign-in that it was asked for (state), and only from the issuer that was asked (RFC 9207), before anything else of it is looked at.
// own-redirect: where nobody has named the issuer, and answers do not name it either, the browser comes back to an address that no other issuer has (RFC 9700, 4.4.2.2). An evil issuer
//   could else send the person on to an honest one, and get the code of that.
// in-turn: what is kept of a server is changed by one at a time, from the look at it to the write. So a person who signs out while an answer is being taken, or a token renewed, has
//   none afterwards, and no token that was just given is lost.
// own-secret: a stored secret of a client is used only where the user has named the issuer, and never for a sign-in that was made with other settings of the server, or with another secret.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { timeLimit } from '../../../core/base/abort.ts';
import { type Challenge, joinedScopes, scopeOf } from './challenge.ts';
import { type Authority, discovered, namedBy } from './discovery.ts';
import { SignInFault } from './places.ts';
import {
  type BegunSignIn,
  begunOf,
  clientSecret,
  hasItsSecret,
  isFor,
  keepBegun,
  keepRecord,
  recordOf,
  recordsOf,
  secretFor,
  type SignInPlace,
  type SignInRecord,
} from './records.ts';
import type { Named } from './sign-in-http.ts';
import type { SignIns } from './sign-ins.ts';
import { type AuthMethod, authMethodFor, RefusedGrant, revoked, tokensFor } from './token-request.ts';

/** The parameter of a redirect that is of one issuer. */
const REDIRECT_OF = 'as';
const LIFETIME_MS = 600_000;
/** Of giving one token back. */
const REVOKE_MS = 5000;

/** What the user has chosen. */
export interface LoginChoice {
  readonly redirectURI: string;
  readonly clientId?: string | undefined;
  readonly issuer?: string | undefined;
  readonly scope?: string | undefined;
}

/** A sign-in that has begun. */
export interface Begun {
  readonly url: string | null;
  readonly issuer: string;
  readonly expiresAt: string | null;
}

/** An answer that belongs to no sign-in that has begun. */
export class StrangeAnswer extends Error {}

interface ClientAt extends Pick<SignInRecord, 'keyFile' | 'keyId' | 'algorithm' | 'secretHash'> {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly method: AuthMethod;
}

/**
 * one-place: where nobody has named the issuer, and answers do not name it either (RFC 9207), one origin must have all of it. Else the metadata of an evil server could
 * lead the person to an honest place, and its code to the evil one (mix-up).
 */
export function assertOnePlace({
  issuer,
  authorizationEndpoint,
  registrationEndpoint,
  tokenEndpoint,
  namesIssuer,
}: Pick<Authority, 'issuer' | 'authorizationEndpoint' | 'registrationEndpoint' | 'tokenEndpoint' | 'namesIssuer'>): void {
  const origins = new Set([authorizationEndpoint, registrationEndpoint, tokenEndpoint].flatMap((url) => (url === undefined ? [] : [new URL(url).origin])));
  if (namesIssuer || origins.size === 1) return;
  throw new SignInFault(
    `its authorization server has its parts at several places (${[...origins].join(', ')}), and does not say in its answers that they are its own; if you know that it is yours, name it: \`--issuer ${issuer}\``,
  );
}

/** own-redirect. `isNamed`: by the user. */
export function redirectFor(redirectURI: string, { issuer, namesIssuer }: Pick<Authority, 'issuer' | 'namesIssuer'>, isNamed: boolean): string {
  return isNamed || namesIssuer ? redirectURI : `${redirectURI}?${REDIRECT_OF}=${hashOf(issuer).slice(0, 32)}`;
}

/** A server of the internet must not lead the browser of a person to something on their machine. */
function assertMayOpen({ origin, protocol }: URL, named: Named): void {
  if (protocol === 'https:' || named.has(origin)) return;
  throw new SignInFault(`its sign-in would open ${origin}, which is on this machine, and not where its authorization server is`);
}

/** Begins to sign in. Rejects with a SignInFault. */
export async function beginLogin(signIns: SignIns, place: SignInPlace, choice: LoginChoice, signal: AbortSignal): Promise<Begun> {
  const { http, credentials } = signIns;
  const issuer = oneOf('issuer', choice.issuer, place.oauth?.issuer);
  const known = recordOf(credentials, place);
  const challenge = await challengeOf(signIns, place.url, signal);
  const authority = await discovered(http, { url: place.url, issuer, metadata: challenge?.metadata, secrets: place.secrets }, signal);
  if (authority.authorizationEndpoint === undefined || !authority.hasS256)
    throw new SignInFault('its authorization server has no safe way for a person to sign in (an authorization code with PKCE, S256)');
  if (issuer === undefined) assertOnePlace(authority);
  const named = namedBy({ url: place.url, issuer });
  assertMayOpen(new URL(authority.authorizationEndpoint), named);
  const redirectURI = redirectFor(choice.redirectURI, authority, issuer !== undefined);
  const client = await clientFor(signIns, place, { ...choice, redirectURI }, { authority, issuer, named, signal });
  const asked = choice.scope ?? place.oauth?.scope ?? challenge?.scope ?? authority.scope;
  const scope = joinedScopes(scopeOf(asked), known?.wants, authority.offersOfflineAccess ? 'offline_access' : undefined);
  const [state, codeSecret] = [randomText(), randomText()];
  const endsAt = signIns.clock() + LIFETIME_MS;
  const { resource, tokenEndpoint, revocationEndpoint, namesIssuer } = authority;
  const isNamed = issuer === undefined ? undefined : true;
  const record: SignInRecord = {
    issuer: authority.issuer,
    url: place.url,
    resource,
    grant: 'authorization_code',
    ...client,
    tokenEndpoint,
    revocationEndpoint,
    isNamed,
    scope,
  };
  const begun = { stateHash: hashOf(state), codeSecret, redirectURI, endsAt, namesIssuer, record };
  await signIns.inTurn(place.name, async () => {
    credentials.refresh(true);
    await keepBegun(credentials, place.name, begun); // in-turn
  });
  const url = new URL(authority.authorizationEndpoint);
  const query = {
    response_type: 'code',
    client_id: client.clientId,
    code_challenge: createHash('sha256').update(codeSecret).digest('base64url'),
    code_challenge_method: 'S256',
    redirect_uri: redirectURI,
    state,
    scope,
    prompt: scope?.split(' ').includes('offline_access') === true ? 'consent' : undefined, // OpenID Connect: without it, no refresh token
    resource,
  };
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  return { url: url.href, issuer: authority.issuer, expiresAt: new Date(endsAt).toISOString() };
}

/** Of these servers the one whose sign-in has begun with the state of the answer, and leads back to `redirectURI`. Anybody may ask, so nothing is read for it. Throws a StrangeAnswer. */
export function askedBy({ credentials }: SignIns, servers: readonly string[], query: string, redirectURI: string): string {
  const hash = hashOf(new URLSearchParams(query).get('state') ?? '');
  const found = servers.find((server) => {
    const begun = begunOf(credentials, server);
    return begun !== undefined && begun.redirectURI.split('?')[0] === redirectURI && isSame(begun.stateHash, hash);
  });
  if (found === undefined) throw new StrangeAnswer(STRANGE);
  return found;
}

const STRANGE = 'is no answer to a sign-in that has begun; begin it again';

/** Takes what the browser has brought. Rejects with a StrangeAnswer, or with a SignInFault. */
export function finishLogin(signIns: SignIns, place: SignInPlace, query: string, signal: AbortSignal): Promise<void> {
  return signIns.inTurn(place.name, () => finish(signIns, place, query, signal)); // in-turn
}

async function finish(signIns: SignIns, place: SignInPlace, query: string, signal: AbortSignal): Promise<void> {
  const { http, credentials } = signIns;
  const answer = new URLSearchParams(query);
  const one = (name: string): string | undefined => (answer.getAll(name).length === 1 ? (answer.get(name) ?? undefined) : undefined);
  credentials.refresh(true);
  const begun = begunOf(credentials, place.name);
  if (begun === undefined || !isSame(begun.stateHash, hashOf(one('state') ?? ''))) throw new StrangeAnswer(STRANGE);
  await keepBegun(credentials, place.name, undefined); // one-answer
  if (begun.endsAt < signIns.clock()) throw new StrangeAnswer('came too late; begin again');
  const { record, codeSecret, redirectURI } = begun;
  if (record.url !== place.url) throw new StrangeAnswer('is for another address of the server; begin again');
  if (!isFor(record, place)) throw new StrangeAnswer('is for other settings of the server; begin again'); // own-secret
  assertIssuer(begun, answer);
  const error = one('error');
  if (error !== undefined) throw new RefusedGrant(/^[a-z_]{1,40}$/.test(error) ? error : 'error', 200);
  const code = one('code');
  if (code === undefined) throw new SignInFault('its authorization server has given no code');
  const assertion = await signIns.assertionFor(place.name, record);
  const client = { clientId: record.clientId, secret: secretFor(credentials, place, record), assertion };
  const named = namedBy({ url: place.url, issuer: record.isNamed === true ? record.issuer : undefined });
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectURI, code_verifier: codeSecret, resource: record.resource };
  const tokens = await tokensFor(http, { endpoint: record.tokenEndpoint, method: record.method, client, named }, form, signal);
  await keepRecord(credentials, place.name, { ...record, ...signIns.kept(tokens, record.scope) });
}

/** Gives all tokens of a server back, and forgets them and what has begun. `place`: as its settings are; undefined for none. Resolves with what was not possible of the first. */
export async function logout(signIns: SignIns, server: string, place: SignInPlace | undefined): Promise<string | undefined> {
  const { credentials } = signIns;
  const records = await signIns.inTurn(server, async () => {
    credentials.refresh(true);
    const all = recordsOf(credentials, server);
    await credentials.setSignIns(server, {}); // in-turn
    return all;
  });
  const left = await Promise.all(records.map((record) => givenBack(signIns, server, record, place)));
  return left.find((why) => why !== undefined);
}

/** `place`: as its settings are; undefined for none. */
async function givenBack(signIns: SignIns, server: string, record: SignInRecord, place: SignInPlace | undefined): Promise<string | undefined> {
  const { revocationEndpoint: endpoint, method, clientId, clientSecret: own, refreshToken, accessToken, issuer, isNamed } = record;
  if (endpoint === undefined) return accessToken === undefined ? undefined : 'Their authorization server takes none back, so they hold until they end.';
  const at = place !== undefined && isFor(record, place) ? place : undefined;
  const isProven = at === undefined ? own !== undefined || method === 'none' : hasItsSecret(signIns.credentials, at, record); // own-secret
  if (!isProven) return 'They could not be given back: its client has another secret by now.';
  const client = { clientId, secret: secretFor(signIns.credentials, at ?? { name: server, url: record.url }, record) };
  const named = namedBy({ url: record.url, issuer: isNamed === true ? issuer : undefined });
  let assertion: (() => string) | undefined;
  const give = async (token: string | undefined, kind: 'access_token' | 'refresh_token'): Promise<void> => {
    if (token !== undefined)
      await revoked(
        signIns.http,
        { endpoint, method, client: { ...client, assertion }, named },
        token,
        kind,
        AbortSignal.any([signIns.signal, timeLimit(REVOKE_MS)]),
      );
  };
  try {
    assertion = await signIns.assertionFor(server, record);
    await give(refreshToken, 'refresh_token');
    await give(accessToken, 'access_token');
    return undefined;
  } catch (error) {
    if (error instanceof SignInFault) return `They could not be given back: ${error.message}.`;
    throw error;
  }
}

/** What the server says to a request without a token. */
async function challengeOf({ http }: SignIns, url: string, signal: AbortSignal): Promise<Challenge | undefined> {
  const { status, challenge } = await http.post(new URL(url), { jsonrpc: '2.0', id: 1, method: 'ping' }, {}, namedBy({ url }), signal);
  return status === 401 ? challenge : undefined;
}

/** own-redirect: a client of the user has the redirect that it was registered with. */
export function assertOneClient({ issuer, namesIssuer }: Pick<Authority, 'issuer' | 'namesIssuer'>, isNamed: boolean): void {
  if (isNamed || namesIssuer) return;
  throw new SignInFault(
    `its authorization server does not say in its answers that they are its own, so a client of yours needs its name besides: \`--issuer ${issuer}\`, if you know that it is yours`,
  );
}

interface ClientSearch {
  readonly authority: Authority;
  readonly issuer: string | undefined;
  readonly named: Named;
  readonly signal: AbortSignal;
}

/** A client that the user has registered, one that has a document, or one that is registered now. */
async function clientFor(signIns: SignIns, place: SignInPlace, choice: LoginChoice, { authority, issuer, named, signal }: ClientSearch): Promise<ClientAt> {
  const clientId = oneOf('client id', choice.clientId, place.oauth?.clientId);
  if (clientId !== undefined) assertOneClient(authority, issuer !== undefined);
  if (clientId?.startsWith('https://') === true) {
    if (!authority.takesClientDocuments) throw new SignInFault('its authorization server takes no address of a document as the id of a client');
    return { clientId, method: 'none' };
  }
  if (place.oauth?.method === 'private_key_jwt') return (await signIns.proof(place.name, place.oauth))(authority).known;
  if (clientId !== undefined) {
    const secret = clientSecret(signIns.credentials, place.name);
    if (secret !== undefined && issuer === undefined)
      throw new SignInFault(
        `its client has a secret, which goes to nobody that you have not named; name the issuer (${authority.issuer}, if that is the right one)`,
      ); // own-secret
    return { clientId, method: authMethodFor(secret !== undefined, authority.authMethods), secretHash: secret && hashOf(secret) };
  }
  if (authority.registrationEndpoint === undefined)
    throw new SignInFault(
      `its authorization server registers no client by itself; register one there, with the redirect http://127.0.0.1/callback, and give its id: \`blockhouse tools login ${place.name} --client-id <text>${authority.namesIssuer ? '' : ` --issuer ${authority.issuer}`}\``,
    );
  return registered(signIns, authority.registrationEndpoint, choice.redirectURI, named, signal);
}

/** RFC 7591, for authorization servers that know neither documents nor a client of the user. */
async function registered({ http }: SignIns, endpoint: string, redirectURI: string, named: Named, signal: AbortSignal): Promise<ClientAt> {
  const wanted = {
    client_name: 'Blockhouse',
    application_type: 'native',
    redirect_uris: [redirectURI],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  const { status, body } = await http.post(new URL(endpoint), wanted, {}, named, signal);
  const { client_id: clientId, client_secret: secret, token_endpoint_auth_method: method } = body ?? {};
  if ((status !== 200 && status !== 201) || typeof clientId !== 'string' || !/^[\x20-\x7e]{1,2048}$/.test(clientId))
    throw new SignInFault(`its authorization server has registered no client (HTTP ${status}); register one there, and give its id`);
  if (typeof secret !== 'string' || secret === '' || method === 'none') return { clientId, method: 'none' };
  return { clientId, clientSecret: secret, method: authMethodFor(true, typeof method === 'string' ? [method] : undefined) };
}

/** one-answer: before an error or a code is looked at. */
function assertIssuer({ record, namesIssuer, redirectURI }: BegunSignIn, answer: URLSearchParams): void {
  const [said, place] = [answer.getAll('iss'), answer.getAll(REDIRECT_OF)];
  const [iss] = said;
  const own = new URL(redirectURI).searchParams.get(REDIRECT_OF);
  const isElsewhere = own !== null && (place.length !== 1 || place[0] !== own); // own-redirect
  if (isElsewhere || said.length > 1 || (iss === undefined ? namesIssuer : iss !== record.issuer))
    throw new SignInFault('the answer is not from the authorization server that was asked, so nothing of it was used');
}

function oneOf(what: string, chosen: string | undefined, written: string | undefined): string | undefined {
  if (chosen !== undefined && written !== undefined && chosen !== written) throw new SignInFault(`mcp.json names another ${what} for it; change it there`);
  return chosen ?? written;
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
