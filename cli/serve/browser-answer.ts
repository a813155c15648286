// Waits for a browser that is led back to this machine at the end of a sign-in.
//
// own-answer: what does not name the state of this sign-in, has another path, or comes under another name than 127.0.0.1 is refused, and the wait goes on.
// says-nothing: the page that the browser gets is fixed text: nothing of the request is in it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const PATH = '/callback';
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  connection: 'close',
};

/** A place on this machine where a browser comes back. */
export interface BrowserAnswer {
  readonly redirectURI: string;
  /** Resolves with the query of the answer with this state. Rejects with the reason of `signal`. */
  wait(state: string, signal: AbortSignal): Promise<string>;
  close(): void;
}

/** Rejects with the system's own error, such as EADDRINUSE. Port 0 is any that is free. */
export async function browserAnswer(port = 0): Promise<BrowserAnswer> {
  let take: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => page(response, 404, 'Nothing is waited for.');
  const server = createServer((request, response) => take(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    redirectURI: `http://${host}${PATH}`,
    wait: (state, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        take = (request, response) => {
          const query = queryOf(request, host, state);
          if (query === undefined) return page(response, 400, 'This is no answer to the sign-in that is waited for.');
          page(response, 200, 'The answer has arrived. The terminal says how it went. You can close this page.');
          resolve(query);
        };
      }),
    close: () => {
      server.close();
      server.closeAllConnections(); // also those of half a request, which anybody on this machine can make
    },
  };
}

/** own-answer. */
function queryOf({ method, url = '', headers }: IncomingMessage, host: string, state: string): string | undefined {
  const at = url.indexOf('?');
  if (method !== 'GET' || headers.host !== host || at < 0 || url.slice(0, at) !== PATH) return undefined;
  const query = url.slice(at + 1);
  return new URLSearchParams(query).get('state') === state ? query : undefined;
}

/** says-nothing. */
function page(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, HEADERS).end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Blockhouse</title><p>${text}</p></html>\n`);
}
