// A server of tools at an address, and what it was sent. What a call does is the name of its tool.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import type { FullServerSettings } from '../../../adapters/tools/server.ts';
import { FULL } from './stand-in-book.ts';

export interface Posted {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly message: {
    readonly id?: number;
    readonly method: string;
    readonly params?: { readonly name?: string; readonly arguments?: Record<string, unknown> };
  };
}

export interface HttpTools {
  readonly url: string;
  readonly posted: Posted[];
  /** Those that were calls. */
  calls(): readonly Posted[];
}

const EVENTS = { 'content-type': 'text/event-stream' };

/** `answers` is true for a request that it has answered itself. */
export async function httpTools(
  t: Test,
  era: 'legacy' | 'modern' = 'legacy',
  answers: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
): Promise<HttpTools> {
  const posted: Posted[] = [];
  const server = createServer((request, response) => void take(request, response));
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (answers(request, response)) return;
    const message = JSON.parse(Buffer.concat(pieces).toString());
    posted.push({ method: request.method ?? '', headers: request.headers, message });
    answer(message, response);
  }
  const send = (response: ServerResponse, body: object, more: object = {}): void => {
    response.writeHead(200, { 'content-type': 'application/json', ...more });
    response.end(JSON.stringify({ jsonrpc: '2.0', ...body }).replace('escaped at-', String.raw`escaped \u0061t-`));
  };
  const complete = era === 'modern' ? { resultType: 'complete' } : {};
  const said = (id: unknown, text: string): object => ({ id, result: { content: [{ type: 'text', text }], ...complete } });
  const event = (body: object): string => `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...body })}\n\n`;
  const info = { capabilities: { tools: {} }, serverInfo: { name: 'http', version: '1' } };
  const listed = Object.keys({ echo: 1 }).map((name) => ({ name, inputSchema: { type: 'object' } }));

  function answer({ id, method, params }: Posted['message'], response: ServerResponse): void {
    if (id === undefined) response.writeHead(202).end();
    else if (method === 'server/discover' && era === 'modern')
      send(response, { id, result: { ...info, ...complete, supportedVersions: ['2026-07-28'], ttlMs: 0, cacheScope: 'private' } });
    else if (method === 'initialize' && era === 'legacy')
      send(response, { id, result: { ...info, protocolVersion: '2025-11-25' } }, { 'mcp-session-id': 's1' });
    else if (method === 'tools/list') send(response, { id, result: { tools: listed, ...complete, ttlMs: 0, cacheScope: 'private' } });
    else if (method === 'tools/call') CALLS[params?.name ?? '']?.(id, response, params?.arguments ?? {});
    else {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } }));
    }
  }

  const CALLS: Record<string, (id: number, response: ServerResponse, args: Record<string, unknown>) => void> = {
    echo: (id, response, args) => send(response, said(id, String(args['text']))),
    stream: (id, response) => {
      response.writeHead(200, EVENTS);
      response.write(event({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } }));
      response.end(event(said(id, 'streamed')));
    },
    notices: (id, response, { times, events }) => {
      const notice = { method: 'notifications/tools/list_changed' };
      const all = [...Array.from({ length: Number(times) }, () => notice), said(id, 'after all')];
      if (events === true) response.writeHead(200, EVENTS).end(all.map(event).join(''));
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(all.map((body) => ({ jsonrpc: '2.0', ...body }))));
    },
    open: (id, response) => void response.writeHead(200, EVENTS).write(event(said(id, 'answered, and left open'))),
    reset: (_id, response) => response.socket?.resetAndDestroy(),
    cut: (_id, response) => void response.writeHead(200, EVENTS).end(': nothing\n\n'),
    half: (_id, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"jsonrpc":');
      setTimeout(() => response.socket?.destroy(), 20);
    },
    mute: () => undefined,
    status: (_id, response, args) => void response.writeHead(Number(args['status']), { location: 'http://127.0.0.1:1/elsewhere' }).end('no'),
    big: (id, response, args) => {
      response.writeHead(200, args['events'] === true ? EVENTS : { 'content-type': 'application/json' });
      response.on('error', () => undefined);
      if (args['events'] === true) response.write('data: ');
      response.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
      const piece = 'x'.repeat(1024 * 1024);
      const more = (left: number): void => {
        if (left > 0 && !response.destroyed) response.write(piece, () => more(left - 1));
        else response.end('"}]}}\n\n');
      };
      more(Number(args['megabytes']));
    },
    deep: (id, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(`{"jsonrpc":"2.0","id":${id},"result":{"structuredContent":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`),
    refuse: (id, response) =>
      void response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_602, message: 'The amount is missing.' } })),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    posted,
    calls: () => posted.filter(({ message }) => message.method === 'tools/call'),
  };
}

/** The server as a call takes it. */
export const at = (url: string, more: Partial<FullServerSettings> = {}) => ({
  name: 'web',
  definition: `web at ${url} ${JSON.stringify(more)}`,
  start: { kind: 'http' as const, url, headers: { authorization: 'Bearer canary-1234567' } },
  settings: { ...FULL, maxResultBytes: 1_000_000, startTimeoutMs: 5000, ...more },
  era: 'legacy' as const,
  secrets: ['canary-1234567'],
});
