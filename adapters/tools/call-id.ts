// How a call is known on its way to a server. Pure: no I/O.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/** The member of `_meta` that has the id of the call. */
export const CALL_ID = 'dev.blockhouse/callId';

/** A transport that knows which calls have begun. */
export interface CallTransport extends Transport {
  /** The ids of calls of which a byte may have left. The maker of the call takes its id away. */
  readonly begun: Set<string>;
}

/** Undefined for a message that is no call of a tool. */
export function callIdOf(message: JSONRPCMessage): string | undefined {
  if (!('method' in message) || message.method !== 'tools/call') return undefined;
  const id = (message.params?.['_meta'] as Record<string, unknown> | undefined)?.[CALL_ID];
  return typeof id === 'string' ? id : undefined;
}
