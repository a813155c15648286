// One call of a tool: what is wrong with it is an error of the protocol, and what goes wrong in it is a result (data-back).
import { isObject } from '../../../../core/base/json.ts';
import { BlockhouseError } from '../../../../core/index.ts';
import { forCaller, type RouteContext } from '../../wire/route.ts';
import { CALLS } from './calls.ts';
import { type Id, RPC, RpcFault } from './message.ts';
import { TOOLS, type ToolName } from './tools.ts';

/** As a client gets it. */
export interface ToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

/** The result of `tools/call`. Throws a RpcFault for a tool that is not there; rejects with faults of the server, and when the client has left. */
export async function toolCall(context: RouteContext, id: Id, { name, arguments: args = {} }: Readonly<Record<string, unknown>>): Promise<ToolResult> {
  if (typeof name !== 'string' || !isTool(name) || !isObject(args)) {
    const what =
      typeof name === 'string' && isTool(name) ? 'params.arguments must be an object.' : `There is no tool ${JSON.stringify(String(name).slice(0, 64))}.`;
    const fault = new RpcFault(RPC.invalidParams, 200, what);
    fault.id = id;
    throw fault;
  }
  try {
    const { text, data, isError = false } = await CALLS[name](context, args);
    return { content: [{ type: 'text', text }], structuredContent: data, isError };
  } catch (error) {
    if (!(error instanceof BlockhouseError) || error.status === 500 || error.code === 'CANCELLED') throw error;
    const { code, message } = forCaller(error, context.key);
    return { content: [{ type: 'text', text: `${code}: ${message}` }], isError: true };
  }
}

function isTool(name: string): name is ToolName {
  return Object.hasOwn(TOOLS, name);
}
