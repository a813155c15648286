// The server's side of `/api` and its WebSocket, played by a test: for what a client does with each answer.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import { Api } from '../../cli/client/api.ts';
import { Client } from '../../cli/client/client.ts';
import type { ServerPlace } from '../../cli/client/connection.ts';

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export type Play = (call: Call, res: ServerResponse) => void | Promise<void>;

export interface FakeBlockServer {
  readonly place: ServerPlace;
  readonly api: Api;
  readonly calls: Call[];
  /** Frames that clients sent. */
  readonly frames: Record<string, unknown>[];
  /** Open WebSockets. */
  readonly followers: number;
  /** Sends a frame to every client. */
  push(frame: object): void;
  /** Drops every WebSocket. */
  drop(): void;
  /** Drops every connection and takes no more. */
  close(): void;
}

export function answer(res: ServerResponse, body: unknown, status = 200): void {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
}

/** What `GET …/chat/:id` answers with. */
export function foundIn(history: readonly { readonly [field: string]: unknown }[], path: string): object {
  const id = path.split('/').at(-1);
  return { entry: history.find((entry) => entry['id'] === id), answer: history.findLast(({ replyTo }) => replyTo === id) ?? null };
}

export const refusal = (code: string, error: string, status = 400) => ({ error, status, code });

/** `subscribed` answers a subscription; by default with one refresh, as the server does. */
export async function startFakeBlockServer(t: Test, play: Play, subscribed = defaultSubscribed): Promise<FakeBlockServer> {
  const calls: Call[] = [];
  const frames: Record<string, unknown>[] = [];
  const server = createServer((req, res) => void take(req, res));
  async function take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const call = { method: req.method ?? '', path: req.url ?? '', headers: req.headers, body: await buffer(req) };
    calls.push(call);
    res.setHeader('x-request-id', 'r');
    await play(call, res);
  }
  const sockets = new WebSocketServer({ server, path: '/api/ws' });
  sockets.on('connection', (socket) => {
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as Record<string, unknown>;
      frames.push(frame);
      subscribed(socket, frame);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = (): void => {
    for (const socket of sockets.clients) socket.terminate();
  };
  const close = (): void => {
    server.close();
    drop();
    server.closeAllConnections();
  };
  t.teardown(close);
  const place = { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), token: 'bh_token', pid: 7 };
  const push = (frame: object): void => {
    for (const socket of sockets.clients) socket.send(JSON.stringify(frame));
  };
  const api = new Api(new Client(place, new AbortController().signal));
  return {
    place,
    api,
    calls,
    frames,
    push,
    drop,
    close,
    get followers() {
      return sockets.clients.size;
    },
  };
}

function defaultSubscribed(socket: WebSocket, { block }: Record<string, unknown>): void {
  socket.send(JSON.stringify({ type: 'refresh', block }));
}
