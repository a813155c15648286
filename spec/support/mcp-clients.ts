// The official clients of MCP, connected to a server of a spec.
import type { Test } from 'tap';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createBlock, RUNNABLE } from './block-calls.ts';
import { type HeldDaemon, heldDaemon } from './held-daemon.ts';
import { type Answer, startServer, type TestServer, type TestServerOptions } from './server.ts';

/** What specs read of a result. */
export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

/** What specs call of either client. */
export interface McpClient {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string; readonly annotations?: object; readonly outputSchema?: object }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }, ...options: unknown[]): Promise<unknown>;
  getServerVersion(): { readonly name: string } | undefined;
}

export type McpEra = 'modern' | 'legacy' | 'earlier client';
export const ERAS: readonly McpEra[] = ['modern', 'legacy', 'earlier client'];
const INFO = { name: 'spec', version: '1' };

/** Connects, and ends with the test. */
export async function connectMcp(t: Test, { url, token }: { readonly url: string; readonly token: string }, era: McpEra = 'modern'): Promise<McpClient> {
  const address = new URL('/mcp', url);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  if (era === 'earlier client') {
    const client = new EarlierClient(INFO);
    // Its own types disagree about an absent id of a session.
    await client.connect(new EarlierTransport(address, { requestInit }) as unknown as Parameters<EarlierClient['connect']>[0]);
    t.teardown(() => client.close());
    return client as unknown as McpClient;
  }
  const client = new Client(INFO, { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } });
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit }));
  t.teardown(() => client.close());
  return client as unknown as McpClient;
}

/** The result of a call. */
export async function callMcp(client: McpClient, name: string, args: Record<string, unknown> = {}): Promise<ToolResult> {
  return (await client.callTool({ name, arguments: args })) as ToolResult;
}

/** A server with the running block ada, which answers when the spec says so. */
export async function serveMcp(t: Test, options: TestServerOptions = {}): Promise<{ readonly server: TestServer; readonly daemon: HeldDaemon }> {
  let isOver = false;
  const daemon = heldDaemon((call) => isOver && call.cut());
  const server = await startServer(t, { answer: daemon.answer, retries: 0, ...options });
  t.teardown(() => {
    isOver = true;
    for (const call of daemon.calls) call.cut(); // a reply under way would hold up the end
  });
  await createBlock(server, 'ada', { ...RUNNABLE, description: 'Knows the stock.', retry: { baseMs: 1, maxDelayMs: 1, maxAttempts: 1 } });
  await server.call('POST', '/api/blocks/ada/start');
  return { server, daemon };
}

/** The authorization of a new key. */
export async function keyWith(server: TestServer, name: string, limits: object): Promise<Record<string, string>> {
  const { json } = await server.call('POST', '/api/keys', { body: { name, ...limits } });
  return { authorization: `Bearer ${json['key']}` };
}

/** A call of a tool by hand, in the revision with sessions. */
export async function callByHand(
  server: TestServer,
  name: string,
  args: unknown = {},
  headers: Record<string, string> = {},
): Promise<Answer & { readonly result: ToolResult }> {
  const answer = await server.call('POST', '/mcp', { headers, body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } } });
  return { ...answer, json: answer.json, result: answer.json['result'] as ToolResult };
}
