// Finds out who signs in for a server of tools, and where: the metadata of the resource (RFC 9728) and of its authorization server (RFC 8414, OpenID Connect Discovery).
//
// own-issuer: metadata count only if they name the issuer that they were looked for at, letter by letter.
// own-address: the authorization server and the browser read what a token is asked for, so it holds no secret of the address of the server.
// named-issuer: where the user has named an issuer, no other one is taken, whatever the server says.
import { redact } from '../../../core/base/redact.ts';
import { joinedScopes, scopeOf } from './challenge.ts';
import { checkedEndpoint, checkedIssuer, covers, issuerMetadataUrls, resourceMetadataUrls, resourceOf, SignInFault } from './places.ts';
import type { Named, SignInHttp } from './sign-in-http.ts';

/** What is known before anything is asked. */
export interface Wanted {
  /** The address of the server of tools. */
  readonly url: string;
  /** The issuer that the user has named. */
  readonly issuer?: string | undefined;
  /** Where the server has said that its metadata are. */
  readonly metadata?: string | undefined;
  /** What nobody but the server may get. */
  readonly secrets?: readonly string[] | undefined;
}

/** Who signs in, and how. */
export interface Authority {
  readonly issuer: string;
  /** What tokens are asked for. */
  readonly resource: string;
  /** What the server says that its tools need. */
  readonly scope: string | undefined;
  readonly tokenEndpoint: string;
  readonly authorizationEndpoint: string | undefined;
  readonly registrationEndpoint: string | undefined;
  readonly revocationEndpoint: string | undefined;
  /** How a client proves who it is; undefined where the metadata do not say it. */
  readonly authMethods: readonly string[] | undefined;
  /** With what a client may sign; undefined where the metadata do not say it. */
  readonly authAlgorithms: readonly string[] | undefined;
  readonly grants: readonly string[] | undefined;
  readonly hasS256: boolean;
  readonly takesClientDocuments: boolean;
  /** Answers to the browser name the issuer (RFC 9207). */
  readonly namesIssuer: boolean;
  readonly offersOfflineAccess: boolean;
}

/** The origins that the user has named: that of the server, and that of an issuer. */
export function namedBy({ url, issuer }: Pick<Wanted, 'url' | 'issuer'>): Named {
  return new Set([new URL(url).origin, ...(issuer === undefined ? [] : [new URL(issuer).origin])]);
}

interface Resource {
  readonly issuers: readonly string[];
  readonly resource: string;
  readonly scope: string | undefined;
}

/** Rejects with a SignInFault. */
export async function discovered(http: SignInHttp, wanted: Wanted, signal: AbortSignal): Promise<Authority> {
  if (wanted.issuer !== undefined) checkedIssuer(wanted.issuer);
  const named = namedBy(wanted);
  const { issuers, resource, scope } = (await resourceMetadata(http, wanted, named, signal)) ?? withoutMetadata(wanted);
  assertNoSecret(resource, wanted.secrets);
  const issuer = chosenIssuer(issuers, wanted.issuer);
  const document = await issuerMetadata(http, issuer, named, signal);
  const optional = (field: string): string | undefined => (document[field] === undefined ? undefined : checkedEndpoint(field, document[field]));
  return {
    issuer,
    resource,
    scope,
    tokenEndpoint: checkedEndpoint('token_endpoint', document['token_endpoint']),
    authorizationEndpoint: optional('authorization_endpoint'),
    registrationEndpoint: optional('registration_endpoint'),
    revocationEndpoint: optional('revocation_endpoint'),
    authMethods: textsOf(document['token_endpoint_auth_methods_supported']),
    authAlgorithms: textsOf(document['token_endpoint_auth_signing_alg_values_supported']),
    grants: textsOf(document['grant_types_supported']),
    hasS256: textsOf(document['code_challenge_methods_supported'])?.includes('S256') === true,
    takesClientDocuments: document['client_id_metadata_document_supported'] === true,
    namesIssuer: document['authorization_response_iss_parameter_supported'] === true,
    offersOfflineAccess: textsOf(document['scopes_supported'])?.includes('offline_access') === true,
  };
}

/** A server without metadata can only be signed in to where the user has named the issuer. */
function withoutMetadata({ url, issuer }: Wanted): Resource {
  if (issuer === undefined)
    throw new SignInFault('its server does not say who signs in for it (no metadata of a protected resource); name the issuer, or give a token as a header');
  return { issuers: [issuer], resource: resourceOf(url), scope: undefined };
}

/** own-address. */
function assertNoSecret(resource: string, secrets: readonly string[] = []): void {
  if (redact(resource, secrets) !== resource)
    throw new SignInFault('its address has a secret in it, which its authorization server would get; give the secret as a header');
}

/** named-issuer. */
function chosenIssuer(issuers: readonly string[], named: string | undefined): string {
  if (named === undefined) return checkedIssuer(issuers[0]);
  if (!issuers.includes(named))
    throw new SignInFault(
      `its server does not name ${named} as its authorization server, so nothing was sent there; look at what changed, and name the issuer again`,
    );
  return named;
}

/** Undefined where there are none. */
async function resourceMetadata(http: SignInHttp, { url, metadata }: Wanted, named: Named, signal: AbortSignal): Promise<Resource | undefined> {
  const places = metadata === undefined ? resourceMetadataUrls(url) : [new URL(checkedEndpoint('resource_metadata', metadata))];
  for (const place of places) {
    const { status, body } = await http.get(place, named, signal);
    if (status >= 500) throw new SignInFault(`the metadata of its server can't be read (HTTP ${status})`);
    if (status !== 200 || body === undefined) continue;
    const { resource } = body;
    if (typeof resource !== 'string' || !covers(resource, url)) throw new SignInFault('the metadata of its server are those of another resource');
    const issuers = textsOf(body['authorization_servers']) ?? [];
    if (issuers.length === 0) throw new SignInFault('the metadata of its server name no authorization server');
    return { issuers, resource, scope: joinedScopes(...(textsOf(body['scopes_supported']) ?? []).map(scopeOf)) };
  }
  return undefined;
}

/** own-issuer. */
async function issuerMetadata(http: SignInHttp, issuer: string, named: Named, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
  for (const place of issuerMetadataUrls(issuer)) {
    const { status, body } = await http.get(place, named, signal);
    if (status >= 500) throw new SignInFault(`the metadata of ${new URL(issuer).origin} can't be read (HTTP ${status})`);
    if (status !== 200 || body === undefined) continue;
    if (body['issuer'] !== issuer) throw new SignInFault(`the metadata of ${new URL(issuer).origin} are those of another issuer`);
    return body;
  }
  throw new SignInFault(`${new URL(issuer).origin} has no metadata of an authorization server`);
}

function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.slice(0, 1000).filter((one): one is string => typeof one === 'string') : undefined;
}
