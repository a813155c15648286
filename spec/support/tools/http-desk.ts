// A server at an address that makes a task of each call.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { NAMES, taskDesk } from './task-desk.mjs';

export interface HttpDesk {
  readonly url: string;
  /** Of each request: its method, and the name that the headers say. */
  readonly asked: { readonly method: string; readonly name: string | undefined }[];
}

/** `files` as for the desk. */
export async function httpDesk(t: Test, files: { readonly file: string; readonly note: string; readonly book: string }): Promise<HttpDesk> {
  const desk = taskDesk(files);
  const asked: { method: string; name: string | undefined }[] = [];
  const fixed: Record<string, object> = {
    'server/discover': {
      ...{ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' },
      serverInfo: { name: 'desk', version: '1' },
    },
    'tools/list': { resultType: 'complete', tools: NAMES.map((name) => ({ name, inputSchema: { type: 'object' } })), ttlMs: 0, cacheScope: 'private' },
  };
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { id, method, params } = JSON.parse(Buffer.concat(pieces).toString());
      asked.push({ method, name: request.headers['mcp-name'] as string | undefined });
      if (id === undefined) return void response.writeHead(202).end();
      const answer = Object.hasOwn(fixed, method) ? { result: fixed[method] } : desk.answer(method, params);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(answer ?? { error: { code: -32_601, message: 'Method not found' } }) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, asked };
}
