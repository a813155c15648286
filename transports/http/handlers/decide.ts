// Handlers of decision links. They are open: the ticket in the path is what admits.
//
// get-decides-nothing: mail and chat programs open links by themselves.
// wrong-counts: a text that is no ticket counts as a wrong token of its address.
import { parseBytes } from '../../../core/base/strict-json.ts';
import { BlockhouseError, forKeys, invalidRequest, type LinkDecision, toBlockhouseError } from '../../../core/index.ts';
import { wrongTokensOf } from '../../wrong-tokens.ts';
import { deliveryReader } from '../wire/body.ts';
import { errorReply, type JsonReply, ok, Written } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';
import { decidedPage, decisionPage, LINK_HEADERS, problemPage } from './decide-page.ts';

const BODY_BYTES = 1024;
const FORM = 'application/x-www-form-urlencoded';
const TYPES = /^application\/(?:json|x-www-form-urlencoded)$/;
const HTML = 'text/html; charset=utf-8';

/** The call that waits, as a page or as JSON. get-decides-nothing. */
export const show = (context: RouteContext): Promise<JsonReply> =>
  readable(context, async () => {
    const linked = await context.core.blocks.linkedApproval(param(context, 'ticket'));
    return asked(context, 200, decisionPage(linked.approval)) ?? ok(linked, LINK_HEADERS);
  });

/** Decides once. */
export const take = (context: RouteContext): Promise<JsonReply> =>
  readable(context, async () => {
    const decision = await bodyOf(context);
    const decided = await context.core.blocks.decideByLink(param(context, 'ticket'), decision);
    return asked(context, 200, decidedPage(decided)) ?? ok(decided, LINK_HEADERS);
  });

async function readable(context: RouteContext, work: () => Promise<JsonReply>): Promise<JsonReply> {
  try {
    return await work().catch((error: unknown) => {
      if (toBlockhouseError(error).code === 'NOT_FOUND') wrongTokensOf(context.core).count(context.req); // wrong-counts
      throw error;
    });
  } catch (error) {
    const failure = toBlockhouseError(error);
    const { code, status } = failure;
    const { message } = forKeys(failure);
    const shown = status >= 500 ? undefined : asked(context, status, problemPage(TITLES[code] ?? 'This did not work', message));
    if (shown === undefined) throw failure;
    return { ...shown, headers: { ...errorReply(failure, context.requestId).headers, ...shown.headers } };
  }
}

const TITLES: Readonly<Record<string, string>> = {
  LINK_USED: 'This link is over',
  NOT_FOUND: 'There is no such link',
  TOO_MANY_ATTEMPTS: 'Too many wrong links',
};

/** A page, for a client that asks for one. */
function asked({ req }: RouteContext, status: number, page: string): JsonReply | undefined {
  const wantsPage = (req.headers.accept ?? '').includes('text/html');
  return wantsPage ? { status, body: new Written(page, HTML), headers: LINK_HEADERS } : undefined;
}

/** Throws INVALID_REQUEST. */
async function bodyOf(context: RouteContext): Promise<LinkDecision> {
  const [type = ''] = (context.req.headers['content-type'] ?? '').split(';');
  const bytes = Buffer.from(await deliveryReader(context, BODY_BYTES, TYPES)());
  if (type.trim().toLowerCase() !== FORM) return parsed(bytes) as LinkDecision;
  const fields = new URLSearchParams(bytes.toString());
  if (fields.getAll('decision').length > 1) throw invalidRequest('decision', 'must be there once');
  return Object.fromEntries(fields) as unknown as LinkDecision;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseBytes(bytes);
  } catch (error) {
    throw error instanceof BlockhouseError ? error : invalidRequest('', 'must be a JSON object, or a form');
  }
}
