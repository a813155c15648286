// The schemas of MCP's messages, as far as this contract says them: what is in `params` and `result` is said by the protocol. Pure: no I/O.
import { ANY, OBJECT, one, oneValue, orNull, ref, STRING, shape } from './shapes.ts';

const WHOLE = { type: 'integer' } as const;
const VERSION = { jsonrpc: oneValue('2.0') };
const ID = one(STRING, WHOLE);

/** By their names in the document. */
export const MCP_SHAPES = {
  McpMessage: shape({ ...VERSION, method: STRING }, { id: ID, params: OBJECT }),
  McpAnswer: one(shape({ ...VERSION, id: ID, result: OBJECT }), ref('McpError')),
  McpError: shape({ ...VERSION, id: orNull(ID), error: shape({ code: WHOLE, message: STRING }, { data: ANY }) }),
};
