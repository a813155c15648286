// The routes of skills. They are for the token of the workspace and the sessions of the page: a key of an application approves nothing.
import * as skills from '../handlers/skills.ts';
import { BODY, body, DISK, json } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const one = { owner: 'Name of the block, or `_` for the workspace', name: 'Name of the skill' };
/** WRONG_STATE: a server of the gateway alone has no skills. */
const READ = ['BLOCK_NOT_FOUND', 'WRONG_STATE'] as const;

/** The routes of skills by `METHOD /path`. */
export const SKILL_ROUTES = {
  'GET /api/skills': {
    id: 'listSkills',
    tag: 'Tools',
    summary: 'List skills',
    description: 'The skills of the workspace and of all blocks as they lie in their folders now, with what of them is approved. Runs nothing.',
    query: { block: { schema: { type: 'string' }, description: 'Only those that this block may have: its own, and those of the workspace' } },
    answers: { 200: json('SkillList', 'Those of the workspace first, each sorted by name.') },
    errors: ['INVALID_REQUEST', ...READ],
    handler: skills.list,
  },
  'GET /api/skills/:owner/:name': {
    id: 'showSkill',
    tag: 'Tools',
    summary: 'Show a skill',
    description: 'The same of one skill, with its texts as they are now, and as they were approved where they differ.',
    params: one,
    answers: { 200: json('SkillShown', 'The skill.') },
    errors: ['SKILL_NOT_FOUND', ...READ],
    handler: skills.show,
  },
  'POST /api/skills/:owner/:name/approve': {
    id: 'approveSkill',
    tag: 'Tools',
    summary: 'Approve a skill',
    description:
      'Approves a skill by the hash that was shown. Refused if any of its files is another one by now. From the next message on, models are offered it.',
    params: one,
    body: body('ApproveSkill'),
    answers: { 200: json('SkillChanged', 'The skill.') },
    errors: ['SKILL_NOT_FOUND', 'TOOL_CHANGED', 'TOOL_SERVER_REFUSED', 'WORKSPACE_DAMAGED', ...BODY, ...READ, ...DISK],
    handler: skills.approve,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
