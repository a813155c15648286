// A book of servers for tests: everything that a server lists is approved.
import type { ServerSettings, ToolDefinition } from '../../../core/index.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import { marksOf } from '../../../core/tools/marks.ts';
import type { CallableServer, FullServerSettings, ListedTool, ServerBook, ServerStart } from '../../../adapters/tools/server.ts';

export const TRUSTING: ServerSettings = { marks: { readOnly: ['*'], idempotent: ['*'], closedWorld: ['*'] } };

export const FULL: FullServerSettings = {
  ...TRUSTING,
  share: 'workspace',
  startTimeoutMs: 20_000,
  callTimeoutMs: 60_000,
  maxCallMs: 600_000,
  idleStopMs: 300_000,
  concurrency: 4,
  maxResultBytes: 8 * 1024 * 1024,
  sandbox: undefined,
};

/** A program of Node as a server. */
export function nodeServer(
  name: string,
  args: readonly string[],
  more: Partial<CallableServer> & { readonly settingsOf?: Partial<FullServerSettings> } = {},
): CallableServer {
  const start: ServerStart = { kind: 'stdio', command: process.execPath, args, env: {} };
  const { settingsOf = {}, ...others } = more;
  return { name, definition: `definition of ${name}`, start, settings: { ...FULL, ...settingsOf }, era: 'legacy', secrets: [], ...others };
}

export class StandInBook implements ServerBook {
  readonly servers = new Map<string, { server: CallableServer; tools: readonly ListedTool[] }>();

  approve(server: CallableServer, tools: readonly ListedTool[]): void {
    this.servers.set(server.name, { server, tools });
  }

  async catalogue(names: readonly string[]): ReturnType<ServerBook['catalogue']> {
    const known = names.flatMap((name) => this.servers.get(name) ?? []);
    return {
      tools: known.flatMap(({ server, tools }) => tools.map((tool) => definitionOf(server.name, tool))),
      settings: Object.fromEntries(known.map(({ server }) => [server.name, server.settings])),
      problems: names.filter((name) => !this.servers.has(name)).map((server) => ({ server, problem: 'there is no such server' })),
    };
  }

  async callable(name: string, tool: string, pin: string): Promise<CallableServer> {
    const { server, tools = [] } = this.servers.get(name) ?? {};
    const listed = tools.find((one) => one.name === tool);
    if (server === undefined || listed === undefined || pin !== `pin-of-${tool}`)
      throw new BlockhouseError('TOOL_NOT_BEGUN', `${name}/${tool} is not approved.`);
    return { ...server, isReadOnly: marksOf(definitionOf(name, listed), server.settings).readOnly };
  }
}

function definitionOf(server: string, { name, description, inputSchema, annotations }: ListedTool): ToolDefinition {
  return { server, tool: name, pin: `pin-of-${name}`, description, inputSchema, annotations };
}
