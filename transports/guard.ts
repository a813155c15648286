// Which requests this server accepts: those for its own name, from its own pages or from programs, with its token.
// Pure: no I/O.
import type { IncomingMessage } from 'node:http';
import { BlockhouseError, invalidRequest, isLoopbackHost } from '../core/index.ts';

/** What the operator has allowed. */
export interface GuardOptions {
  /** True when the server listens beyond loopback. Clients then use host names that the server can't know, so `Host` is not compared. */
  readonly allowRemote: boolean;
  /** The one origin under which a proxy serves this server. */
  readonly publicOrigin?: string | undefined;
  /** True for an address of the page, which a link on any site may lead to. */
  readonly isPage?: boolean;
  /** True for a decision link, whose page says nobody where it is: browsers name no origin for its form. Also for the end of a sign-in. */
  readonly isLink?: boolean;
  /** The origin of another site whose page may send this request. */
  readonly webOrigin?: string | undefined;
}

/**
 * The most headers of a request: many times more than clients and proxies send. Thousands of tiny ones fit into the bytes that a head may have, and each costs much more than its bytes. Node
 * takes headers by 32, and no more once it has this many: so it must be no multiple of that, or it would leave the rest out unseen.
 */
export const MAX_HEADERS = 250;

const FOREIGN_PAGE =
  'Requests from web pages of other sites are refused. To let the pages of an origin call /v1, add it to BLOCKHOUSE_WEB_ORIGINS and restart the server.';

/**
 * Throws FORBIDDEN_ORIGIN for a request from a page of another site, or under a host name that was rebound to 127.0.0.1.
 * Throws INVALID_REQUEST for a request with two Host headers, or none: Node keeps the first of two, and a proxy may keep the last.
 * Throws HEADERS_TOO_LARGE for one with so many headers that some of them are not known.
 */
export function assertOwnHost(req: IncomingMessage, options: GuardOptions): void {
  if (req.rawHeaders.length > 2 * MAX_HEADERS) throw new BlockhouseError('HEADERS_TOO_LARGE', `The request has more than ${MAX_HEADERS} headers.`);
  // Node's parser also accepts versions 0.9 and 2.0.
  if (req.httpVersion !== '1.1' && req.httpVersion !== '1.0') throw invalidRequest('', 'The request is not valid HTTP/1.1.');
  const host = req.headers.host?.toLowerCase() ?? '';
  const hosts = countHeader(req, 'host');
  // Health checks of load balancers speak HTTP/1.0 without a Host.
  const mayLackHost = options.allowRemote && req.httpVersion === '1.0';
  if (hosts > 1 || (host === '' && !mayLackHost)) throw invalidRequest('', 'The request must have exactly one Host header.');
  const isPublicHost = options.publicOrigin !== undefined && host === new URL(options.publicOrigin).host;
  if (!options.allowRemote && !isPublicHost && !isOwnHost(host, req.socket.localPort)) {
    throw new BlockhouseError(
      'FORBIDDEN_ORIGIN',
      `The Host header ${JSON.stringify(host.slice(0, 128))} is not a name of this server; use http://127.0.0.1:${req.socket.localPort}.`,
    );
  }
  const { origin } = req.headers;
  // Over plain HTTP, a page of the public name may have been changed on its way.
  const isOwn = origin === options.publicOrigin || (!isPublicHost && (origin === `http://${host}` || origin === `https://${host}`));
  const isOwnForm = options.isLink === true && origin === 'null' && req.headers['sec-fetch-site'] === 'same-origin';
  if (origin !== undefined && !isOwn && !isOwnForm && origin !== options.webOrigin) throw new BlockhouseError('FORBIDDEN_ORIGIN', FOREIGN_PAGE);
  const site = req.headers['sec-fetch-site'];
  if (origin === undefined && (site === 'cross-site' || site === 'same-site') && !((options.isPage === true || options.isLink === true) && isVisit(req)))
    throw new BlockhouseError('FORBIDDEN_ORIGIN', FOREIGN_PAGE);
}

/** True when somebody follows a link to the page: the answer is shown to them, and the other site gets nothing of it. */
function isVisit({ method, headers }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

const MAX_URL_CHARACTERS = 8 * 1024;

/** The path of the request as it is written, without its query. Throws when the target is not a path, or is longer than 8 KiB. */
export function targetPath(req: IncomingMessage): string {
  const target = req.url ?? '/';
  if (target.length > MAX_URL_CHARACTERS) throw new BlockhouseError('URI_TOO_LONG', `The request target is longer than ${MAX_URL_CHARACTERS} characters.`);
  if (target === '*') throw invalidRequest('', 'The request target must be a path.');
  if (!target.startsWith('/')) throw new BlockhouseError('FORBIDDEN_ORIGIN', 'The request target must be a path; this server is not a proxy.');
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}

function isOwnHost(host: string, port: number | undefined): boolean {
  // The two usual names; the check below handles the others.
  if (host === `127.0.0.1:${port}` || host === `localhost:${port}`) return true;
  const match = /^(\[[0-9a-f:]+\]|[^:]*)(?::(\d+))?$/.exec(host);
  if (match === null || !isLoopbackHost(match[1] ?? '')) return false;
  return Number(match[2] ?? 80) === port;
}

/** The token of `Authorization: Bearer <token>`; undefined when the header is missing, repeated or has another form. */
export function bearerToken(req: IncomingMessage): string | undefined {
  const header = req.headers.authorization;
  if (header === undefined || countHeader(req, 'authorization') !== 1) return undefined;
  return /^Bearer +(\S+)$/i.exec(header)?.[1];
}

/** The value of `x-api-key`; undefined when the header is missing or repeated. Some clients send their key there. */
function apiKey(req: IncomingMessage): string | undefined {
  const value = req.headers['x-api-key'];
  return typeof value === 'string' && countHeader(req, 'x-api-key') === 1 ? value : undefined;
}

/** What a client of the gateway has presented. Either may be the right one: some clients send a placeholder in the other. */
export function gatewayTokens(req: IncomingMessage): readonly (string | undefined)[] {
  return req.headers['x-api-key'] === undefined ? [bearerToken(req)] : [bearerToken(req), apiKey(req)];
}

function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i];
    if (given?.length === name.length && given.toLowerCase() === name) count += 1;
  }
  return count;
}

const SANE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's `x-request-id`; undefined when it is missing or could break a header or a log line (128 characters of A-Z, a-z, 0-9, `._:-` at most). */
export function inboundRequestId(req: IncomingMessage): string | undefined {
  const given = req.headers['x-request-id'];
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : undefined;
}
