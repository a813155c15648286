// Asks an authorization server for tokens, and gives them back.
//
// no-words: of a refusal only its code is passed on, because the rest is a text that somebody else has written, and could quote a secret.
import type { Named, SignInHttp } from './sign-in-http.ts';
import { scopeOf } from './challenge.ts';
import { SignInFault } from './places.ts';

/** A client as the authorization server knows it. */
export interface Client {
  readonly clientId: string;
  /** Undefined for a client that has none, such as a program on a person's machine. */
  readonly secret: string | undefined;
  /** What it has signed, for one request. */
  readonly assertion?: (() => string) | undefined;
}

/** How a client proves who it is. */
export type AuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

/** What was given. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** Milliseconds; undefined where nothing is said. */
  readonly lifeMs: number | undefined;
  readonly scope: string | undefined;
}

/** Where tokens are asked for, and by whom. */
export interface TokenPlace {
  readonly endpoint: string;
  readonly method: AuthMethod;
  readonly client: Client;
  readonly named: Named;
}

/** A refusal by the authorization server. */
export class RefusedGrant extends SignInFault {
  /** A code of RFC 6749 (5.2), such as `invalid_grant`. */
  readonly code: string;

  constructor(code: string, status: number) {
    super(`its authorization server has refused (${code === '' ? `HTTP ${status}` : code})${HINTS[code] ?? ''}`);
    this.code = code;
  }
}

const HINTS: Readonly<Record<string, string>> = {
  invalid_client: ': the id, the secret or the key of the client is not accepted',
  unauthorized_client: ': this client may not sign in so',
  invalid_scope: ': a scope is not known, or not allowed for this client',
  invalid_target: ': it does not know the address of the server of tools',
  access_denied: ': somebody has said no',
};

/** RFC 6750: what a header can hold. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
const MAX_TOKEN = 16_384;
const MAX_LIFE_S = 10 * 365 * 86_400;

/** How a client of this kind proves who it is there. Throws a SignInFault where it can't. */
export function authMethodFor(hasSecret: boolean, supported: readonly string[] | undefined): AuthMethod {
  if (!hasSecret) return 'none';
  if (supported === undefined || supported.includes('client_secret_basic')) return 'client_secret_basic'; // RFC 8414: its default
  if (supported.includes('client_secret_post')) return 'client_secret_post';
  throw new SignInFault('its authorization server takes no secret of a client as Blockhouse sends it (client_secret_basic, client_secret_post)');
}

/** Rejects with a SignInFault; with a RefusedGrant if the authorization server says no. */
export async function tokensFor(
  http: SignInHttp,
  place: TokenPlace,
  grant: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Tokens> {
  const { form, headers } = proven(place, grant);
  const { status, body } = await http.post(new URL(place.endpoint), form, headers, place.named, signal);
  if (status !== 200) throw new RefusedGrant(codeIn(body?.['error']), status);
  const { access_token: accessToken, token_type: type, refresh_token: refreshToken, expires_in: seconds, scope } = body ?? {};
  if (!isToken(accessToken) || typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    throw new SignInFault('its authorization server has answered with no token that can be used (Bearer)');
  const life = typeof seconds === 'string' ? Number(seconds) : seconds;
  return {
    accessToken,
    refreshToken: isToken(refreshToken) || isOpaque(refreshToken) ? refreshToken : undefined,
    lifeMs: typeof life === 'number' && life >= 0 ? Math.min(life, MAX_LIFE_S) * 1000 : undefined,
    scope: scopeOf(scope),
  };
}

/** Gives a token back (RFC 7009). Rejects with a SignInFault. */
export async function revoked(http: SignInHttp, place: TokenPlace, token: string, kind: 'access_token' | 'refresh_token', signal: AbortSignal): Promise<void> {
  const { form, headers } = proven(place, { token, token_type_hint: kind });
  const { status, body } = await http.post(new URL(place.endpoint), form, headers, place.named, signal);
  if (status !== 200) throw new RefusedGrant(codeIn(body?.['error']), status);
}

function proven(
  { method, client }: TokenPlace,
  grant: Readonly<Record<string, string | undefined>>,
): { form: URLSearchParams; headers: Record<string, string> } {
  const form = new URLSearchParams(Object.entries(grant).filter((one): one is [string, string] => one[1] !== undefined));
  const { clientId, secret = '', assertion } = client;
  if (method === 'private_key_jwt') {
    // RFC 7523: the client is the subject of the assertion, so nothing else names it.
    form.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
    form.set('client_assertion', assertion?.() ?? '');
    return { form, headers: {} };
  }
  if (method === 'client_secret_basic')
    return { form, headers: { authorization: `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(secret)}`).toString('base64')}` } };
  form.set('client_id', clientId);
  if (method === 'client_secret_post') form.set('client_secret', secret);
  return { form, headers: {} };
}

/** RFC 6749 (2.3.1): both are form-encoded first. */
function encoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TOKEN && TOKEN.test(value);
}

/** A refresh token stands in no header: any visible characters. */
function isOpaque(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TOKEN && /^[\x20-\x7e]+$/.test(value);
}

/** no-words. */
function codeIn(value: unknown): string {
  return typeof value === 'string' && /^[a-z_]{1,40}$/.test(value) ? value : '';
}
