// Takes what a browser brings at the end of a sign-in to a server of tools. The route is open: the state in the query is what admits.
//
// wrong-counts: an answer without the state of a sign-in that has begun counts as a wrong token of its address.
// own-address: an answer counts only for a sign-in that was to end at the very address which the browser has called.
// own-words: nothing of the request is shown, of a refusal its code alone, and of a fault of this server no path.
import { SIGN_IN_PATH } from '../../../core/base/url.ts';
import { forKeys, toBlockhouseError } from '../../../core/index.ts';
import { wrongTokensOf } from '../../wrong-tokens.ts';
import { errorReply, type JsonReply, ok, Written } from '../wire/reply.ts';
import type { RouteContext } from '../wire/route.ts';
import { LINK_HEADERS, problemPage } from './decide-page.ts';

/** `{success, message}`, or a page. */
export const take = async (context: RouteContext): Promise<JsonReply> => {
  try {
    const message = `${await signedIn(context)} is signed in. You can close this page.`;
    return page(context, 200, 'Signed in', message) ?? ok({ success: true, message }, LINK_HEADERS);
  } catch (error) {
    const failure = toBlockhouseError(error);
    const { code, status } = failure;
    const { message } = forKeys(failure); // own-words
    const words = code === 'INVALID_REQUEST' ? message.replace(/^query /, 'This ') : message;
    const shown = code === 'INTERNAL_ERROR' ? undefined : page(context, status, 'Nobody is signed in', words);
    if (shown === undefined) throw failure;
    return { ...shown, headers: { ...errorReply(failure, context.requestId).headers, ...shown.headers } };
  }
};

/** The name of the server. */
async function signedIn({ core, req }: RouteContext): Promise<string> {
  const [, query = ''] = /\?(.*)$/s.exec(req.url ?? '') ?? [];
  try {
    const { name } = await core.toolServers().answerSignIn(query, `http://${req.headers.host}${SIGN_IN_PATH}`); // own-address
    return name;
  } catch (error) {
    if (toBlockhouseError(error).code === 'INVALID_REQUEST') wrongTokensOf(core).count(req); // wrong-counts
    throw error;
  }
}

/** For a client that asks for one. */
function page({ req }: RouteContext, status: number, title: string, text: string): JsonReply | undefined {
  if (!(req.headers.accept ?? '').includes('text/html')) return undefined;
  return { status, body: new Written(problemPage(title, text), 'text/html; charset=utf-8'), headers: LINK_HEADERS };
}
