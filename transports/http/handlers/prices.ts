// Handlers of `/api/prices`: what models cost.
import { type Core, invalidRequest, schemas, type Usage } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { queryNumber, queryValue } from '../wire/query.ts';
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

/** `{prices, source}`; with `model` the price of that one, and with counts of tokens what such a call costs. */
export const list = async (context: RouteContext) => ok(await pricesOf(context.core).list(queryValue(context.req, 'model'), usageIn(context)));

/** The counts that the query names; undefined without any. */
function usageIn({ req }: RouteContext): Usage | undefined {
  const counts = ['inputTokens', 'outputTokens', ...schemas.FURTHER_COUNTS].flatMap((name) => {
    const count = queryNumber(req, name);
    return count === undefined ? [] : [[name, count] as const];
  });
  if (counts.length === 0) return undefined;
  const { inputTokens = 0, outputTokens = 0, ...further }: Partial<Usage> = Object.fromEntries(counts);
  if (queryValue(req, 'model') === undefined) throw invalidRequest('model', 'is required with counts of tokens');
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, ...further };
}

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
