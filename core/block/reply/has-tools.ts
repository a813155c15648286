// Whether a block may call tools, without the code that calls them. Pure: no I/O.
import { type BlockhouseError, invalidRequest } from '../../errors.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';

/** True for a configuration that names servers of tools. */
export function hasTools({ tools }: Pick<BlockConfig, 'tools'>): boolean {
  return (tools?.servers ?? []).length > 0;
}

/** What a configuration with tools gets where nothing can run them. `place` is the path of the configuration in a body. */
export function noTools(place = ''): BlockhouseError {
  const why = "can't be used yet: this server has nothing that runs tools (the option `tools` of createCore)";
  return invalidRequest(`${place}tools.servers`, `${why}. Remove \`tools\`, or set it to null`);
}
