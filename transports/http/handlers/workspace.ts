// `/api/costs`, `/api/doctor`, `/api/halt`: the workspace as a whole.
import { OTHER_BODY_BYTES, readJsonBody } from '../body.ts';
import { queryChoice, queryValue } from '../query.ts';
import { ok } from '../reply.ts';
import type { Handler } from '../router.ts';

export const costs: Handler = async ({ core, req }) =>
  ok(await core.blocks.costs({ by: queryChoice(req, 'by', ['block', 'model', 'day']), block: queryValue(req, 'block') }));

export const doctor: Handler = async ({ core }) => ok(await core.blocks.check());

export const halted: Handler = ({ core }) => ok(core.blocks.halted());

export const halt: Handler = async (context) => ok(await context.core.blocks.halt(await readJsonBody(context, OTHER_BODY_BYTES, true)));

export const unhalt: Handler = async ({ core }) => ok(await core.blocks.unhalt());
