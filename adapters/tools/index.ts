// Runs tools: puts together what is known of servers and the sessions with them.
import { BlockhouseError, type Catalogue, openSettings, type SettingStore, type ToolHost } from '../../core/index.ts';
import { Book } from './book.ts';
import type { ToolHostOptions } from './host-options.ts';
import { ManagedServers } from './managed-servers.ts';
import { NewestLists } from './newest-lists.ts';
import { SignIns } from './oauth/sign-ins.ts';
import type { ServerBook } from './server.ts';
import { ServerSessions } from './sessions.ts';
import { SkillBook } from './skills/skill-book.ts';
import { overSessions } from './task-watch.ts';

export type { ToolHostOptions } from './host-options.ts';

/** The host of the servers in mcp.json. Nothing is read or started before its first use. */
export function createToolHost(options: ToolHostOptions): ToolHost {
  const signIns = new SignIns({ workspace: options.workspace, clock: options.clock, credentials: () => book.credentials });
  const sessions = new ServerSessions({ ...options, signIns });
  const ended = (server: string) => (error: unknown) => sessions.note(server, `Its processes can't be ended: ${(error as Error).message}`);
  let known = (_url: URL): boolean => false;
  const isOwn = (url: URL): boolean => options.isOwn?.(url) === true || known(url);
  let { settings } = options;
  const book: Book = new Book({ ...options, settings: laterSettings(() => settings ?? openSettings(options.workspace, options.now)), isOwn }, (server) => {
    void sessions.end(server).catch(ended(server));
  });
  const servers = new ManagedServers(book, sessions, signIns);
  const lists = new NewestLists((server, tools) =>
    servers.noteListed(server, tools).catch((error: unknown) => sessions.note(server, `What it lists can't be kept: ${(error as Error).message}`)),
  );
  sessions.onTools((server, tools) => lists.add(server, tools));
  return {
    ...hostOf({ sessions, book, servers }),
    skills: new SkillBook(options.workspace, book.pins, options.clock ?? Date.now),
    keepIn: (kept) => {
      settings ??= kept;
    },
    know: (isOther) => {
      known = isOther;
    },
  };
}

/** Settings that are opened with their first use. */
function laterSettings(store: () => SettingStore): SettingStore {
  return {
    open(name, codec, onChange) {
      let opened: ReturnType<typeof open> | undefined;
      const open = () => store().open(name, codec, onChange);
      const setting = () => (opened ??= open());
      return {
        get place() {
          return setting().place;
        },
        now: () => setting().now(),
        look: () => setting().look(),
        update: (change) => setting().update(change),
      };
    },
    check: (name, codec) => store().check(name, codec),
  };
}

/** What a host is made of. */
interface ToolHostParts {
  readonly sessions: ServerSessions;
  readonly book: ServerBook;
  readonly servers: ManagedServers;
}

function hostOf({ sessions, book, servers }: ToolHostParts): ToolHost {
  return {
    servers,
    tidy: () => void sessions.tidy().catch(() => undefined), // a call tries again, and says why it can't be made
    onServer: (listener) => {
      sessions.onServer(listener);
      servers.onSignIn((server) => listener({ kind: 'signed-in', server }));
    },
    catalogue: async (names) => withFailed(await book.catalogue(names), names, sessions),
    async call(call, signal) {
      await sessions.tidy().catch((error: unknown) => {
        throw new BlockhouseError('TOOL_NOT_BEGUN', `No server of tools can be started: ${(error as Error).message}`, { cause: error });
      });
      return overSessions(call, signal, async (one) => sessions.call(await book.callable(one.server, one.tool, one.pin), one, signal));
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
