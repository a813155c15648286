// `blockhouse/ws`: the WebSocket transport for a core, on the server of the HTTP transport.
import type { Server } from 'node:http';
import type { Core } from '../../core/index.ts';
import { STDERR_LOG, type TransportLog } from '../log.ts';
import { realClock } from './clock.ts';
import { Hub } from './hub.ts';
import { DEFAULT_LIMITS, type WsLimits } from './limits.ts';
import { CLOSE } from './peer.ts';
import { Door } from './upgrade.ts';

/** Where the transport writes its log lines; a pino logger fits. */
export type { TransportLog } from '../log.ts';
export { DEFAULT_LIMITS, type WsLimits } from './limits.ts';

/** The options of `createWsTransport`; each has a default. */
export interface WsTransportOptions {
  /** Set it when the server listens beyond loopback. */
  readonly allowRemote?: boolean;
  /** The one origin under which a proxy with TLS serves this server. */
  readonly publicOrigin?: string | undefined;
  /** Without a log, failures go to stderr. */
  readonly log?: TransportLog;
  /** Limits other than `DEFAULT_LIMITS`. */
  readonly limits?: Partial<WsLimits>;
}

/** The WebSockets of a server. */
export interface WsTransport {
  /** Sockets that are open now. */
  connections(): number;
  /**
   * Refuses new sockets, closes the open ones with `code` (1001 by default) and resolves when all are gone, after a second at most. Call it
   * before `server.close`, which waits for them.
   */
  close(code?: number): Promise<void>;
}

/** Serves WebSockets at `/api/ws` on this server. Throws when the core has no workspace, because there is no token to check then. */
export function createWsTransport(core: Core, server: Server, options: WsTransportOptions = {}): WsTransport {
  if (core.token === undefined) throw new Error('A server needs a workspace: createCore({ workspace, … }).');
  const { allowRemote = false, publicOrigin, log = STDERR_LOG } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const hub = new Hub({ core, clock: realClock, limits, log });
  const door = new Door({
    core,
    server,
    allowRemote,
    publicOrigin,
    limits,
    log,
    count: () => hub.size,
    onSocket: (socket, requestId, endsAt) => hub.add(socket, requestId, endsAt),
  });
  return {
    connections: () => hub.size,
    async close(code = CLOSE.goingAway) {
      door.shut();
      await hub.close(code);
      door.remove();
    },
  };
}
