// Handlers of `/api/skills`: what the folders of skills hold, and what is approved of it. They decide nothing; the core does.
import type { ApproveSkill } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { channelOf, queryValue } from '../wire/query.ts';
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

/** `{skills}`; with `?block=`, those that the block may have. Fails with BLOCK_NOT_FOUND. */
export const list = async ({ core, req }: RouteContext) => ok({ skills: await core.blocks.skills(queryValue(req, 'block')) });

/** `{skill}`, with its texts. Fails with SKILL_NOT_FOUND. */
export const show = async (context: RouteContext) => ok({ skill: await context.core.blocks.skill(param(context, 'owner'), param(context, 'name')) });

/** `{success, skill}`. Fails with TOOL_CHANGED. */
export const approve = async (context: RouteContext) => {
  const by = channelOf(context.req);
  const body = (await readJsonBody(context, OTHER_BODY_BYTES, false)) as ApproveSkill; // the core checks it
  return ok({ success: true as const, skill: await context.core.blocks.approveSkill(param(context, 'owner'), param(context, 'name'), body, by) });
};
