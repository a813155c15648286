// The head of a request without its offer to upgrade, so that HTTP can serve it. Pure: no I/O.
import type { IncomingMessage } from 'node:http';

/** The headers of the offer. `http2-settings` has a meaning only for HTTP/2. */
const OFFER: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

/** The request line and headers as HTTP/1.1 bytes. Node's parser has refused line breaks in all of their parts, so no header can be smuggled in. */
export function withoutUpgrade(req: IncomingMessage): Buffer {
  const lines = [`${req.method} ${req.url} HTTP/${req.httpVersion}`];
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    const line = headerLine(req.rawHeaders[i] ?? '', req.rawHeaders[i + 1] ?? '');
    if (line !== undefined) lines.push(line);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function headerLine(name: string, value: string): string | undefined {
  const lower = name.toLowerCase();
  if (OFFER.has(lower)) return undefined;
  if (lower !== 'connection') return `${name}: ${value}`;
  const options = value.split(',').filter((option) => !OFFER.has(option.trim().toLowerCase()));
  return options.length === 0 ? undefined : `${name}: ${options.join(',')}`;
}
