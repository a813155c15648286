// The address of the page. Pure: no I/O.

/** The page of this server with a code that signs in: in the fragment, which reaches no server and no log. */
export function pageLink(server: URL, code: string): string {
  return `${new URL('/ui/', server).href}#code=${code}`;
}
