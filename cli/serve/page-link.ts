// The address of the page, and a document that leads there. Pure: no I/O.
import { createHash } from 'node:crypto';

/** The page of this server with a code that signs in: in the fragment, which reaches no server and no log. */
export function pageLink(server: URL, code: string): string {
  return `${new URL('/ui/', server).href}#code=${code}`;
}

/** HTML that leads to `url`. `location.replace` keeps it out of the history; the other two ways are for a browser that runs no script here. */
export function documentTo(url: string): string {
  const script = `location.replace(${JSON.stringify(url).replaceAll('<', '\\u003c')})`;
  const hash = createHash('sha256').update(script).digest('base64');
  const text = url.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="default-src 'none'; script-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<title>Blockhouse</title>
<script>${script}</script>
<meta http-equiv="refresh" content="1; url=${text}">
<p><a href="${text}">Open Blockhouse</a></p>
</html>
`;
}
