// Servers of tools that `tools add` knows by a short name: exact versions, and which of their tools only read. Pure: no I/O.
//
// one-version: a version pins one package, not what it needs in turn; a version is changed here only after the server was tried.
import { CliError } from '../terminal/exit-codes.ts';

/** The entries that mcp.json gets, and what a person should know. */
export interface CuratedServer {
  readonly server: object;
  readonly settings?: object;
  readonly note?: string;
}

interface Curated {
  /** What the one argument is; undefined for a server that takes none. */
  readonly takes?: string;
  readonly of: (argument: string) => CuratedServer;
}

const npm = (name: string, ...args: string[]): object => ({ command: 'npx', args: ['-y', name, ...args] });
const pypi = (name: string, ...args: string[]): object => ({ command: 'uvx', args: [name, ...args] });

const CURATED: Readonly<Record<string, Curated>> = {
  files: {
    takes: 'a folder',
    of: (folder) => ({
      server: npm('@modelcontextprotocol/server-filesystem@2026.8.31', folder),
      settings: { marks: { readOnly: ['read_*', 'list_*', 'directory_tree', 'search_files', 'get_file_info'], closedWorld: ['*'] } },
    }),
  },
  git: {
    takes: 'the folder of a repository',
    of: (folder) => ({
      server: pypi('mcp-server-git@2026.10.19', '--repository', folder),
      settings: { marks: { readOnly: ['git_status', 'git_diff*', 'git_log', 'git_show', 'git_branch'], closedWorld: ['*'] } },
      note: 'It needs uvx (https://docs.astral.sh/uv/).',
    }),
  },
  web: {
    of: () => ({
      server: pypi('mcp-server-fetch@2026.10.24'),
      settings: { marks: { readOnly: ['*'] } },
      note: 'It needs uvx (https://docs.astral.sh/uv/). What it reads comes from anybody: calls that write or send wait for you after it.',
    }),
  },
  time: {
    of: () => ({
      server: pypi('mcp-server-time@2026.10.19'),
      settings: { marks: { readOnly: ['*'], closedWorld: ['*'] } },
      note: 'It needs uvx (https://docs.astral.sh/uv/).',
    }),
  },
  github: {
    of: () => ({
      server: { type: 'http', url: 'https://api.githubcopilot.com/mcp/', headers: { Authorization: `Bearer ${'$'}{auth:github.token}` } },
      note: 'This address was not tried by those who made Blockhouse. It needs a token: store it, then look at it with `tools test github`.',
    }),
  },
  sqlite: {
    takes: 'a file',
    of: (file) => ({ server: npm('mcp-sqlite@1.0.9', file), note: 'It says nothing of what its tools do, so every call waits for you.' }),
  },
};

/** The names of these servers. */
export const CURATED_NAMES: readonly string[] = Object.keys(CURATED);

/** The entry for a name with its arguments; undefined for a name that is not known. Throws a CliError for too many or too few arguments. */
export function curatedServer(name: string, args: readonly string[]): CuratedServer | undefined {
  const known = Object.hasOwn(CURATED, name) ? CURATED[name] : undefined;
  if (known === undefined) return undefined;
  const { takes, of } = known;
  if (args.length !== (takes === undefined ? 0 : 1))
    throw new CliError('usage', `tools add ${name} takes ${takes ?? 'no argument'}. For a server of your own of this name, add --custom.`);
  return of(args[0] ?? '');
}
