// The skills of a run: what the prompt says of them, and what a model reads of one. Pure: no I/O.
//
// same-skills: the skills of a run are fixed when it begins, sorted by name, by the hash of each. One that has changed since is not read any more.
// one-line: a description is one line of a list, whatever it says.
import { estimateTokens } from '../base/tokens.ts';
import { READ_SKILL } from './builtin/definitions.ts';
import { withoutInvisible } from './offer.ts';
import type { OfferedSkill, ReadSkill } from './servers.ts';

/** The owner of the skills that all blocks may have. No block has this name. */
export const WORKSPACE_OWNER = '_';
/** Of all names and descriptions in a prompt. */
const MAX_TOKENS = 4000;
const HEADING = `## Skills\nThe user has written down how some things are done. Before you do one of them, read its skill with ${READ_SKILL}.`;

/** What a run begins with. */
export interface SkillOffer {
  readonly skills: readonly OfferedSkill[];
  /** For the prompt; '' without any. */
  readonly section: string;
  /** Sentences without their end. */
  readonly problems: readonly string[];
}

/** The skills that fit into the prompt, in the order of their names; those after the first that does not fit are left out. */
export function skillOffer(all: readonly OfferedSkill[], problems: readonly string[] = []): SkillOffer {
  const sorted = all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  let fitting = sorted.length;
  while (estimateTokens(sectionOf(sorted.slice(0, fitting))) > MAX_TOKENS) fitting -= 1;
  const [skills, left] = [sorted.slice(0, fitting), sorted.slice(fitting)];
  const names = left.map(({ name }) => name).join(', ');
  const tooMany = left.length === 0 ? [] : [`The descriptions of skills are more than ${MAX_TOKENS} tokens, so these are not offered: ${names}`];
  return { skills, section: sectionOf(skills), problems: [...problems, ...tooMany] };
}

function sectionOf(skills: readonly OfferedSkill[]): string {
  return skills.length === 0 ? '' : [HEADING, ...skills.map(({ name, description }) => `- ${name}: ${oneLine(description)}`)].join('\n');
}

function oneLine(text: string): string {
  return withoutInvisible(text).replaceAll(/\s+/g, ' ').trim();
}

/** A skill in the record of a run. */
export function skillRecord({ name, hash }: Pick<OfferedSkill, 'name' | 'hash'>): string {
  return `${name}#${hash}`;
}

/** What a model gets for SKILL.md, or for another file. Undefined where there is no such file. */
export function skillText({ body, files }: ReadSkill, file = SKILL_FILE): string | undefined {
  const text = file === SKILL_FILE ? body : files.get(file);
  if (text === undefined) return undefined;
  const others = [...files.keys()].filter((path) => path !== SKILL_FILE);
  const more = file !== SKILL_FILE || others.length === 0 ? '' : `(Other files of this skill, to be read with \`file\`: ${others.join(', ')}.)\n\n`;
  return more + withoutInvisible(text);
}

const SKILL_FILE = 'SKILL.md';
