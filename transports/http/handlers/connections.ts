// Handlers of `/api/connections` and `/api/presets`: named upstreams, without their secrets.
import { isObject } from '../../../core/base/json.ts';
import { type ChangeEntryKey, type Core, compile, type EntryKey, invalidRequest, type ShownConnection, schemas, type Validator } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { queryChoice } from '../wire/query.ts';
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';
import { assertAccepted, keepIfRight, storeOf } from './kept-if-right.ts';

const checkKey: Validator<EntryKey> = compile(schemas.EntryKey);
const checkChange: Validator<ChangeEntryKey> = compile(schemas.ChangeEntryKey);
/** Shorter texts are no keys, and stand in many words. */
const MIN_SECRET = 8;

/** `{connections}`. */
export const list = async ({ core }: RouteContext) => ok({ connections: await Promise.all(core.connections.list().map((one) => withSearch(core, one))) });

/** Whether a credential is there that a provider searches for besides its settings, only the search says, as in the list of adapters. */
async function withSearch(core: Core, one: ShownConnection): Promise<ShownConnection> {
  if (!one.ready || !searches(core, one.name)) return one;
  const [status] = await core.status({ only: one.name });
  return status?.ready === false ? { ...one, ready: false, detail: status.detail ?? null } : one;
}

function searches(core: Core, name: string): boolean {
  const { connection, authRequired, probe } = core.adapter(name);
  return connection === undefined && authRequired && probe !== undefined;
}

/**
 * Changes fields of an entry, or makes one; null removes a field. With `?checked=true` the server of the connection is asked, and the entry becomes what it was if it refuses.
 * `{success, message}`.
 */
export const set = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  if (!isObject(body)) throw invalidRequest('', 'The body must be a JSON object with the fields to change.');
  const name = param(context, 'name');
  const before = await storeOf(context.core).update(name, body);
  if (isChecked(context)) await keepIfRight(context, name, { fields: body, before, secrets: secretsIn(body) });
  return ok({ success: true as const, message: `Stored ${name} in auth.json.` });
};

/** Adds a key beside those of an entry; with `?checked=true` after its server has taken it. `{success, message}`. Fails with CONNECTION_NOT_FOUND. */
export const addKey = async (context: RouteContext) => {
  const key: unknown = await readJsonBody(context, OTHER_BODY_BYTES, false);
  checkKey(key);
  const name = param(context, 'name');
  if (isChecked(context) && key.apiKey !== undefined) await assertAccepted(context, name, { apiKey: key.apiKey }, [key.apiKey]);
  return keysOf(name, await context.core.connections.addKey(name, key));
};

/** Changes the label, the terms or the place of one of several keys. `{success, message}`. Fails with CONNECTION_NOT_FOUND. */
export const changeKey = async (context: RouteContext) => {
  const change: unknown = await readJsonBody(context, OTHER_BODY_BYTES, false);
  checkChange(change);
  const name = param(context, 'name');
  return keysOf(name, await context.core.connections.changeKey(name, param(context, 'label'), change));
};

/** Removes one of several keys. `{success, message}`. Fails with CONNECTION_NOT_FOUND. */
export const removeKey = async (context: RouteContext) => {
  const name = param(context, 'name');
  return keysOf(name, await context.core.connections.removeKey(name, param(context, 'label')));
};

function keysOf(name: string, labels: readonly string[]) {
  return ok({ success: true as const, message: `${name} has ${labels.length === 1 ? 'the key' : `${labels.length} keys:`} ${labels.join(', ')}.` });
}

function isChecked({ req }: RouteContext): boolean {
  return queryChoice(req, 'checked', ['false', 'true']) === 'true';
}

/** Every text in a body that may be a secret: all but the fields that say where the server is, and what it is. */
function secretsIn({
  adapter: _adapter,
  preset: _preset,
  baseURL: _baseURL,
  apiKeyEnv: _variable,
  ...fields
}: object & Readonly<Record<string, unknown>>): string[] {
  return Object.values(fields)
    .flatMap(textsIn)
    .filter((text) => text.length >= MIN_SECRET);
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

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
