// The one driver that makes an Adapter of a folder's parts.
//
// D1 An error status becomes the provider error that the folder reads in it.
// D2 A whole answer is turned into the same events as a streamed one.
// D3 A stream that ends without its provider's end mark is an error, never a short answer.
import { type Adapter, type AdapterCall, BlockhouseError, type ChatCall, toJsonText } from '../core/index.ts';
import { Upstream, type UpstreamHandler, type UpstreamRequest } from './http.ts';
import type { ChatContext, Get, Provider } from './provider.ts';
import { BodyCollector, parseAnswer, StreamHandler, toError, WholeHandler } from './response-handlers.ts';

export function defineAdapter(provider: Provider): Adapter {
  const upstream = new Upstream(provider.unreachableHint);
  const get =
    (call: AdapterCall): Get =>
    (url) =>
      getJson(upstream, provider, call, { method: 'GET', url, headers: { accept: 'application/json' } });
  return {
    id: provider.id,
    aliases: provider.aliases ?? [],
    displayName: provider.displayName,
    authRequired: provider.authRequired,
    defaultModel: provider.defaultModel,
    ...(provider.pricesAs !== undefined && { pricesAs: provider.pricesAs }),
    supportsStreaming: true,
    envVars: provider.envVars,
    settings: provider.settings,
    ...(provider.timeouts !== undefined && { timeouts: provider.timeouts }),
    ...(provider.trustedOrigins !== undefined && { trustedOrigins: provider.trustedOrigins.bind(provider) }),
    missingCredential: (settings) => provider.missingCredential(settings),
    chat: (call) => chat(upstream, provider, call),
    ...(provider.curatedModels !== undefined && { curatedModels: provider.curatedModels }),
    listModels: async (call) => provider.curatedModels ?? (await provider.listModels?.(get(call), call.settings)) ?? [],
    verify: async (call) => provider.verify(get(call), call.settings),
    prepare: () => upstream.prepare(),
    close: () => upstream.close(),
  };
}

async function chat(upstream: Upstream, provider: Provider, call: ChatCall): Promise<void> {
  const context: ChatContext = { model: call.model, prompt: call.prompt, settings: call.settings, stream: call.stream };
  const { request, isStream } = toRequest(provider, call, context);
  const handler = isStream ? new StreamHandler(provider, call, provider.createDecoder(context)) : new WholeHandler(provider, call, context);
  return send(upstream, provider, call, request, handler);
}

/** A function of its own, so that nothing but the bytes is kept while the answer is awaited. */
function toRequest(provider: Provider, { sink }: ChatCall, context: ChatContext): { readonly request: UpstreamRequest; readonly isStream: boolean } {
  const wire = provider.buildChat(context);
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: wire.stream ? 'text/event-stream' : 'application/json' };
  if (wire.headers !== undefined) Object.assign(headers, wire.headers);
  if (wire.warnings.length > 0) sink.emit(wire.warnings.map((warning) => ({ type: 'warning', warning })));
  return { request: { method: 'POST', url: wire.url, headers, body: Buffer.from(toJsonText(wire.body)) }, isStream: wire.stream };
}

/** Signs and sends. */
function send(upstream: Upstream, provider: Provider, call: AdapterCall, request: UpstreamRequest, handler: UpstreamHandler): Promise<void> {
  const found = provider.authorize(request, call.settings);
  const sendWith = (headers: Record<string, string>): Promise<void> => {
    Object.assign(request.headers, headers);
    return upstream.send(call, request, handler);
  };
  return found instanceof Promise ? untilAborted(found, call.signal).then(sendWith) : sendWith(found);
}

/** Finding a credential may hang (a helper process, a metadata service), and a caller who leaves must not wait for it. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let leave = (): void => undefined;
  const left = new Promise<never>((_resolve, reject) => {
    leave = () => reject(new BlockhouseError('CANCELLED', 'The caller left.', { cause: signal.reason }));
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** Rejects for an error status, and for what is not JSON. */
async function getJson(upstream: Upstream, provider: Provider, call: AdapterCall, request: UpstreamRequest): Promise<unknown> {
  const body = new BodyCollector();
  await send(upstream, provider, call, request, body);
  if (body.isError) throw toError(provider, call, body.answer());
  return parseAnswer(body.text());
}
