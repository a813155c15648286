// What a person should know of the tools of a block, for `why`. The code of runs is loaded for a block with tools only.
import { toBlockhouseError } from '../errors.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import type { WorkspaceTools } from './reply/block-context.ts';
import { hasTools } from './reply/has-tools.ts';

/** A sentence for each reason why tools of its servers are not offered, with the command that helps, and one for those that the model must find. */
export async function toolNotes(config: BlockConfig, tools: WorkspaceTools | undefined): Promise<readonly string[]> {
  if (tools === undefined || !hasTools(config)) return [];
  const { missingTools } = await import('./reply/run/parts.ts');
  try {
    return (await missingTools(tools.host, config)).map((text) => `${text}.`);
  } catch (error) {
    return [`Its tools can't be listed: ${toBlockhouseError(error).message}`];
  }
}
