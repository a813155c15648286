// What a person should know of the tools and skills of a block, for `why`. The code of runs is loaded for a block with one of them only.
import { toBlockhouseError } from '../errors.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import type { WorkspaceContext } from './reply/block-context.ts';
import { hasRuns } from './reply/has-tools.ts';

/** A sentence for each reason why tools of its servers or skills are not offered, with the command that helps, and one for those that the model must find. */
export async function toolNotes(config: BlockConfig, world: Pick<WorkspaceContext, 'tools' | 'member'>): Promise<readonly string[]> {
  const { tools } = world;
  if (tools === undefined || !hasRuns(config)) return [];
  const { missingTools, skillOwners } = await import('./reply/run/parts.ts');
  try {
    return (await missingTools(tools.host, config, { host: tools.host.skills, owners: skillOwners(world, config.name) })).map((text) => `${text}.`);
  } catch (error) {
    return [`Its tools can't be listed: ${toBlockhouseError(error).message}`];
  }
}
