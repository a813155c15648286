// URLs that a person, a file or a program has written. Pure: no I/O.

/**
 * Undefined if the text is not a URL. Not `URL.canParse`: once it is called often, Node 20 reads a text of one byte a character as UTF-8 there, and refuses
 * `http://bücher.example`.
 */
export function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** What stands before the ticket of a decision link. */
export const LINK_PATH = '/api/decide/';
/** Where a browser comes back at the end of a sign-in to a server of tools. */
export const SIGN_IN_PATH = '/callback';
const TICKET = /\/api\/decide(?:\/|%2f).*/is;

/** The path without a ticket, also in a spelling that leads nowhere: a ticket is a bearer, so paths are logged, traced and shown without it. */
export function withoutTicket(path: string): string {
  return path.includes('decide') || path.includes('DECIDE') ? path.replace(TICKET, `${LINK_PATH}…`) : path;
}

/** True for a path to which people come from elsewhere: a decision link, and the end of a sign-in. */
export function isLinkPath(path: string): boolean {
  return path.startsWith(LINK_PATH) || path === SIGN_IN_PATH;
}
