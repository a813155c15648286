// `/v1`: the public gateway.
import { type ChatDone, type ChatRequest, type ChatResponse, isObject, toBlockhouseError } from '../../../core/index.ts';
import { CHAT_BODY_BYTES, OTHER_BODY_BYTES, readJsonBody } from '../body.ts';
import { ok, type Reply, STREAMED } from '../reply.ts';
import type { RouteContext } from '../route.ts';
import { SseWriter } from '../sse.ts';

export const health = ({ core }: RouteContext) => ok({ status: 'ok', version: core.version, adapters: core.adapterIds() });

export const adapters = ({ core }: RouteContext) => ok({ adapters: core.adapters() });

export const models = async ({ core, params, signal, requestId }: RouteContext) => ok(await core.models(params['provider'] ?? '', { signal, requestId }));

export const verify = async (context: RouteContext) => {
  const { core, params, signal, requestId } = context;
  const provider = params['provider'] ?? '';
  core.adapter(provider); // an unknown adapter is a 404 whatever the body says
  const result = await core.verify(provider, await readJsonBody(context, OTHER_BODY_BYTES, true), { signal, requestId });
  return { status: result.ok ? 200 : 503, body: result };
};

export const chat = async (context: RouteContext): Promise<Reply<ChatResponse>> => {
  const body = await readJsonBody(context, CHAT_BODY_BYTES, false);
  if (isObject(body) && body['stream'] === true) return streamChat(context, body);
  const { core, signal, requestId } = context;
  return ok(await core.chat(body as ChatRequest, { signal, requestId }));
};

/** Not an async function: one that waits costs more memory than all the rest that a silent stream needs here. */
function streamChat({ core, server, res, signal, requestId }: RouteContext, body: unknown): Promise<typeof STREAMED> {
  const writer = new SseWriter(res, requestId, server.sse);
  const finish = (done: ChatDone): typeof STREAMED => {
    writer.done(done);
    return STREAMED;
  };
  const fail = (error: unknown): never => {
    const failure = toBlockhouseError(error);
    writer.fail(failure);
    throw failure; // where the stream is open, for the log only
  };
  return core.pipe(body, writer, { signal, requestId }).then(finish, fail);
}
