// Where decision links lead. Pure: no I/O.
//
// no-trace: a ticket is a bearer, so paths are logged, traced and shown without what follows.

/** What stands before the ticket. */
export const LINK_PATH = '/api/decide/';
const TICKET = /\/api\/decide(?:\/|%2f).*/is;

/** no-trace: the path without a ticket, also in a spelling that leads nowhere. */
export function withoutTicket(path: string): string {
  return path.includes('decide') || path.includes('DECIDE') ? path.replace(TICKET, `${LINK_PATH}…`) : path;
}

/** True for a path that may be a decision link. */
export function isLinkPath(path: string): boolean {
  return path.startsWith(LINK_PATH);
}
