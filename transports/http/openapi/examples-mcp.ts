// Examples of MCP for the published contract. Pure: no I/O.
import type { Example } from './example.ts';

/** The examples by name. */
export const MCP_EXAMPLES = {
  McpCall: {
    of: 'McpMessage',
    summary: 'A message to the block ada, in the revision without sessions',
    value: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'send_message',
        arguments: { block: 'ada', message: 'Hello', waitSeconds: 30 },
        _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} },
      },
    },
  },
  McpCallAnswer: {
    of: 'McpAnswer',
    summary: 'The answer of the block',
    value: {
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'complete',
        content: [{ type: 'text', text: 'Hello to you.' }],
        structuredContent: { status: 'done', messageId: 'm0mwsgohuc000030c1625b', answer: 'Hello to you.' },
        isError: false,
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'blockhouse', title: 'Blockhouse', version: '0.1.0' } },
      },
    },
  },
} as const satisfies Record<string, Example>;
