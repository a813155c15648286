// The door of other agents: Blockhouse as a server of MCP.
//
// right-first: a key without the right is refused before anything of its request is read.
import { BlockhouseError, errorBody } from '../../../core/index.ts';
import type { JsonReply, Reply } from '../wire/reply.ts';
import type { Route, RouteContext } from '../wire/route.ts';
import { serve } from './mcp/serve.ts';

/** Answers a message of MCP. Fails with KEY_FORBIDDEN, and with LOOP_DETECTED for a call of this server itself. */
export function mcp(context: RouteContext): Promise<Reply<object | undefined>> {
  const { key, core, req } = context;
  if (key !== undefined && !key.rights.includes('mcp'))
    throw new BlockhouseError('KEY_FORBIDDEN', `The key ${key.name} has no right to MCP. \`blockhouse key set ${key.name} --right mcp\` gives it.`); // right-first
  if (req.headers['x-blockhouse-instance'] === core.ownAddresses.instance)
    throw new BlockhouseError(
      'LOOP_DETECTED',
      'A block of this server calls /mcp of the same server, so it might talk to itself. Remove that server of tools.',
    );
  return serve(context);
}

/** An error of the server in the form of JSON-RPC, before the id of a request is known. */
export const mcpFault: NonNullable<Route['fault']> = (failure, requestId): JsonReply => {
  const code = failure.status >= 500 ? -32603 : -32000;
  return { status: failure.status, body: { jsonrpc: '2.0', id: null, error: { code, message: failure.message, data: errorBody(failure, requestId) } } };
};
