// Whether a block may call tools, without the code that calls them. Pure: no I/O.
import { BlockhouseError, invalidRequest } from '../../errors.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { BlockWork } from '../../tools/builtin/work.ts';
import type { ToolHost } from '../../tools/port.ts';
import type { WorkspaceContext, WorkspaceTools } from './block-context.ts';

/** True for a configuration that names servers of tools. */
export function hasTools({ tools }: Pick<BlockConfig, 'tools'>): boolean {
  return (tools?.servers ?? []).length > 0;
}

/** Throws INVALID_REQUEST for a configuration with tools that nothing can run here. The tools of the server `block` need nothing. `place` is its path in a body. */
export function assertTools(world: Pick<WorkspaceContext, 'tools'>, config: Pick<BlockConfig, 'tools'>, place = ''): WorkspaceTools | undefined {
  if (!hasTools(config)) return undefined;
  const isOwn = (config.tools?.servers ?? []).every((server) => server === 'block');
  if (world.tools === undefined || (!isOwn && !world.tools.hasHost)) throw noTools(place);
  return world.tools;
}

/** What a configuration with tools gets where nothing can run them. `place` is the path of the configuration in a body. */
export function noTools(place = ''): BlockhouseError {
  const why = "can't be used: this server has nothing that runs tools (the option `tools` of createCore); only `block` needs none";
  return invalidRequest(`${place}tools.servers`, `${why}. Remove \`tools\`, or set it to null`);
}

/** What runs the tools of blocks, from the option `tools` of a core. */
export class ToolsHere implements WorkspaceTools {
  readonly host: ToolHost;
  readonly hasHost: boolean;
  readonly realPath: WorkspaceTools['realPath'];
  #work: BlockWork | undefined;

  constructor(host: ToolHost | undefined, realPath: WorkspaceTools['realPath']) {
    this.host = host ?? NO_HOST;
    this.hasHost = host !== undefined;
    this.realPath = realPath;
  }

  provide(work: BlockWork): void {
    this.#work = work;
  }

  work(): BlockWork {
    if (this.#work === undefined) throw new Error('The tools have no blocks to work on.');
    return this.#work;
  }
}

const NO_HOST: ToolHost = {
  catalogue: async (servers) => ({
    tools: [],
    settings: {},
    problems: servers.map((server) => ({ server, problem: 'this server has nothing that runs tools' })),
  }),
  call: async () => Promise.reject(new BlockhouseError('TOOL_NOT_BEGUN', 'This server has nothing that runs tools.')),
  halt: async () => undefined,
  close: async () => undefined,
};
