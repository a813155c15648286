// Lists and approves the skills of blocks and of the workspace.
import { BlockhouseError } from '../errors.ts';
import type { Warning } from '../schemas/chat.ts';
import type { SkillHost } from '../tools/servers.ts';
import { WORKSPACE_OWNER } from '../tools/skills.ts';
import type { Blocks } from './api.ts';
import type { OperationsContext } from './operations.ts';
import type { WorkspaceContext } from './reply/block-context.ts';

/** What they ask besides. */
export interface SkillOperationsOptions {
  /** The names of all blocks. */
  names(): Promise<readonly string[]>;
}

/** The operations on skills. */
export function skillOperations(
  { world, blocks, gate }: OperationsContext,
  { names }: SkillOperationsOptions,
): Pick<Blocks, 'skills' | 'skill' | 'approveSkill'> {
  const isOwnFolder = (): boolean => !world.member().isShared;
  const owner = async (name: string): Promise<string> => {
    if (name === WORKSPACE_OWNER) return name;
    await blocks.find(name);
    if (isOwnFolder()) return name;
    throw new BlockhouseError('SKILL_NOT_FOUND', 'Blocks in a database have no skills of their own: put them into skills/ of the workspace.');
  };
  return {
    async skills(block) {
      const host = needSkills(world);
      if (block === undefined) return host.list([WORKSPACE_OWNER, ...(isOwnFolder() ? await names() : [])]);
      await blocks.find(block);
      const all = await host.list(isOwnFolder() ? [block, WORKSPACE_OWNER] : [WORKSPACE_OWNER]);
      const own = new Set(all.flatMap((skill) => (skill.owner === block ? [skill.name] : [])));
      return all.filter((skill) => skill.owner === block || !own.has(skill.name));
    },
    skill: async (of, name) => needSkills(world).get(await owner(of), name),
    approveSkill: (of, name, body, by) => gate.pass(async () => needSkills(world).approve(await owner(of), name, body, by)),
  };
}

/** What a person should know of the skills of a block that was imported. */
export async function importedSkills({ tools, member }: Pick<WorkspaceContext, 'tools' | 'member'>, name: string, isLeft: boolean): Promise<Warning[]> {
  if (isLeft)
    return [
      { field: 'skills', message: 'Its own skills were left out: a database keeps none of blocks. Put them into skills/ of the workspace, and approve them.' },
    ];
  const own = member().isShared ? [] : ((await tools?.host.skills?.list([name])) ?? []);
  return own.length === 0 ? [] : [{ field: 'skills', message: `Its own skills are not approved, so they are not offered: \`blockhouse skills ls ${name}\`` }];
}

function needSkills({ tools }: Pick<WorkspaceContext, 'tools'>): SkillHost {
  if (tools?.host.skills !== undefined) return tools.host.skills;
  throw new BlockhouseError('WRONG_STATE', 'This server reads no skills: it was started without a host of tools.');
}
