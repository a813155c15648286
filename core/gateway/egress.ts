// Where a call to a provider may go, and with whose key. Every call passes `checkEgress`, every connection `isForbiddenAddress`. Pure: no I/O.
//
// A key from auth.json or the environment goes only to the provider's own origin, to the address that is configured with it (key-bounds.ts), or to an origin
// on the operator's list. Any other origin needs a key that came with the request; a call without any key may also go to loopback. Link-local and
// cloud-metadata addresses are refused in every spelling, by the address that is connected to, unless their origin is on the operator's list.

import { BlockList, isIP } from 'node:net';
import type { SettingsSpec } from '../auth/settings.ts';
import { expandIPv6 } from '../base/ipv6.ts';
import { urlOf } from '../base/url.ts';
import { type BlockhouseError, invalidRequest } from '../errors.ts';

/** Where one request may go. */
export interface EgressRule {
  /** Origins that the call may go to with what is stored for it. */
  readonly trustedOrigins: ReadonlySet<string>;
  /** The operator's list (`BLOCKHOUSE_ALLOWED_ORIGINS`). */
  readonly allowedOrigins: ReadonlySet<string>;
  /** True when the request brought its own secret. */
  readonly ownKey: boolean;
  /** True when the call carries no secret at all. */
  readonly isKeyless: boolean;
  /** For a connection: the only origins that the call may go to, whatever the other fields say. */
  readonly home?: ReadonlySet<string>;
  /** Somebody else than the operator has chosen the address: it must be one of the internet, over https. */
  readonly publicOnly?: boolean;
  /** What has once led to an address of the internet leads to no private one afterwards. */
  readonly staysPublic?: boolean;
}

/** The provider in the text of a refusal. */
interface NamedProvider {
  readonly id: string;
  readonly settings: SettingsSpec;
}

const FORBIDDEN = new BlockList();
FORBIDDEN.addSubnet('169.254.0.0', 16, 'ipv4'); // link-local, and the metadata service of AWS, Azure, GCP
FORBIDDEN.addSubnet('fe80::', 10, 'ipv6');
FORBIDDEN.addSubnet('fd00:ec2::', 32, 'ipv6'); // AWS metadata over IPv6
FORBIDDEN.addSubnet('fd20:ce::', 32, 'ipv6'); // GCP metadata over IPv6
FORBIDDEN.addAddress('100.100.100.200', 'ipv4'); // Alibaba Cloud metadata
FORBIDDEN.addAddress('192.0.0.192', 'ipv4'); // Oracle Cloud metadata
FORBIDDEN.addAddress('168.63.129.16', 'ipv4'); // Azure host agent
FORBIDDEN.addSubnet('0.0.0.0', 8, 'ipv4'); // "this host": connects to loopback by another name
FORBIDDEN.addAddress('::', 'ipv6');
FORBIDDEN.addSubnet('224.0.0.0', 3, 'ipv4'); // multicast, reserved, broadcast
FORBIDDEN.addSubnet('ff00::', 8, 'ipv6');

const METADATA_NAMES = new Set(['metadata', 'metadata.google.internal', 'instance-data', 'instance-data.ec2.internal']);

/** Parses a base URL that a person wrote. Throws INVALID_REQUEST naming `field`. */
export function parseBaseURL(text: string, field = 'config.baseURL'): URL {
  const url = urlOf(text);
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw invalidRequest(field, 'must be an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '') throw invalidRequest(field, 'must not contain a user name or password');
  if (url.search !== '' || url.hash !== '') throw invalidRequest(field, 'must not contain a query or a fragment');
  return url;
}

/** True for literal spellings of loopback only: a name that resolves to 127.0.0.1 belongs to somebody. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

const PRIVATE = new BlockList();
PRIVATE.addSubnet('10.0.0.0', 8, 'ipv4');
PRIVATE.addSubnet('172.16.0.0', 12, 'ipv4');
PRIVATE.addSubnet('192.168.0.0', 16, 'ipv4');
PRIVATE.addSubnet('fc00::', 7, 'ipv6');

/** What no router of the internet forwards, besides: this machine, and networks of carriers and for measurements. */
const INNER = new BlockList();
INNER.addSubnet('127.0.0.0', 8, 'ipv4');
INNER.addAddress('::1', 'ipv6');
INNER.addSubnet('100.64.0.0', 10, 'ipv4');
INNER.addSubnet('192.0.0.0', 24, 'ipv4');
INNER.addSubnet('198.18.0.0', 15, 'ipv4');
INNER.addSubnet('fec0::', 10, 'ipv6');

/** True for literal addresses of private networks: who a name belongs to is not known. */
export function isPrivateHost(hostname: string): boolean {
  const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(address) !== 0 && PRIVATE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** The origins that a rule has let through, and would let through again: to judge an IP address costs some percent of a small request. */
const passed = new WeakMap<EgressRule, Set<string>>();

/** Checks a URL that is about to be called, and returns its origin. Throws INVALID_REQUEST, which names `provider`; nothing has been sent by then. */
export function checkEgress(rule: EgressRule, url: URL, provider?: NamedProvider): string {
  const { origin } = url;
  const known = passed.get(rule);
  if (known?.has(origin) === true) return origin;
  judge(rule, url, provider);
  if (known === undefined) passed.set(rule, new Set([origin]));
  else known.add(origin);
  return origin;
}

function judge(rule: EgressRule, url: URL, provider: NamedProvider | undefined): void {
  if (rule.home?.has(url.origin) === false) throw notTrusted(url.origin, provider);
  if (rule.publicOnly === true) {
    assertPublic(url);
    return;
  }
  if (rule.allowedOrigins.has(url.origin)) return;
  assertRoutable(url);
  if (rule.ownKey || rule.trustedOrigins.has(url.origin) || (rule.isKeyless && isLoopbackHost(url.hostname))) return;
  throw notTrusted(url.origin, provider);
}

/** Throws INVALID_REQUEST for an address that no call may be made to unless its origin is on the operator's list. */
export function assertRoutable(url: URL): void {
  const host = url.hostname.replace(/\.$/, '').toLowerCase();
  const address = host.startsWith('[') ? host.slice(1, -1) : host;
  if (METADATA_NAMES.has(host) || (isIP(address) !== 0 && isForbiddenAddress(address))) throw forbiddenAddress(url.origin);
}

/** Throws INVALID_REQUEST for what is not over https, or has an address in place of a name that leads into a private network. What a name leads to, the connection looks at. */
function assertPublic(url: URL): void {
  assertRoutable(url);
  const host = url.hostname.replace(/\.$/, '').toLowerCase();
  const address = host.startsWith('[') ? host.slice(1, -1) : host;
  if (url.protocol !== 'https:' || /(?:^|\.)localhost$/.test(host) || (isIP(address) !== 0 && isPrivateAddress(address))) throw privateAddress(url.origin);
}

/** What a caller can do that a block can't: its configuration has no key. */
export const BRING_OWN_KEY = ' A request may bring its own key in config.apiKey.';

/** The same refusal for the key of an application, which has chosen no address. */
export const KEY_STAYS = "The provider's key on this server does not belong to the address that is set for it.";

/** The error for an origin that a request names and that the stored key may not go to. `isPath`: to this path of it. */
export function notTrusted(origin: string, provider?: NamedProvider, isPath = false): BlockhouseError {
  const variable = provider?.settings['baseURL']?.env?.[0] ?? "the provider's variable";
  return invalidRequest(
    'config.baseURL',
    `${isPath ? `is at another path of ${origin} than the address that is configured` : `is at ${origin}, which this server is not configured for`}, so a stored key is not sent there. Configure the address beside the key: ` +
      `\`blockhouse auth set ${provider?.id ?? '<provider>'} --field baseURL\` for a key in auth.json, ${variable} for one in the environment. Or add the origin to ` +
      `BLOCKHOUSE_ALLOWED_ORIGINS.${BRING_OWN_KEY}`,
    KEY_STAYS,
  );
}

/** True for an address, for instance one that a name resolved to, that no call may be made to. */
export function isForbiddenAddress(address: string): boolean {
  const plain = address.split('%')[0] ?? address; // zone index of fe80::1%eth0
  const embedded = embeddedIPv4(plain);
  if (embedded !== undefined) return FORBIDDEN.check(embedded, 'ipv4');
  return FORBIDDEN.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
}

/** True for an address of this machine or of a private network, in every spelling, and for what `isForbiddenAddress` refuses. */
export function isPrivateAddress(address: string): boolean {
  const plain = address.split('%')[0] ?? address;
  const inner = embeddedIPv4(plain) ?? plain;
  return isForbiddenAddress(address) || PRIVATE.check(inner, isIP(inner) === 6 ? 'ipv6' : 'ipv4') || INNER.check(inner, isIP(inner) === 6 ? 'ipv6' : 'ipv4');
}

/** The error for an origin that leads into a private network, where somebody else has chosen it. */
export function privateAddress(origin: string): BlockhouseError {
  return invalidRequest('url', `leads to this machine or into a private network, or is not over https (${origin})`);
}

/** The error for an origin that leads to a forbidden address. */
export function forbiddenAddress(origin: string): BlockhouseError {
  return invalidRequest(
    'config.baseURL',
    `points to a link-local, metadata or unroutable address (${origin}); if that is intended, add the origin to BLOCKHOUSE_ALLOWED_ORIGINS`,
    "The provider's address on this server can't be used.",
  );
}

/** The IPv4 address inside ::ffff:a.b.c.d, ::ffff:0:a.b.c.d, ::a.b.c.d, 64:ff9b::a.b.c.d and 2002:aabb:ccdd::. */
function embeddedIPv4(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined;
  const groups = expandIPv6(address);
  const [a, b] = [groups[6] ?? 0, groups[7] ?? 0];
  const mapped = groups.slice(0, 5).every((g) => g === 0) && (groups[5] === 0xffff || (groups[5] === 0 && a !== 0));
  const translated = groups.slice(0, 4).every((g) => g === 0) && groups[4] === 0xffff && groups[5] === 0;
  const nat64 = groups[0] === 0x64 && groups[1] === 0xff9b;
  if (mapped || translated || nat64) return dotted(a, b);
  if (groups[0] === 0x2002) return dotted(groups[1] ?? 0, groups[2] ?? 0);
  return undefined;
}

function dotted(high: number, low: number): string {
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
