// Handlers of `/api/blocks`: blocks, their configuration and their monitors. Each handler makes one call of the core.
import { type BlockConfigPatch, type CreateBlock, invalidRequest, type ListQuery, type LogList, type LogPart } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { tagged } from '../wire/etag.ts';
import { blockListText } from '../wire/list-text.ts';
import { etagOf, ifMatchOf, nextPage, queryChoice, queryNumber, queryValue } from '../wire/query.ts';
import { ok, type Reply, some } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

/** `{blocks}`, all or a page of them; 304 for who has it. The header `Link` has the next page. */
export const list = async ({ core, req }: RouteContext) => {
  const [cursor, sort, state, tag, text] = ['cursor', 'sort', 'state', 'tag', 'q'].map((field) => queryValue(req, field));
  const limit = queryNumber(req, 'limit');
  const states = state?.split(',') as ListQuery['state'];
  const { entries, next } = await core.blocks.page({ limit, cursor, sort: sort as ListQuery['sort'], state: states, tag, text });
  const { headers, ...reply } = tagged(req, blockListText(entries));
  return { ...reply, headers: { ...headers, ...(next !== null && { link: nextPage(req, next) }) } };
};

/** `{success, name, warnings?}`; the new block is stopped. Fails with NAME_TAKEN. */
export const create = async (context: RouteContext) => {
  const { name, warnings } = await context.core.blocks.create((await readJsonBody(context, OTHER_BODY_BYTES, false)) as CreateBlock);
  return ok({ success: true, name, ...some(warnings) });
};

/** `{name, config, memory, costs, pulse}`; 304 for who has them. */
export const details = async (context: RouteContext) => {
  const { name, config, memory, costs, pulse } = await context.core.blocks.details(param(context, 'name'));
  return tagged(context.req, { name, config, memory, costs, pulse });
};

/** Why the block is in its state: `{name, state, why, next, fix, …}`. */
export const why = async (context: RouteContext) => ok(await context.core.blocks.explain(param(context, 'name')));

/** `{success, message, archiveName}`; stops the monitor first. */
export const archive = async (context: RouteContext) => {
  const name = param(context, 'name');
  const { archiveName } = await context.core.blocks.archive(name);
  return ok({ success: true, message: `${name} was archived as ${archiveName}.`, archiveName });
};

/** `{success, message, pulse}`; does nothing to a monitor that runs. Fails with INVALID_REQUEST without a model or a credential. */
export const start = async (context: RouteContext) => ok({ success: true, ...(await context.core.blocks.start(param(context, 'name'))) });

/** `{success, message, pulse}` once the monitor has stopped, which takes 10 s at most while a reply is written. */
export const stop = async (context: RouteContext) => ok({ success: true, ...(await context.core.blocks.stop(param(context, 'name'))) });

/** `{success, message, pulse}`; stops, then starts. */
export const restart = async (context: RouteContext) => ok({ success: true, ...(await context.core.blocks.restart(param(context, 'name'))) });

/** `{success, message, cleared}`; clears memory, costs and pulse, and with `?hard=true` the logs. */
export const reset = async (context: RouteContext) => {
  const hard = queryChoice(context.req, 'hard', ['false', 'true']) === 'true';
  return ok({ success: true, ...(await context.core.blocks.reset(param(context, 'name'), { hard })) });
};

/** `{config}` with every default filled in, and its revision as `ETag`. */
export const config = async (context: RouteContext) => {
  const current = await context.core.blocks.config(param(context, 'name'));
  return ok({ config: current }, etagOf(current));
};

/** `{success, config, warnings?}` after a shallow merge. Fails with REVISION_MISMATCH when `If-Match` names another revision. */
export const updateConfig = async (context: RouteContext) => {
  const ifMatch = ifMatchOf(context.req);
  const patch = await readJsonBody(context, OTHER_BODY_BYTES, false);
  const { config: current, warnings } = await context.core.blocks.updateConfig(param(context, 'name'), patch as BlockConfigPatch, { ifMatch });
  return ok({ success: true, config: current, ...some(warnings) }, etagOf(current));
};

/** `{logs}`: the 20 newest files, the last 64 KiB of each. With `file`, a part of that one (`before`, `max`). */
export const logs = async (context: RouteContext): Promise<Reply<LogList | LogPart>> => {
  const { blocks } = context.core;
  const name = param(context, 'name');
  const file = queryValue(context.req, 'file');
  const [before, maxBytes] = ['before', 'max'].map((field) => queryNumber(context.req, field));
  if (file !== undefined) return ok(await blocks.logPart(name, file, { before, maxBytes }));
  if (before !== undefined || maxBytes !== undefined) throw invalidRequest('file', 'is required with before and max');
  return ok({ logs: await blocks.logs(name) });
};
