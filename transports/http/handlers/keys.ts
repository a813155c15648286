// Handlers of `/api/keys` and `/api/key-groups`: the keys of applications, and what they may spend together.
import {
  type Accounts,
  BlockhouseError,
  type ChangeKey,
  type Core,
  type CreateKey,
  compile,
  type DebugKey,
  type KeySpend,
  type KeyStore,
  type SetKeyGroup,
  schemas,
  type Validator,
} from '../../../core/index.ts';
import { bearerToken } from '../../guard.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { etagOf, tagMatchOf } from '../wire/query.ts';
import { ok, some } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

const checkDebug: Validator<DebugKey> = compile(schemas.DebugKey);
const checkKey: Validator<CreateKey> = compile(schemas.CreateKey);

const checkChange: Validator<ChangeKey> = compile(schemas.ChangeKey);
const checkGroup: Validator<SetKeyGroup> = compile(schemas.SetKeyGroup);

/** `{keys}`: limits, what each has spent today, this week and this month, and the day of its last use. */
export const list = async ({ core }: RouteContext) => {
  const keys = storeOf(core).list();
  const debugged = storeOf(core).debugged();
  return ok({ keys: await Promise.all(keys.map(async (key) => ({ ...key, ...(await spentBy(core, 'key', key.name)), ...debugOf(debugged.get(key.name)) }))) });
};

function debugOf(debugUntil: string | undefined): { readonly debugUntil?: string } {
  return debugUntil === undefined ? {} : { debugUntil };
}

/** `{groups}`: the same of groups. */
export const groups = async ({ core }: RouteContext) => {
  const found = storeOf(core).groups();
  return ok({ groups: await Promise.all(found.map(async (group) => ({ ...group, ...(await spentBy(core, 'group', group.name)) }))) });
};

async function spentBy(core: Core, kind: 'key' | 'group', name: string) {
  const { day, week, month, lastDay } = await accountsOf(core).spent(kind, name);
  return { spentToday: shown(day), spentThisWeek: shown(week), spentThisMonth: shown(month), lastUsedOn: lastDay };
}

function shown({ usd, tokens, calls, unpricedCalls }: KeySpend): KeySpend {
  return { usd, tokens, calls, unpricedCalls };
}

/** `{success, name, key, warnings?}`; the key is shown only here. Fails with NAME_TAKEN. */
export const create = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  checkKey(body);
  const { name, ...limits } = body;
  const key = await storeOf(context.core).create(name, limits);
  return ok({ success: true as const, name, key, ...some(await context.core.capWarnings(limits)) });
};

/** `{success, key, warnings?}`; what is left out stays. Fails with KEY_NOT_FOUND, and with REVISION_MISMATCH when `If-Match` names another `rev`. */
export const change = async (context: RouteContext) => {
  const ifMatch = tagMatchOf(context.req);
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  checkChange(body);
  const key = await storeOf(context.core).change(param(context, 'name'), body, { ifMatch });
  return ok({ success: true as const, key, ...some(await context.core.capWarnings(key)) }, etagOf(key));
};

/** `{success, group}`; what is left out stays. */
export const setGroup = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  checkGroup(body);
  return ok({ success: true as const, group: await storeOf(context.core).setGroup(param(context, 'name'), body) });
};

/** `{success, message}`. Fails with KEY_NOT_FOUND, and with WRONG_STATE while keys are in it. */
export const removeGroup = async (context: RouteContext) => {
  const name = param(context, 'name');
  if (!(await storeOf(context.core).removeGroup(name))) throw new BlockhouseError('KEY_NOT_FOUND', `There is no group ${JSON.stringify(name.slice(0, 64))}.`);
  return ok({ success: true, message: `The group ${name} is removed.` });
};

/** `{success, message}`; the key is refused from now on. */
export const revoke = async (context: RouteContext) => {
  const name = param(context, 'name');
  if (!(await storeOf(context.core).revoke(name))) throw new BlockhouseError('KEY_NOT_FOUND', `There is no key ${JSON.stringify(name.slice(0, 64))}.`);
  await context.core.bodies?.look();
  return ok({ success: true, message: `The key ${name} is revoked.` });
};

/** `{success, name, debugUntil}`, for the token of the workspace alone. Fails with KEY_FORBIDDEN for a session key, and with KEY_NOT_FOUND. */
export const debug = async (context: RouteContext) => {
  const { core, req } = context;
  if (core.token?.matches(bearerToken(req) ?? '') !== true)
    throw new BlockhouseError('KEY_FORBIDDEN', 'Only the token of the workspace lets the bodies of calls be kept; `blockhouse token` prints it.');
  const body = (await readJsonBody(context, OTHER_BODY_BYTES, true)) ?? {};
  checkDebug(body);
  const name = param(context, 'name');
  const debugUntil = (await storeOf(core).debug(name, body.minutes ?? schemas.DEBUG_MINUTES)) ?? '';
  await core.bodies?.look();
  return ok({ success: true as const, name, debugUntil });
};

/** `{success, message}`; what was kept is deleted. Fails with KEY_NOT_FOUND. */
export const endDebug = async (context: RouteContext) => {
  const { core } = context;
  const name = param(context, 'name');
  await storeOf(core).debug(name, 0);
  await core.bodies?.look();
  return ok({ success: true, message: `The bodies of the calls of ${name} are kept no longer; those that were are deleted.` });
};

/** Throws SHUTTING_DOWN. */
export function accountsOf(core: Core): Accounts {
  if (core.accounts === undefined) throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.');
  return core.accounts;
}

function storeOf({ keys }: Core): KeyStore {
  if (keys === undefined) throw new Error('This core has no workspace.');
  return keys;
}
