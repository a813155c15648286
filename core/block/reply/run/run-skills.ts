// The skills of one run: those that were approved when it began (same-skills), and their texts while it goes on.
//
// as-begun: a skill is read as the run began with it. One that was changed since, also if it was approved again, is changed for the model.
import { WORKSPACE_OWNER, type SkillOffer, skillOffer, skillRecord, skillText } from '../../../tools/skills.ts';
import type { SkillHost } from '../../../tools/servers.ts';
import type { BlockConfig } from '../../../types.ts';
import type { WorkspaceContext } from '../block-context.ts';

/** Whose skills a block may have, its own first. Blocks in a database have no folder, so none of their own. */
export function skillOwners(world: Pick<WorkspaceContext, 'member'>, block: string): readonly string[] {
  return world.member().isShared ? [WORKSPACE_OWNER] : [block, WORKSPACE_OWNER];
}

/** Where skills are read. */
export interface SkillSource {
  /** Undefined where nothing reads skills. */
  readonly host: SkillHost | undefined;
  readonly owners: readonly string[];
}

/** What a run has of skills. */
export class RunSkills implements SkillOffer {
  readonly skills: SkillOffer['skills'];
  readonly section: string;
  readonly problems: readonly string[];
  readonly #source: SkillSource;

  private constructor(source: SkillSource, offer: SkillOffer) {
    this.#source = source;
    this.skills = offer.skills;
    this.section = offer.section;
    this.problems = offer.problems;
  }

  /** `recorded`: those of a run that goes on. Rejects as `SkillHost.offered` does. */
  static async open(source: SkillSource, { skills: names = [] }: Pick<BlockConfig, 'skills'>, recorded?: readonly string[]): Promise<RunSkills> {
    if (names.length === 0 || source.host === undefined) return new RunSkills(source, skillOffer([]));
    const { skills, problems } = await source.host.offered(source.owners, names);
    if (recorded === undefined) return new RunSkills(source, skillOffer(skills, problems));
    return new RunSkills(source, skillOffer(skills.filter((skill) => recorded.includes(skillRecord(skill)))));
  }

  get records(): readonly string[] {
    return this.skills.map(skillRecord);
  }

  /** What the model gets. `isError`: why there is nothing. */
  async read({ name, file }: { readonly name: string; readonly file?: string }): Promise<{ readonly text: string; readonly isError: boolean }> {
    const skill = this.skills.find((one) => one.name === name);
    const names = this.skills.map((one) => one.name).join(', ');
    if (skill === undefined) return refused(`There is no skill ${JSON.stringify(name)}. The skills are ${names || 'none'}.`);
    const { host, owners } = this.#source;
    const read = await host?.read(owners, name);
    if (read?.hash !== skill.hash) return refused(`The skill ${name} was changed or removed since this run began, so it can't be read now. Tell the user.`); // as-begun
    const text = skillText(read, file);
    if (text !== undefined) return { text, isError: false };
    return refused(`The skill ${name} has no file ${JSON.stringify(file)}. Its files are ${[...read.files.keys()].join(', ')}.`);
  }
}

function refused(text: string): { readonly text: string; readonly isError: boolean } {
  return { text, isError: true };
}
