// `blockhouse skills`: what the folders of skills hold, and what of it models are offered.
//
// shown-first: an approval names the hash of what was just shown, so that a change in between is refused by the server.
import { Command, Option } from 'clipanion';
import type { SkillView } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { SkillsApi } from '../client/skills-api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { foldedInside, isTerminal, oneLine, widthOf, writeLines } from '../terminal/output.ts';
import { visible } from '../terminal/unseen.ts';
import { skillDiff, skillLines, skillName, skillTable } from '../views/skill-text.ts';

const category = 'Tools';
const WORKSPACE = '_';

/** What they share. */
abstract class SkillsCommand extends ServerCommand {
  /** Finds a skill by its name, or by `block/name`. */
  protected async find(api: Api, given: string): Promise<SkillView> {
    const skills = new SkillsApi(api.client);
    const [first = '', second, ...more] = given.split('/');
    if (more.length > 0) throw new CliError('usage', `${oneLine(given)} is no skill: give its name, or <block>/<name>.`);
    if (second !== undefined) return (await skills.show(first, second)).skill;
    const named = (await skills.list()).skills.filter(({ name }) => name === first);
    const others = named.filter(({ owner }) => owner !== WORKSPACE);
    if (named.length === others.length && others.length > 0) {
      const choices = others.map((skill) => oneLine(skillName(skill))).join(', ');
      throw new CliError('usage', `The workspace has no skill ${oneLine(first)}. Did you mean ${choices}?`);
    }
    return (await skills.show(WORKSPACE, first)).skill;
  }
}

/** Prints `{skills}`, or a table. */
export class SkillsListCommand extends SkillsCommand {
  static override readonly paths = [['skills', 'ls'], ['skills', 'list'], ['skills']];
  static override readonly usage = Command.Usage({
    category,
    description: 'List skills, with what of them is approved',
    details: `
      A skill is a folder with a SKILL.md, in \`skills/\` of the workspace or of a block: what it is for, and how it is done. Models are offered those that are approved and that
      \`skills\` in the configuration of their block names. With a block, only those that it may have.
    `,
    examples: [
      ['All skills', '$0 skills ls'],
      ['Those that a block may have', '$0 skills ls ada'],
    ],
  });

  block = Option.String({ name: 'block', required: false });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const list = await new SkillsApi(api.client).list(this.block);
      await this.print(list, list.skills.length === 0 ? [] : skillTable(list.skills, { width: this.width, style: this.style }));
      if (this.json) return 'ok';
      for (const { problem } of list.skills) if (problem !== undefined) await this.say(this.own(oneLine(visible(problem))));
      const open = list.skills.find(({ state }) => state === 'new' || state === 'changed');
      if (open !== undefined) await this.say(`To read what is not approved: \`${this.hint('skills', 'diff', skillName(open))}\``);
      if (list.skills.length === 0) await this.#sayHow();
      return 'ok';
    });
  }

  async #sayHow(): Promise<void> {
    const { workspace } = await this.config();
    await this.say(`There are no skills. To make one, write ${oneLine(workspace)}/skills/invoice/SKILL.md:`);
    for (const line of ['---', 'name: invoice', 'description: How we write invoices. Read it before you write one.', '---', 'Every invoice has a number …'])
      await this.say(`  ${line}`);
    await this.say(`Then approve it, and give it to a block: \`${this.hint('config', 'set', '<block>', 'skills=["invoice"]')}\``);
  }
}

/** Prints the differences, or `{skill}`. */
export class SkillsDiffCommand extends SkillsCommand {
  static override readonly paths = [['skills', 'diff']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Show what a skill says now, and what was approved',
    details: 'Lines with - are the approved text, those with + the new one. Characters that are not seen are shown as escapes, such as \\u200b.',
    examples: [
      ['A skill of the workspace', '$0 skills diff invoice'],
      ['A skill of a block', '$0 skills diff ada/invoice'],
    ],
  });

  skill = Option.String({ name: 'skill' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const skill = await this.find(api, this.skill);
      const lines = skillDiff(skill);
      await this.print({ skill }, lines);
      if (this.json) return 'ok';
      if (skill.state === 'approved') await this.say('Nothing has changed since it was approved.');
      else if (skill.state !== 'unusable') await this.say(`To offer it as it is now: \`${this.hint('skills', 'approve', skillName(skill))}\``);
      return 'ok';
    });
  }
}

/** Prints nothing, or `{success, skill}`. */
export class SkillsApproveCommand extends SkillsCommand {
  static override readonly paths = [['skills', 'approve']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Approve a skill as it is now',
    details:
      'At a terminal, it shows every file and asks. Elsewhere it approves the skill as it finds it. A skill that changes later, by one byte, is not offered until it is approved again.',
    examples: [
      ['A skill of a block', '$0 skills approve ada/invoice'],
      ['In a script, what was read before', '$0 skills approve invoice --hash 77ab…'],
    ],
  });

  hash = Option.String('--hash', { description: 'Only if it is the skill with this hash, which `skills diff --json` has shown' });
  skill = Option.String({ name: 'skill' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const skill = await this.find(api, this.skill);
      if (skill.state === 'unusable') throw new CliError('usage', `It can't be used: ${oneLine(visible(skill.problem ?? ''))}`);
      if (!this.json && isTerminal(this.context.stdin) && isTerminal(this.stderr)) {
        const lines = skill.state === 'changed' ? skillDiff(skill) : skillLines(skill);
        for (const line of lines) await writeLines(this.stderr, foldedInside(line, widthOf(this.stderr)));
        if (!(await this.agreed('Approve this?', () => false))) {
          await this.say('Nothing was approved.');
          return 'unexpected';
        }
      }
      const approved = await new SkillsApi(api.client).approve(skill.owner, skill.name, this.hash ?? skill.hash);
      await this.print(approved, []);
      if (this.json) return 'ok';
      const block = skill.owner === WORKSPACE ? '<block>' : skill.owner;
      const command = this.hint('config', 'set', block, `skills=${JSON.stringify([skill.name])}`);
      await this.say(`${oneLine(skillName(skill))} is approved. To give it to a block: \`${command}\`, with the other skills that it has.`);
      return 'ok';
    });
  }
}
