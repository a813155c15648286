// Where notices go: what may be set, and how it stands in auth.json. Pure: no I/O.
//
// safe-address: an address that is called in the clear is one of this machine or of a private network, by its number. What a name leads to is judged when it is called.
import { isObject } from '../base/json.ts';
import { urlOf } from '../base/url.ts';
import { keyOf } from '../base/webhook-signature.ts';
import { invalidRequest } from '../errors.ts';
import { assertRoutable, isLoopbackHost, isPrivateHost } from '../gateway/egress.ts';
import type { NotifyTarget, SetNotifyTarget } from '../types.ts';
import type { NoticeEvent } from './notices.ts';

/** The most targets of a workspace. */
export const MAX_TARGETS = 5;
const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
const EVENTS: readonly NoticeEvent[] = ['approval.asked', 'message.failed', 'cap.reached', 'message.done'];
const DEFAULT_EVENTS = EVENTS.slice(0, 3);

/** One target, as auth.json has it. */
export interface Target {
  readonly url: string;
  readonly events: readonly NoticeEvent[];
  readonly blocks: readonly string[] | null;
  readonly links: boolean;
  readonly publicURL: string | null;
  readonly secret: string;
}

/** Throws INVALID_REQUEST. */
export function assertTargetName(name: string): void {
  if (!NAME.test(name)) throw invalidRequest('name', 'must have 1 to 32 characters of a-z, 0-9 and -, and begin with a letter or digit');
}

/** What a body sets, without its secret. Throws INVALID_REQUEST naming the field. */
export function settledTarget(body: SetNotifyTarget): Omit<Target, 'secret'> {
  const { events = DEFAULT_EVENTS, blocks, links = false, publicURL } = body;
  checkedURL(body.url);
  if (links && publicURL === undefined) throw invalidRequest('publicURL', 'is missing: links need the address under which people reach this server');
  const base = publicURL === undefined ? null : publicBase(publicURL);
  return { url: body.url, events: EVENTS.filter((one) => events.includes(one)), blocks: blocks ?? null, links, publicURL: base };
}

/** safe-address. Throws INVALID_REQUEST. */
export function checkedURL(text: string): URL {
  const url = urlOf(text);
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw invalidRequest('url', 'must be an absolute http or https URL');
  if (url.username !== '' || url.password !== '') throw invalidRequest('url', 'must not contain a user name or password');
  if (url.hash !== '') throw invalidRequest('url', 'must not contain a fragment');
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname) && !isPrivateHost(url.hostname))
    throw invalidRequest('url', 'must be https, except for loopback and private addresses, written as numbers');
  try {
    assertRoutable(url);
  } catch {
    throw invalidRequest('url', 'points to a link-local, metadata or unroutable address');
  }
  return url;
}

/** Without a slash at its end. Throws INVALID_REQUEST. */
function publicBase(text: string): string {
  const url = urlOf(text);
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw invalidRequest('publicURL', 'must be an absolute http or https URL');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '' || url.pathname !== '/')
    throw invalidRequest('publicURL', 'must be an origin, such as https://blocks.example');
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname) && !isPrivateHost(url.hostname))
    throw invalidRequest('publicURL', 'must be https, except for loopback and private addresses: a link opens a decision');
  return url.origin;
}

/** The target that an entry of auth.json is; a text that says what is wrong with it. Edits by hand are judged as requests are. */
export function targetIn(entry: unknown): Target | string {
  if (!isObject(entry)) return 'it must be an object';
  const { url, events, blocks, links, publicURL, secret } = entry;
  if (typeof url !== 'string') return 'url is missing';
  if (typeof secret !== 'string' || keyOf(secret) === undefined) return 'secret must be whsec_ and 24 to 64 bytes in base64';
  if (publicURL !== undefined && publicURL !== null && typeof publicURL !== 'string') return 'publicURL must be a text';
  if (events !== undefined && !isTexts(events)) return 'events must be a list';
  if (blocks !== undefined && blocks !== null && !isTexts(blocks)) return 'blocks must be a list of names';
  const given = { url, links: links === true, ...(events && { events: events as NoticeEvent[] }), ...(blocks && { blocks }), ...(publicURL && { publicURL }) };
  try {
    return { ...settledTarget(given), secret };
  } catch (error) {
    return (error as Error).message;
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** What is shown of an address: its path may be a secret. */
export function shownURL(text: string): string {
  const url = urlOf(text);
  if (url === undefined) return '…';
  return url.pathname === '/' && url.search === '' ? url.origin : `${url.origin}/…`;
}

/** What is shown of a target besides how it does. */
export function shownTarget(name: string, { url, events, blocks, links, publicURL }: Target): Omit<NotifyTarget, 'state' | 'pending' | 'dropped' | 'last'> {
  return { name, url: shownURL(url), events: [...events], blocks: blocks === null ? null : [...blocks], links, publicURL };
}
