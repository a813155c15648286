// Runs tools: puts together what is known of servers and the sessions with them.
import { BlockhouseError, type Catalogue, type ToolHost, type ToolServers } from '../../core/index.ts';
import { Book, type BookOptions } from './book.ts';
import { ManagedServers } from './managed-servers.ts';
import { SignIns } from './oauth/sign-ins.ts';
import type { ServerBook } from './server.ts';
import { ServerSessions, type SessionsOptions } from './sessions.ts';

export type { BookOptions } from './book.ts';
export { ServerSessions, type SessionsOptions } from './sessions.ts';

/** What the host of a workspace is made with. */
export interface ToolHostOptions extends BookOptions, Omit<SessionsOptions, 'workspace' | 'env' | 'now' | 'signIns'> {}

/** The host of the servers in mcp.json. Nothing is read or started before its first use. */
export function createToolHost(options: ToolHostOptions): ToolHost {
  const signIns = new SignIns({ workspace: options.workspace, clock: options.clock, credentials: () => book.credentials });
  const sessions = new ServerSessions({ ...options, signIns });
  const ended = (server: string) => (error: unknown) => sessions.note(server, `Its processes can't be ended: ${(error as Error).message}`);
  let known = (_url: URL): boolean => false;
  const isOwn = (url: URL): boolean => options.isOwn?.(url) === true || known(url);
  const book: Book = new Book({ ...options, isOwn }, (server) => void sessions.end(server).catch(ended(server)));
  const servers = new ManagedServers(book, sessions, signIns);
  sessions.onTools((server, tools) => {
    servers.noteListed(server, tools).catch((error: unknown) => sessions.note(server, `What it lists can't be kept: ${(error as Error).message}`));
  });
  return {
    ...hostOf({ sessions, book, servers }),
    know: (isOther) => {
      known = isOther;
    },
  };
}

/** What a host is made of. */
export interface ToolHostParts {
  readonly sessions: ServerSessions;
  readonly book: ServerBook;
  readonly servers?: ToolServers;
}

/** A host with a book of another kind. */
export function hostOf({ sessions, book, servers }: ToolHostParts): ToolHost {
  return {
    servers,
    tidy: () => void sessions.tidy().catch(() => undefined), // a call tries again, and says why it can't be made
    onServer: (listener) => sessions.onServer(listener),
    catalogue: async (names) => withFailed(await book.catalogue(names), names, sessions),
    async call(call, signal) {
      await sessions.tidy().catch((error: unknown) => {
        throw new BlockhouseError('TOOL_NOT_BEGUN', `No server of tools can be started: ${(error as Error).message}`, { cause: error });
      });
      return sessions.call(await book.callable(call.server, call.tool, call.pin), call, signal);
    },
    halt: () => sessions.halt(),
    close: () => sessions.close(),
  };
}

/** The tools of a server that has failed are offered, because it may be back by then; that it has failed is said. */
function withFailed(catalogue: Catalogue, names: readonly string[], sessions: ServerSessions): Catalogue {
  const failed = names.flatMap((server) => {
    const { state, problem } = sessions.stateOf(server);
    return state === 'failed' ? [{ server, problem: problem ?? 'it has failed' }] : [];
  });
  return { ...catalogue, problems: [...catalogue.problems, ...failed] };
}
