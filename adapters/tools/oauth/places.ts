// Where metadata lie, and what may stand in them as an address. Pure: no I/O.
import { urlOf } from '../../../core/base/url.ts';
import { isLoopbackHost } from '../../../core/index.ts';

/** Why something of a sign-in can't go on: a part of a sentence, without a full stop. It never quotes what a server has written. */
export class SignInFault extends Error {}

/** What identifies a server of tools at its authorization server (RFC 8707): its address without a fragment. */
export function resourceOf(url: string): string {
  const address = new URL(url);
  address.hash = '';
  return address.pathname === '/' && address.search === '' ? address.origin : address.href;
}

/** Where the metadata of a resource may lie where its server does not say it (RFC 9728). */
export function resourceMetadataUrls(url: string): readonly URL[] {
  const { origin, pathname, search } = new URL(url);
  const path = pathname.replace(/\/$/, '');
  const root = new URL('/.well-known/oauth-protected-resource', origin);
  return path === '' ? [root] : [new URL(`/.well-known/oauth-protected-resource${path}${search}`, origin), root];
}

/** Where the metadata of an issuer may lie, in this order (RFC 8414, OpenID Connect Discovery). */
export function issuerMetadataUrls(issuer: string): readonly URL[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const inserted = ['oauth-authorization-server', 'openid-configuration'].map((name) => new URL(`/.well-known/${name}${path}`, origin));
  return path === '' ? inserted : [...inserted, new URL(`${path}/.well-known/openid-configuration`, origin)];
}

/** What an issuer is written with. A server names it, and it may stand in a command that a person copies, so it has no sign that a shell obeys. */
const ISSUER = /^[\w.~:/%@+=,[\]-]{1,2048}$/;

/** An issuer as the specification has it: an address with neither query nor fragment. Throws a SignInFault. */
export function checkedIssuer(issuer: unknown): string {
  const url = typeof issuer === 'string' && ISSUER.test(issuer) ? urlOf(issuer) : undefined;
  if (typeof issuer !== 'string' || url === undefined || !isSecure(url)) throw new SignInFault('its authorization server is named by no https address');
  return issuer;
}

/** An address in metadata. Throws a SignInFault that names the field. */
export function checkedEndpoint(field: string, value: unknown): string {
  const url = typeof value === 'string' && value.length <= 2048 ? urlOf(value) : undefined;
  if (url === undefined || url.hash !== '' || !isSecure(url)) throw new SignInFault(`${field} of its authorization server is no https address`);
  return url.href;
}

/** https, or http on this machine. Where somebody else than the user has chosen it, `SignInHttp` lets it lead to no private network. */
function isSecure({ protocol, hostname, username, password }: URL): boolean {
  return (protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))) && username === '' && password === '';
}

/** True if a token for `resource` may be used at `url`: one origin, and a path that begins so. */
export function covers(resource: string, url: string): boolean {
  const [wide, own] = [urlOf(resource), new URL(url)];
  if (wide === undefined || wide.origin !== own.origin || wide.hash !== '') return false;
  const path = wide.pathname.replace(/\/$/, '');
  return own.pathname === path || own.pathname.startsWith(`${path}/`);
}
