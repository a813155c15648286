// The head of a request as it came, but without its offer to change the protocol. Pure: no I/O.
import type { IncomingMessage } from 'node:http';

/** Headers of the offer; those of HTTP/2 carry settings that only it understands. */
const OFFER: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

/** Bytes that are the same request to whoever reads them as HTTP/1.1, line for line. Node has refused line breaks in all parts of it. */
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
