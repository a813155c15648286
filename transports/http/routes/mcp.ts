// The route of MCP.
import { mcp, mcpFault } from '../handlers/mcp.ts';
import { body, json } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const header = (description: string) => ({ schema: { type: 'string' }, description });

/** The route by `METHOD /path`. */
export const MCP_ROUTES = {
  'POST /mcp': {
    id: 'mcp',
    tag: 'MCP',
    summary: 'Speak MCP',
    description:
      'One message of the Model Context Protocol, revision 2026-07-28, or 2025-11-25 and earlier ones: JSON-RPC 2.0 over Streamable HTTP, without sessions and without streams. The tools list blocks, send messages to them and read their answers. A key needs the right `mcp`.',
    headers: {
      'MCP-Protocol-Version': header('The revision; from 2026-07-28 on, it must be that of the body'),
      'Mcp-Method': header('From 2026-07-28 on: the method of the body'),
      'Mcp-Name': header('From 2026-07-28 on: the tool that is called'),
    },
    body: body('McpMessage'),
    answers: {
      200: json('McpAnswer', 'The answer to a request. A tool that fails is a result with `isError`.'),
      202: { description: 'A notification was taken.', content: {} },
    },
    handler: mcp,
    fault: mcpFault,
  },
} as const satisfies Record<RouteKey, RouteEntry>;

/** Below which path the tools of agents are. */
export const MCP_PATH = '/mcp/';
