// The official clients of MCP, connected to a server of a spec.
import type { Test } from 'tap';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

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
