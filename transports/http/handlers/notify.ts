// Handlers of targets of notifications.
import type { SetNotifyTarget } from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

/** `{targets}`, without their secrets. */
export const list = async ({ core }: RouteContext) => ok(await core.blocks.notifyTargets());

/** `{success, target, secret?}`; the secret is there if one was made. */
export const set = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  return ok(await context.core.blocks.setNotifyTarget(param(context, 'name'), body as SetNotifyTarget));
};

/** `{success, message}`. Fails with NOTIFY_TARGET_NOT_FOUND. */
export const remove = async (context: RouteContext) => {
  await context.core.blocks.removeNotifyTarget(param(context, 'name'));
  return ok({ success: true, message: 'The target is removed, with its secret, what waited for it, and its links.' });
};

/** `{delivered, status, problem, ms}`. Fails with NOTIFY_TARGET_NOT_FOUND. */
export const test = async (context: RouteContext) => ok(await context.core.blocks.testNotifyTarget(param(context, 'name')));
