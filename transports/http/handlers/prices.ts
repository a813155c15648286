// Handlers of `/api/prices`: what models cost.
import type { Core } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { queryValue } from '../wire/query.ts';
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

/** `{prices, source}`; with `model` the price of that one. */
export const list = async ({ core, req }: RouteContext) => ok(await pricesOf(core).list(queryValue(req, 'model')));

/** Writes a price into the entry of its connection, and says what the model costs now. */
export const set = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  return ok(await pricesOf(context.core).set(param(context, 'model'), body));
};

/** `{success, message}`. */
export const remove = async (context: RouteContext) => {
  const model = param(context, 'model');
  const had = await pricesOf(context.core).remove(model);
  return ok({ success: true as const, message: had ? `Removed the price of ${model} from auth.json.` : `auth.json has no price of ${model}.` });
};

function pricesOf({ prices }: Core): NonNullable<Core['prices']> {
  if (prices === undefined) throw new Error('This core has no workspace.');
  return prices;
}
