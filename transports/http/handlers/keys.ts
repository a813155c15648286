// Handlers of `/api/keys`: the keys of applications.
import { type Accounts, BlockhouseError, type Core, type CreateKey, compile, type KeyStore, schemas, type Validator } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { ok, some } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

const checkKey: Validator<CreateKey> = compile(schemas.CreateKey);

/** `{keys}`: limits, and what each has spent today. */
export const list = async ({ core }: RouteContext) => {
  const accounts = accountsOf(core);
  return ok({
    keys: await Promise.all(
      storeOf(core)
        .list()
        .map(async (key) => ({ ...key, spentToday: await accounts.spentToday(key.name) })),
    ),
  });
};

/** `{success, name, key, warnings?}`; the key is shown only here. Fails with NAME_TAKEN. */
export const create = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  checkKey(body);
  const { name, ...limits } = body;
  const key = await storeOf(context.core).create(name, limits);
  return ok({ success: true as const, name, key, ...some(await context.core.capWarnings(limits)) });
};

/** `{success, message}`; the key is refused from now on. */
export const revoke = async (context: RouteContext) => {
  const name = param(context, 'name');
  if (!(await storeOf(context.core).revoke(name))) throw new BlockhouseError('KEY_NOT_FOUND', `There is no key ${JSON.stringify(name.slice(0, 64))}.`);
  return ok({ success: true, message: `The key ${name} is revoked.` });
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
