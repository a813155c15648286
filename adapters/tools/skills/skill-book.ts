// The skills of a workspace and of its blocks: what lies in their folders, and what of that is approved.
//
// approved-only: a skill is offered and read only if all its files have the hash that a person has approved. It is looked at again each time.
// own-first: of two skills with one name, that of the block counts, also while it is not approved: otherwise a change of it would bring another text in its place.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { nextTurn } from '../../../core/base/next-turn.ts';
import { estimateTokens } from '../../../core/base/tokens.ts';
import { undefinedFor } from '../../../core/base/undefined-for.ts';
import {
  type ApproveSkill,
  BlockhouseError,
  compile,
  type Finding,
  type OfferedSkills,
  type ReadSkill,
  type SkillHost,
  type SkillPin,
  type SkillView,
  schemas,
  type Validator,
} from '../../../core/index.ts';
import type { Pins } from '../pins.ts';
import { readSkillFolder, type SkillFolder, skillNames, type SkillRoot } from './skill-folder.ts';
import { skillPin } from './skill-pins.ts';

const { WORKSPACE_OWNER } = schemas;
const ALL = '*';
const BLOCK = /^[a-z0-9][a-z0-9-]{0,31}$/;
const checkApprove: Validator<ApproveSkill> = compile(schemas.ApproveSkill);

interface Found {
  readonly owner: string;
  readonly folder: SkillFolder;
  readonly pin: SkillPin | undefined;
}

/** The skills of a workspace. */
export class SkillBook implements SkillHost {
  readonly #workspace: string;
  readonly #pins: Pins;
  readonly #clock: () => number;

  /** `clock` in milliseconds of the epoch. */
  constructor(workspace: string, pins: Pins, clock: () => number) {
    this.#workspace = workspace;
    this.#pins = pins;
    this.#clock = clock;
  }

  async offered(owners: readonly string[], names: readonly string[]): Promise<OfferedSkills> {
    const problems: string[] = [];
    const skills: OfferedSkills['skills'][number][] = [];
    for (const name of this.#named(owners, names, problems)) {
      await nextTurn();
      const found = this.#find(owners, name);
      const problem = found === undefined ? `There is no skill ${name}: make ${placesOf(owners, name)}` : problemOf(found);
      if (problem !== undefined) problems.push(problem);
      else if (found !== undefined) skills.push({ name, hash: found.folder.hash, description: found.folder.description });
    }
    return { skills, problems };
  }

  async read(owners: readonly string[], name: string): Promise<ReadSkill | undefined> {
    const found = this.#find(owners, name);
    if (found === undefined || problemOf(found) !== undefined) return undefined;
    const { hash, body, files } = found.folder;
    return { hash, body, files };
  }

  async list(owners: readonly string[]): Promise<readonly SkillView[]> {
    await this.#pins.look();
    const views: SkillView[] = [];
    for (const owner of owners) {
      const { names, problem } = skillNames(this.#rootOf(owner));
      if (problem !== undefined)
        views.push({ owner, name: ALL, description: '', hash: '', state: 'unusable', tokens: 0, files: [], problem: sentence(problem) });
      for (const name of names) {
        await nextTurn();
        const found = this.#find([owner], name);
        if (found !== undefined) views.push(viewOf(found, false));
      }
    }
    return views;
  }

  async get(owner: string, name: string): Promise<SkillView> {
    return viewOf(await this.#need(owner, name), true);
  }

  async approve(owner: string, name: string, body: unknown, by: string): Promise<SkillView> {
    checkApprove(body);
    const { folder } = await this.#need(owner, name);
    const command = `\`blockhouse skills diff ${shownName(owner, name)}\``;
    if (folder.problem !== undefined) throw new BlockhouseError('TOOL_CHANGED', `The skill ${name} can't be used: ${sentence(folder.problem)}`);
    if (folder.hash !== body.hash) throw new BlockhouseError('TOOL_CHANGED', `The skill ${name} is not the one that was shown. Read it again: ${command}.`);
    const pin = skillPin(folder.hash, folder.files, new Date(this.#clock()).toISOString(), by);
    const there = new Set(skillNames(this.#rootOf(owner)).names);
    await this.#pins.changeSkills((all) => {
      const own = Object.entries(ownOf(all, owner) ?? {}).filter(([each]) => there.has(each)); // what is gone is forgotten
      return { ...all, [owner]: { ...Object.fromEntries(own), [name]: pin } };
    });
    return this.get(owner, name);
  }

  async forget(owner: string): Promise<void> {
    await this.#pins.changeSkills((all) => without(all, owner));
  }

  async rename(from: string, to: string, isResumed = false): Promise<void> {
    await this.#pins.changeSkills((all) => {
      const own = ownOf(all, from);
      if (own === undefined && isResumed) return all;
      const others = without(without(all, from), to);
      return own === undefined ? others : { ...others, [to]: own };
    });
  }

  async findings({ blocks }: { readonly blocks: boolean }): Promise<readonly Finding[]> {
    const owners = blocks ? await blocksIn(this.#workspace) : [];
    const views = await this.list([WORKSPACE_OWNER, ...owners]);
    return views.flatMap(({ owner, name, state, problem = '' }): Finding[] => {
      const place = [...wayOf(owner), ...(name === ALL ? [] : [name])].join('/');
      const command = `\`blockhouse skills diff ${shownName(owner, name)}\``;
      if (state === 'unusable')
        return [
          {
            severity: 'warning',
            place,
            problem: `it is not offered to models: ${problem.replace(/\.$/, '')}`,
            fix: 'Then read and approve it (`blockhouse skills ls`).',
          },
        ];
      if (state === 'approved') return [];
      return [{ severity: 'warning', place, problem: `it is ${state}, so it is not offered to models`, fix: `Read it: ${command}, then approve it.` }];
    });
  }

  /** Names of a configuration; `*` stands for all that are there. */
  #named(owners: readonly string[], names: readonly string[], problems: string[]): string[] {
    const all = new Set(names.filter((name) => name !== ALL));
    for (const owner of names.includes(ALL) ? owners : []) {
      const { names: there, problem } = skillNames(this.#rootOf(owner));
      if (problem !== undefined) problems.push(problem);
      for (const name of there) all.add(name);
    }
    return [...all].sort();
  }

  /** own-first. */
  #find(owners: readonly string[], name: string): Found | undefined {
    for (const owner of owners) {
      const folder = readSkillFolder(this.#rootOf(owner), name);
      if (folder !== undefined) return { owner, folder, pin: this.#pins.skill(owner, name) };
    }
    return undefined;
  }

  async #need(owner: string, name: string): Promise<Found> {
    await this.#pins.look();
    const found = isPlain(name) ? this.#find([owner], name) : undefined;
    if (found !== undefined) return found;
    const where = owner === WORKSPACE_OWNER ? 'of the workspace' : `of the block ${owner}`;
    throw new BlockhouseError('SKILL_NOT_FOUND', `There is no skill ${JSON.stringify(name.slice(0, 64))} ${where}. \`blockhouse skills ls\` lists them.`);
  }

  #rootOf(owner: string): SkillRoot {
    return { workspace: this.#workspace, way: wayOf(owner) };
  }
}

/** From the workspace on. Throws SKILL_NOT_FOUND for what is no owner. */
function wayOf(owner: string): string[] {
  if (owner === WORKSPACE_OWNER) return ['skills'];
  if (!BLOCK.test(owner)) throw new BlockhouseError('SKILL_NOT_FOUND', 'Skills belong to a block or, with `_`, to the workspace.');
  return ['blocks', owner, 'skills'];
}

/** The names of blocks by their folders. */
async function blocksIn(workspace: string): Promise<string[]> {
  const entries = await readdir(join(workspace, 'blocks'), { withFileTypes: true }).catch(undefinedFor('ENOENT', 'ENOTDIR'));
  return (entries ?? []).flatMap((entry) => (entry.isDirectory() && BLOCK.test(entry.name) ? [entry.name] : [])).sort();
}

/** Anything else is no name in a folder. */
function isPlain(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

function placesOf(owners: readonly string[], name: string): string {
  return owners.map((owner) => [...wayOf(owner), name, 'SKILL.md'].join('/')).join(' or ');
}

/** As commands take it. */
function shownName(owner: string, name: string): string {
  return owner === WORKSPACE_OWNER ? name : `${owner}/${name}`;
}

function stateOf({ folder, pin }: Found): SkillView['state'] {
  if (folder.problem !== undefined) return 'unusable';
  if (pin === undefined) return 'new';
  return pin.hash === folder.hash ? 'approved' : 'changed';
}

/** Why a skill is not offered; undefined for one that is. Ends without a full stop. */
function problemOf(found: Found): string | undefined {
  const { owner, folder } = found;
  const state = stateOf(found);
  if (state === 'approved') return undefined;
  if (state === 'unusable') return folder.problem;
  const shown = shownName(owner, folder.name);
  return state === 'new'
    ? `The skill ${shown} is new and not offered (\`blockhouse skills diff ${shown}\`)`
    : `The skill ${shown} changed and is not offered (\`blockhouse skills diff ${shown}\`)`;
}

function viewOf(found: Found, isWhole: boolean): SkillView {
  const { owner, folder, pin } = found;
  const { name, hash, description, files, body, problem } = folder;
  const state = stateOf(found);
  return {
    owner,
    name,
    description,
    hash,
    state,
    tokens: problem === undefined ? estimateTokens(body) : 0,
    files: [...files.keys()],
    ...(problem !== undefined && { problem: sentence(problem) }),
    ...(pin !== undefined && { approvedAt: pin.approvedAt, approvedBy: pin.approvedBy }),
    ...(isWhole && { now: Object.fromEntries(files) }),
    ...(isWhole && state === 'changed' && pin?.files !== undefined && { was: pin.files }),
  };
}

function ownOf<T>(all: Readonly<Record<string, T>>, owner: string): T | undefined {
  return Object.hasOwn(all, owner) ? all[owner] : undefined;
}

function without<T>(all: Readonly<Record<string, T>>, owner: string): Readonly<Record<string, T>> {
  return ownOf(all, owner) === undefined ? all : Object.fromEntries(Object.entries(all).filter(([each]) => each !== owner));
}

function sentence(text: string): string {
  return /^(?:skills|blocks)\//.test(text) ? `${text}.` : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
