// Runs tools: puts together what is known of servers and the sessions with them.
import type { ToolHost, ToolServers } from '../../core/index.ts';
import type { ServerBook, Sessions } from './server.ts';

/** What a host is made of. */
export interface ToolHostParts {
  readonly sessions: Sessions & { tidy(): Promise<void> };
  readonly book: ServerBook;
  readonly servers?: ToolServers;
}

export { ServerSessions, type SessionsOptions } from './sessions.ts';

/** The host of a workspace. */
export function hostOf({ sessions, book, servers }: ToolHostParts): ToolHost {
  return {
    servers,
    catalogue: (names) => book.catalogue(names),
    async call(call, signal) {
      await sessions.tidy();
      return sessions.call(await book.callable(call.server, call.tool, call.pin), call, signal);
    },
    halt: () => sessions.halt(),
    close: () => sessions.close(),
  };
}
