// Whether a block may call tools or read skills, without the code that does so. Pure: no I/O.
import { BlockhouseError, invalidRequest } from '../../errors.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { BlockWork } from '../../tools/builtin/work.ts';
import type { ToolHost } from '../../tools/port.ts';
import type { WorkspaceContext, WorkspaceTools } from './block-context.ts';

/** What is looked at of a configuration. */
export type ToolFields = Pick<BlockConfig, 'tools'> & Partial<Pick<BlockConfig, 'skills'>>;

/** True for a configuration that names servers of tools. */
export function hasTools({ tools }: ToolFields): boolean {
  return (tools?.servers ?? []).length > 0;
}

/** True for one that names skills. */
export function hasSkills({ skills = [] }: ToolFields): boolean {
  return skills.length > 0;
}

/** True for a block whose messages are answered by runs, which keep journals. */
export function hasRuns(config: ToolFields): boolean {
  return hasTools(config) || hasSkills(config);
}

/**
 * Throws INVALID_REQUEST for a configuration with tools or skills that nothing can run or read here. The tools of the server `block` need nothing. `place` is its path in a
 * body. Undefined for a block without both.
 */
export function assertTools(world: Pick<WorkspaceContext, 'tools'>, config: ToolFields, place = ''): WorkspaceTools | undefined {
  if (!hasRuns(config)) return undefined;
  const isOwn = (config.tools?.servers ?? []).every((server) => server === 'block');
  if (world.tools === undefined || (!isOwn && !world.tools.hasHost)) throw noTools(place);
  if (hasSkills(config) && world.tools.host.skills === undefined) throw noSkills(place);
  return world.tools;
}

function noSkills(place: string): BlockhouseError {
  const why = "can't be used: this server has nothing that reads skills (`skills` of the tool host, the option `tools` of createCore)";
  return invalidRequest(`${place}skills`, `${why}. Set it to []`);
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
