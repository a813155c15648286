// Handlers of `/api/connections` and `/api/presets`: named upstreams, without their secrets.
import { isObject } from '../../../core/base/json.ts';
import { invalidRequest } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

/** `{connections}`. */
export const list = ({ core }: RouteContext) => ok({ connections: core.connections.list() });

/** Changes fields of an entry, or makes one; null removes a field. `{success, message}`. */
export const set = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  if (!isObject(body)) throw invalidRequest('', 'The body must be a JSON object with the fields to change.');
  const name = param(context, 'name');
  await context.core.connections.set(name, body);
  return ok({ success: true as const, message: `Stored ${name} in auth.json.` });
};

/** `{success, message}`. Fails with CONNECTION_NOT_FOUND. */
export const remove = async (context: RouteContext) => {
  const name = param(context, 'name');
  await context.core.connections.remove(name);
  return ok({ success: true as const, message: `Removed ${name} from auth.json.` });
};

/** `{servers}`: the local servers that answer. */
export const detect = async ({ core }: RouteContext) => ok({ servers: await core.connections.detect() });

/** `{presets}`. */
export const presets = ({ core }: RouteContext) => ok({ presets: core.connections.presets() });
