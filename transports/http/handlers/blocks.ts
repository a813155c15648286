// `/api/blocks`: what a block is, its configuration, its monitor. Each handler is one call of the core.
import { OTHER_BODY_BYTES, readJsonBody } from '../body.ts';
import { blockListText } from '../list-text.ts';
import { etagOf, ifMatchOf, queryChoice } from '../query.ts';
import { ok } from '../reply.ts';
import { type Handler, param } from '../router.ts';

export const list: Handler = async ({ core }) => ok(blockListText(await core.blocks.list()));

export const create: Handler = async (context) => {
  const { name } = await context.core.blocks.create(await readJsonBody(context, OTHER_BODY_BYTES, false));
  return ok({ success: true, name });
};

export const details: Handler = async (context) => {
  const { name, config, memory, costs, pulse } = await context.core.blocks.details(param(context, 'name'));
  return ok({ name, config, memory, costs, pulse });
};

export const why: Handler = async (context) => ok(await context.core.blocks.explain(param(context, 'name')));

export const archive: Handler = async (context) => {
  const name = param(context, 'name');
  const { archiveName } = await context.core.blocks.archive(name);
  return ok({ success: true, message: `${name} is in the archive as ${archiveName}.`, archiveName });
};

export const start: Handler = async (context) => ok({ success: true, ...(await context.core.blocks.start(param(context, 'name'))) });

export const stop: Handler = async (context) => ok({ success: true, ...(await context.core.blocks.stop(param(context, 'name'))) });

export const restart: Handler = async (context) => ok({ success: true, ...(await context.core.blocks.restart(param(context, 'name'))) });

export const reset: Handler = async (context) => {
  const hard = queryChoice(context.req, 'hard', ['false', 'true']) === 'true';
  return ok({ success: true, ...(await context.core.blocks.reset(param(context, 'name'), { hard })) });
};

export const config: Handler = async (context) => {
  const current = await context.core.blocks.config(param(context, 'name'));
  return ok({ config: current }, etagOf(current));
};

export const updateConfig: Handler = async (context) => {
  const ifMatch = ifMatchOf(context.req);
  const patch = await readJsonBody(context, OTHER_BODY_BYTES, false);
  const current = await context.core.blocks.updateConfig(param(context, 'name'), patch, { ifMatch });
  return ok({ success: true, config: current }, etagOf(current));
};

export const logs: Handler = async (context) => ok({ logs: await context.core.blocks.logs(param(context, 'name')) });
