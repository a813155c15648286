// Handlers of hooks: of a block, for its owner, and the door for other programs.
import type { SetHook } from '../../../core/index.ts';
import { deliveryReader, OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { type JsonReply, ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

/** What a sender may deliver at once. */
const DELIVERY_BYTES = 256 * 1024;
const TYPES = /^(?:application\/(?:json|x-www-form-urlencoded|[a-z0-9.-]+\+json)|text\/[a-z0-9.+-]+)$/;

/** `{hooks}`, without their secrets. */
export const list = async (context: RouteContext) => ok(await context.core.blocks.hooks(param(context, 'name')));

/** `{success, hook, secret?}`; the secret is there if one was made. */
export const set = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  return ok({ success: true, ...(await context.core.blocks.setHook(param(context, 'name'), param(context, 'id'), body as SetHook)) });
};

/** `{success, message}`. Fails with HOOK_NOT_FOUND. */
export const remove = async (context: RouteContext) => {
  await context.core.blocks.removeHook(param(context, 'name'), param(context, 'id'));
  return ok({ success: true, message: 'The hook is removed, and its secret opens nothing any more.' });
};

/** 202 `{messageId}` once the message is on disk. A delivery without a signature of the right form and time is refused before its body is read. */
export const take = async (context: RouteContext): Promise<JsonReply<{ readonly messageId: string }>> => {
  const body = deliveryReader(context, DELIVERY_BYTES, TYPES);
  return {
    ...ok(await context.core.blocks.takeDelivery(param(context, 'block'), param(context, 'hook'), { headers: signatureOf(context), body })),
    status: 202,
  };
};

const SIGNATURE_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-hub-signature-256'] as const;

function signatureOf({ req }: RouteContext): Readonly<Partial<Record<(typeof SIGNATURE_HEADERS)[number], string>>> {
  return Object.fromEntries(SIGNATURE_HEADERS.flatMap((name) => (typeof req.headers[name] === 'string' ? [[name, req.headers[name]]] : [])));
}
