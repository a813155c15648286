// A provider of our own making, for what an honest mock can't do: bytes cut anywhere, stalls, resets, floods.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Resolves when the connection of this request is gone before its answer was complete, or the answer is. */
  readonly closed: Promise<void>;
}

export type Answerer = (request: RecordedRequest, res: ServerResponse, index: number) => void | Promise<void>;

export interface FakeUpstream {
  readonly url: string;
  readonly server: Server;
  readonly requests: RecordedRequest[];
  /** Resolves with request number `index` (from 0) once it has arrived with its body. */
  arrived(index: number): Promise<RecordedRequest>;
}

/** What the ollama adapter asks about a model before it calls it. */
const MODEL_QUESTION = '/api/show';
const unknownModel = (res: ServerResponse): void => sendJson(res, { error: 'model not found' }, 404);

/** Listens on a free loopback port until the test ends. Questions about a model are no requests: `look` answers them. */
export async function startUpstream(
  t: Test,
  answer: Answerer,
  look: (res: ServerResponse, body: string) => void = unknownModel,
  port = 0,
): Promise<FakeUpstream> {
  const requests: RecordedRequest[] = [];
  const server = createServer((req, res) => void take(req, res));
  async function take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      res.once('close', () => resolve());
    });
    const chunks: Buffer[] = [];
    req.on('error', () => undefined); // a client that leaves in mid-body is part of the tests
    res.on('error', () => undefined);
    for await (const chunk of req) chunks.push(chunk as Buffer);
    if (req.url?.endsWith(MODEL_QUESTION)) return look(res, Buffer.concat(chunks).toString());
    const request = { method: req.method ?? '', path: req.url ?? '', headers: req.headers, body: Buffer.concat(chunks).toString(), closed };
    requests.push(request);
    server.emit('recorded');
    await answer(request, res, requests.length - 1);
  }
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    requests,
    async arrived(index) {
      while (requests.length <= index) await once(server, 'recorded');
      return requests[index] as RecordedRequest;
    },
  };
}

export function sendJson(res: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers });
  res.end(JSON.stringify(body));
}

/** Writes `bytes` in pieces of `size`, each in a turn of its own, so that they arrive apart. */
export async function sendInPieces(res: ServerResponse, bytes: Buffer, size: number, contentType = 'text/event-stream'): Promise<void> {
  res.writeHead(200, { 'content-type': contentType });
  for (let offset = 0; offset < bytes.length && !res.destroyed; offset += size) {
    res.write(bytes.subarray(offset, offset + size));
    if (offset % 64 === 0) await delay(0);
  }
  res.end();
}
