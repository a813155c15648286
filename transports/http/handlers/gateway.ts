// Handlers of `/v1`, the public gateway.
import { isObject } from '../../../core/base/json.ts';
import {
  assertMayAsk,
  assertModelIsName,
  BlockhouseError,
  type ChatDone,
  type ChatRequest,
  type ChatResponse,
  CONFIG_FIELDS,
  type ModelTarget,
  mayUseOf,
  type NamedKey,
  streamOptionsOf,
  toBlockhouseError,
  type VerifyRequest,
} from '../../../core/index.ts';
import { bearerToken } from '../../guard.ts';
import { TOKEN_HINT, wrongTokensOf } from '../../wrong-tokens.ts';
import { CHAT_BODY_BYTES, OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { framesShowing } from '../wire/chat-frames.ts';
import { queryValue } from '../wire/query.ts';
import { ok, type Reply, STREAMED } from '../wire/reply.ts';
import { forCaller, type RouteContext } from '../wire/route.ts';
import { SseWriter } from '../wire/sse.ts';
import { asksBlock, noBlockHere } from './compatible-blocks.ts';
import { listedFor } from './client-model.ts';

/** `{status: "ok", version, adapters, store, gatewayOnly?}`; `adapters` are the registered ids. Fails with STORE_UNREACHABLE when the database has not answered for a lease. */
export const health = async (context: RouteContext) => {
  const { core, req } = context;
  if (queryValue(req, 'deep') !== undefined) return deepHealth(context);
  const { isAway = false, ...database } = core.storeHealth ?? {};
  if (isAway) throw new BlockhouseError('STORE_UNREACHABLE', 'The database has not answered for the length of a lease.', { retryAfterMs: RETRY_AFTER_MS });
  const store = { kind: core.store, ...database };
  return ok({ status: 'ok', version: core.version, adapters: core.adapterIds(), store, ...(core.gatewayOnly && { gatewayOnly: true }) });
};
const RETRY_AFTER_MS = 1000;

/** Names connections, so it is for the owner alone. 503 if the disk or the database can't be used. */
async function deepHealth({ core, req }: RouteContext) {
  wrongTokensOf(core).assertRight(core, req, bearerToken(req), TOKEN_HINT);
  const body = await core.deepHealth();
  return { status: body.status === 'failing' ? 503 : 200, body };
}

/** `{adapters}`: the metadata of each. */
export const adapters = ({ core }: RouteContext) => ok({ adapters: core.adapters() });

/** `{adapters}`: the metadata of each, and whether it can be used at this moment. */
export const status = async ({ core, req, signal }: RouteContext) => ok({ adapters: await core.status({ signal, only: queryValue(req, 'adapter') }) });

/** `{settings}`: what this server's environment and auth.json set; secrets are masked. */
export const settings = ({ core }: RouteContext) => ok({ settings: core.settings() });

/** `{provider, models, count}`, without the models that the key may not use. Fails with ADAPTER_NOT_FOUND, or an UPSTREAM_ code where the list comes from the provider. */
export const models = async (context: RouteContext) => {
  const { core, params, signal, requestId, key } = context;
  return ok(await listedFor(context, await core.models(params['provider'] ?? '', { signal, requestId, key: key?.name })));
};

/** `{provider, ok, detail}`, with status 200 or 503. Never calls a model. */
export const verify = async (context: RouteContext) => {
  const { core, params, signal, requestId, key } = context;
  const provider = params['provider'] ?? '';
  core.adapter(provider); // throws ADAPTER_NOT_FOUND, also when the body is invalid
  const body = await readJsonBody(context, OTHER_BODY_BYTES, true);
  if (key !== undefined) assertMayConfigure(key, body);
  const result = await core.verify(provider, body as VerifyRequest, { signal, requestId, key: key?.name });
  return { status: result.ok ? 200 : 503, body: result };
};

/** The whole answer, or a stream of server-sent events when the body has `stream`. */
export const chat = async (context: RouteContext): Promise<Reply<ChatResponse>> => {
  const body = await readJsonBody(context, CHAT_BODY_BYTES, false);
  if (isObject(body) && asksBlock(body)) throw noBlockHere();
  if (context.key !== undefined) assertMayConfigure(context.key, body);
  const bareName = nameBesides(context, body);
  const askedAs = bareName === undefined ? undefined : await ifItMeans(context, bareName);
  if (isObject(body) && (body['stream'] === true || isObject(body['stream']))) return streamChat(context, body, askedAs);
  const { core, signal, requestId, path, key, req } = context;
  return ok(await core.chat(body as ChatRequest, { signal, requestId, path, key: key?.name, askedAs, headers: req.headers }));
};

/** The model as the request names it, where the list of the key does not have its full name: it may have the name without its provider. */
function nameBesides({ core, key }: RouteContext, body: unknown): ModelTarget | undefined {
  if (key === undefined || key.models === null) return undefined;
  const { adapter, model } = isObject(body) ? body : {};
  if (typeof adapter !== 'string' || typeof model !== 'string') return undefined;
  const id = core.adapterIdOf(adapter);
  return id === undefined || mayUseOf(key, id, model) ? undefined : { adapter: id, model };
}

/**
 * The model's name without its provider, if it means the same there. An alias of another provider's model, and an alias of no model, are refused: neither may choose
 * the provider.
 */
async function ifItMeans({ core }: RouteContext, { adapter, model }: ModelTarget): Promise<string | undefined> {
  const { targets } = await core.router.resolve(model).catch(unlessUnknown);
  return targets.some((target) => target.adapter === adapter && target.model === model) ? model : undefined;
}

function unlessUnknown(error: unknown): { readonly targets: readonly ModelTarget[] } {
  if (toBlockhouseError(error).code !== 'MODEL_NOT_FOUND') throw error;
  return { targets: [] };
}

/** Throws KEY_FORBIDDEN naming the setting, or the model that is an address. */
function assertMayConfigure(key: NamedKey, body: unknown): void {
  if (!isObject(body)) return;
  assertModelIsName(key, body['model']);
  assertMayAsk(key, CONFIG_FIELDS, body['config'], 'config.');
}

/** Not an async function: a suspended one takes more memory than everything else that an idle stream needs here. */
function streamChat(
  { core, server, req, res, signal, requestId, path, key, rates }: RouteContext,
  body: unknown,
  askedAs: string | undefined,
): Promise<typeof STREAMED> {
  const options = streamOptionsOf(body);
  const writer = new SseWriter(res, requestId, server.sse, options === undefined ? { rates } : { frames: framesShowing(options), rates });
  const finish = (done: ChatDone): typeof STREAMED => {
    writer.done(done);
    return STREAMED;
  };
  const fail = (error: unknown): never => {
    const failure = toBlockhouseError(error);
    writer.fail(forCaller(failure, key));
    throw failure; // an open stream has its error frame already; the server only logs this
  };
  return core.pipe(body, writer, { signal, requestId, path, key: key?.name, askedAs, headers: req.headers }).then(finish, fail);
}
