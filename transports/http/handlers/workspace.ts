// `/api/costs`, `/api/doctor`, `/api/halt`: the workspace as a whole.
import { OTHER_BODY_BYTES, readJsonBody } from '../body.ts';
import { queryChoice, queryValue } from '../query.ts';
import { ok } from '../reply.ts';
import type { RouteContext } from '../route.ts';

export const costs = async ({ core, req }: RouteContext) =>
  ok(await core.blocks.costs({ by: queryChoice(req, 'by', ['block', 'model', 'day']), block: queryValue(req, 'block') }));

export const doctor = async ({ core }: RouteContext) => ok(await core.blocks.check());

export const halted = ({ core }: RouteContext) => ok(core.blocks.halted());

export const halt = async (context: RouteContext) => ok(await context.core.blocks.halt(await readJsonBody(context, OTHER_BODY_BYTES, true)));

export const unhalt = async ({ core }: RouteContext) => ok(await core.blocks.unhalt());
