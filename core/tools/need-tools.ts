// Who manages the servers of tools, where somebody does. Pure: no I/O.
import { BlockhouseError } from '../errors.ts';
import type { ToolHost } from './port.ts';
import type { ToolServers } from './servers.ts';

/** Throws WRONG_STATE where a core has no servers of tools: without a host of tools, or without blocks. */
export function needTools({ tools, gatewayOnly }: { readonly tools?: ToolHost; readonly gatewayOnly?: boolean }): ToolServers {
  if (gatewayOnly !== true && tools?.servers !== undefined) return tools.servers;
  throw new BlockhouseError('WRONG_STATE', 'This server manages no servers of tools: it serves the gateway alone, or was started without them.');
}
