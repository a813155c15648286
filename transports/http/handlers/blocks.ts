// `/api/blocks`: what a block is, its configuration, its monitor. Each handler is one call of the core.
import type { Warning } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../body.ts';
import { blockListText } from '../list-text.ts';
import { etagOf, ifMatchOf, queryChoice } from '../query.ts';
import { ok } from '../reply.ts';
import { param, type RouteContext } from '../route.ts';

export const list = async ({ core }: RouteContext) => ok(blockListText(await core.blocks.list()));

export const create = async (context: RouteContext) => {
  const { name, warnings } = await context.core.blocks.create(await readJsonBody(context, OTHER_BODY_BYTES, false));
  return ok({ success: true, name, ...some(warnings) });
};

export const details = async (context: RouteContext) => {
  const { name, config, memory, costs, pulse } = await context.core.blocks.details(param(context, 'name'));
  return ok({ name, config, memory, costs, pulse });
};

export const why = async (context: RouteContext) => ok(await context.core.blocks.explain(param(context, 'name')));

export const archive = async (context: RouteContext) => {
  const name = param(context, 'name');
  const { archiveName } = await context.core.blocks.archive(name);
  return ok({ success: true, message: `${name} is in the archive as ${archiveName}.`, archiveName });
};

export const start = async (context: RouteContext) => ok({ success: true, ...(await context.core.blocks.start(param(context, 'name'))) });

export const stop = async (context: RouteContext) => ok({ success: true, ...(await context.core.blocks.stop(param(context, 'name'))) });

export const restart = async (context: RouteContext) => ok({ success: true, ...(await context.core.blocks.restart(param(context, 'name'))) });

export const reset = async (context: RouteContext) => {
  const hard = queryChoice(context.req, 'hard', ['false', 'true']) === 'true';
  return ok({ success: true, ...(await context.core.blocks.reset(param(context, 'name'), { hard })) });
};

export const config = async (context: RouteContext) => {
  const current = await context.core.blocks.config(param(context, 'name'));
  return ok({ config: current }, etagOf(current));
};

export const updateConfig = async (context: RouteContext) => {
  const ifMatch = ifMatchOf(context.req);
  const patch = await readJsonBody(context, OTHER_BODY_BYTES, false);
  const { config: current, warnings } = await context.core.blocks.updateConfig(param(context, 'name'), patch, { ifMatch });
  return ok({ success: true, config: current, ...some(warnings) }, etagOf(current));
};

export const logs = async (context: RouteContext) => ok({ logs: await context.core.blocks.logs(param(context, 'name')) });

/** An answer without warnings has no such field. */
function some(warnings: readonly Warning[]): { readonly warnings?: readonly Warning[] } {
  return warnings.length > 0 ? { warnings } : {};
}
