// The one driver that turns a Provider into an Adapter. The provider's code reads error answers; a whole answer gives the same events as a
// stream; a stream that ends without the provider's end mark is an error, never a short answer.
import { toJsonBytes, type WriteOptions } from '../../core/base/json-bytes.ts';
import { nextTurn } from '../../core/base/next-turn.ts';
import {
  type Adapter,
  type AdapterCall,
  ANSWER_LIMITS,
  BlockhouseError,
  type ChatCall,
  type ConnectionProfile,
  type Embedding,
  type Endpoint,
  type ForwardCall,
  type ListedModel,
  type ResolvedSettings,
  type TokenCountCall,
} from '../../core/index.ts';
import { cancelled } from '../outbound/call.ts';
import { Upstream, type UpstreamHandler, type UpstreamRequest } from '../outbound/client.ts';
import { connected } from './connected.ts';
import { ForwardHandler } from './forward-handler.ts';
import { readerOf } from './long-json.ts';
import { type ChatContext, type EmbeddingProvider, type FetchJson, malformed, type Provider, type WireRequest } from './provider.ts';
import { asCount, asObject } from './read.ts';
import { BodyCollector, StreamHandler, toError, WholeHandler } from './response-handlers.ts';
import { withToldWindow } from './told-window.ts';

/** The headers in which the protocols have their keys. */
const USUAL_KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'] as const;
/** The limit for a look-up before a chat, such as the context size of a model; the server has the answer in memory. */
const LOOK_UP_MS = 10_000;

/** An Adapter with one connection pool of its own. Call `close` to release it. */
export function defineAdapter(provider: Provider): Adapter {
  const upstream = new Upstream(provider.unreachableHint);
  return {
    ...adapterOf(provider, upstream),
    ...(provider.presets !== undefined && { presets: provider.presets }),
    look: (call, url) => look(upstream, call, url),
    connect: (profile) => connect(provider, upstream, profile),
    close: () => upstream.close(),
  };
}

/** A local server tells what it is in few bytes. */
const LOOKED_AT_BYTES = 256 * 1024;

async function look(upstream: Upstream, call: AdapterCall, url: URL): Promise<string | undefined> {
  const answer = new BodyCollector(LOOKED_AT_BYTES);
  try {
    await upstream.send(call, { method: 'GET', url, headers: { accept: '*/*' } }, answer);
  } catch (error) {
    if (!(error instanceof BlockhouseError)) throw error;
    return undefined; // nothing listens there, or something else
  }
  return answer.isError ? undefined : answer.text();
}

/** The pool belongs to the adapter, and so does its end. */
function connect(provider: Provider, upstream: Upstream, profile: ConnectionProfile): Adapter {
  const named = connected(provider, profile);
  const listed = async (ask: FetchJson, settings: ResolvedSettings): Promise<ListedModel[] | undefined> =>
    (provider.curatedModels ?? (await named.listModels?.(ask, settings)))?.map((id) => ({ id }));
  const listServed = async (call: AdapterCall): Promise<readonly ListedModel[] | undefined> => {
    const ask: FetchJson = (url, body) => askJson(upstream, named, call, url, body);
    const list = await (named.listServed?.(ask, call.settings) ?? listed(ask, call.settings));
    const window = profile.preset?.window;
    return window === undefined || list === undefined ? list : withToldWindow(list, window, call.settings, ask);
  };
  return {
    ...adapterOf(named, upstream),
    connection: profile,
    listServed,
    listModels: async (call) => (await listServed(call))?.map(({ id }) => id) ?? [],
  };
}

function adapterOf(provider: Provider, upstream: Upstream): Adapter {
  const fetchFor =
    (call: AdapterCall): FetchJson =>
    (url, body) =>
      askJson(upstream, provider, call, url, body);
  return {
    id: provider.id,
    aliases: provider.aliases ?? [],
    displayName: provider.displayName,
    authRequired: provider.authRequired,
    defaultModel: provider.defaultModel,
    ...(provider.pricesAs !== undefined && { pricesAs: provider.pricesAs }),
    ...(provider.genAiProvider !== undefined && { genAiProvider: provider.genAiProvider }),
    ...(provider.pricedModel !== undefined && { pricedModel: provider.pricedModel.bind(provider) }),
    ...(provider.isOwnAddress !== undefined && { isOwnAddress: provider.isOwnAddress.bind(provider) }),
    ...(provider.readsCost !== undefined && { readsCost: provider.readsCost }),
    supportsStreaming: true,
    ...(provider.modelNames !== undefined && { modelNames: provider.modelNames }),
    ...(provider.openModels !== undefined && { openModels: provider.openModels }),
    ...(provider.passedOn !== undefined && { passedOn: provider.passedOn }),
    ...(provider.supports !== undefined && { supports: provider.supports }),
    envVars: provider.envVars,
    settings: provider.settings,
    ...(provider.timeouts !== undefined && { timeouts: provider.timeouts }),
    ...(provider.trustedOrigins !== undefined && { trustedOrigins: provider.trustedOrigins.bind(provider) }),
    missingCredential: (settings) => provider.missingCredential(settings),
    chat: (call) => chat(upstream, provider, call),
    ...(provider.protocol !== undefined && {
      protocol: (settings) => provider.protocol?.(settings)?.path,
      forward: (call) => forward(upstream, provider, call),
    }),
    ...(provider.mustTranslate !== undefined && { mustTranslate: provider.mustTranslate.bind(provider) }),
    ...(provider.forwardWarnings !== undefined && { forwardWarnings: provider.forwardWarnings.bind(provider) }),
    ...(provider.forwardedTier !== undefined && { forwardedTier: provider.forwardedTier.bind(provider) }),
    ...(provider.forwardedAnswer !== undefined && { forwardedAnswer: provider.forwardedAnswer.bind(provider) }),
    ...(provider.embedding !== undefined && {
      embedding: embeddingOf(provider.embedding, provider, (call, url, body) => asked(upstream, provider, call, url, body)),
    }),
    ...(provider.replayed !== undefined && { replayed: provider.replayed.bind(provider) }),
    ...(provider.fetchedTokens !== undefined && { fetchedTokens: provider.fetchedTokens }),
    ...(provider.countTokens !== undefined && { countTokens: (call) => countTokens(fetchFor(call), provider, call) }),
    ...(provider.contextTokens !== undefined && { contextTokens: async (call, model) => contextTokens(upstream, provider, call, model) }),
    ...(provider.curatedModels !== undefined && { curatedModels: provider.curatedModels }),
    listModels: async (call) => provider.curatedModels ?? (await provider.listModels?.(fetchFor(call), call.settings)) ?? [],
    verify: async (call) => provider.verify(fetchFor(call), call.settings),
    ...(provider.probe !== undefined && { probe: async (call) => provider.probe?.(fetchFor(call), call.settings) }),
    prepare: () => upstream.prepare(),
    close: async () => undefined,
  };
}

/** Not an async function: one that returns a promise costs three turns more than the promise itself. */
function chat(upstream: Upstream, provider: Provider, call: ChatCall): Promise<void> {
  try {
    const limit = contextTokens(upstream, provider, call, call.model);
    return limit instanceof Promise ? limit.then((tokens) => chatWithin(upstream, provider, call, tokens)) : chatWithin(upstream, provider, call, limit);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Several calls may wait for the same answer, so a caller that leaves ends only its own wait. */
function contextTokens(upstream: Upstream, provider: Provider, call: AdapterCall, model: string): Promise<number | undefined> | number | undefined {
  if (provider.contextTokens === undefined) return undefined;
  const { connectMs } = call.timeouts;
  const shared = { ...call, signal: new AbortController().signal, timeouts: { connectMs, firstByteMs: LOOK_UP_MS, idleMs: LOOK_UP_MS } };
  const found = provider.contextTokens((url, body) => askJson(upstream, provider, shared, url, body), call.settings, model);
  return found instanceof Promise ? untilAborted(found, call.signal) : found;
}

function chatWithin(upstream: Upstream, provider: Provider, call: ChatCall, limit: number | undefined): Promise<void> {
  const context: ChatContext = { model: call.model, prompt: call.prompt, settings: call.settings, stream: call.stream, contextTokens: limit };
  const wire = provider.buildChat(context);
  if (wire.warnings.length > 0) call.sink.emit(wire.warnings.map((warning) => ({ type: 'warning', warning })));
  const handler = wire.stream ? new StreamHandler(provider, call, provider.createDecoder(context), context) : new WholeHandler(provider, call, context);
  return sendWritten(upstream, provider, call, headed(wire), toJsonBytes(wire.body, turnOf(call)), handler);
}

/** A wire request without its body, so that the body can be freed while the answer is awaited. */
function headed({ url, stream, headers }: WireRequest): UpstreamRequest {
  const all: Record<string, string> = { 'content-type': 'application/json', accept: stream ? 'text/event-stream' : 'application/json' };
  if (headers !== undefined) Object.assign(all, headers);
  return { method: 'POST', url, headers: all };
}

/** Sends a request once its body is written, which takes some turns of the event loop if it is large. */
function sendWritten(
  upstream: Upstream,
  provider: Provider,
  call: AdapterCall,
  request: UpstreamRequest,
  body: Buffer | Promise<Buffer>,
  handler: UpstreamHandler,
): Promise<void> {
  if (!(body instanceof Promise)) return send(upstream, provider, call, { ...request, body }, handler);
  return body.then((bytes) => send(upstream, provider, call, { ...request, body: bytes }, handler));
}

/** A large body is not written further for a caller that has left. */
function turnOf({ signal }: AdapterCall): WriteOptions {
  return {
    turn: async () => {
      await nextTurn();
      if (signal.aborted) throw cancelled(signal.reason);
    },
  };
}

function embeddingOf(embedding: EmbeddingProvider, provider: Provider, ask: (call: AdapterCall, url: URL, body: unknown) => Promise<BodyCollector>): Embedding {
  return {
    batch: (model) => embedding.batch(model),
    takesTokenIds: embedding.takesTokenIds ?? false,
    embed: async (call) => {
      const { url, body } = embedding.build(call);
      const answer = await ask(call, url, body);
      return embedding.read(asObject(await answer.json(readerOf(provider, call))), call.settings.endpoint?.quirks.costField, answer.headers);
    },
  };
}

async function countTokens(ask: FetchJson, provider: Provider, { model, prompt, settings }: TokenCountCall): Promise<number> {
  const question = provider.countTokens?.({ model, prompt, settings, stream: false });
  const count = question === undefined ? undefined : asCount(question.countIn(asObject(await ask(question.url, question.body))));
  if (count === undefined) throw malformed('it has no count of tokens');
  return count;
}

function forward(upstream: Upstream, provider: Provider, call: ForwardCall): Promise<void> {
  const { request, settings } = call;
  const protocol = provider.protocol?.(settings);
  if (protocol?.path !== request.path) throw new BlockhouseError('INTERNAL_ERROR', `${provider.id} does not speak ${request.path} now.`);
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const name of protocol.requestHeaders) {
    const value = request.headers[name];
    if (typeof value === 'string' && protocol.passesHeader?.(name, value) !== false) headers[name] = value;
  }
  const edited = settings.endpoint === undefined ? undefined : provider.editForwarded?.(settings.endpoint, request);
  if (edited !== undefined) Object.assign(headers, edited.headers);
  const wire = { method: 'POST', url: protocol.url(settings, request.search), headers, body: edited?.body ?? request.body } as const;
  return send(upstream, provider, call, wire, new ForwardHandler(provider, protocol, call));
}

/** Signs and sends. A header that the request has already stays as it is. */
function send(upstream: Upstream, provider: Provider, call: AdapterCall, request: UpstreamRequest, handler: UpstreamHandler): Promise<void> {
  const found = provider.authorize(request, call.settings);
  const { endpoint } = call.settings;
  const sendWith = (headers: Record<string, string>): Promise<void> => {
    for (const name in headers) request.headers[name] ??= headers[name] ?? '';
    if (call.hop !== undefined) request.headers['x-blockhouse-hop'] = String(call.hop);
    if (call.instance !== undefined) request.headers['x-blockhouse-instance'] = call.instance;
    if (call.traceparent !== undefined) request.headers['traceparent'] = call.traceparent;
    if (endpoint !== undefined) addHeaders(request.headers, endpoint, call.settings);
    return upstream.send(call, request, handler);
  };
  return found instanceof Promise ? untilAborted(found, call.signal).then(sendWith) : sendWith(found);
}

/** Those of the entry win over the client's and over ours. */
function addHeaders(headers: Record<string, string>, { headers: own, keyHeader }: Endpoint, { values, sources }: ResolvedSettings): void {
  for (const name in own) headers[name] = own[name] ?? '';
  const { apiKey } = values;
  if (keyHeader === undefined || apiKey === undefined || sources['apiKey'] === 'request') return;
  for (const usual of USUAL_KEY_HEADERS) delete headers[usual];
  headers[keyHeader] = apiKey;
}

/** A look-up may hang (a metadata service, a daemon), and a caller that leaves must not wait for it. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let leave = (): void => undefined;
  const left = new Promise<never>((_resolve, reject) => {
    leave = () => reject(new BlockhouseError('CANCELLED', 'The client closed the connection or aborted the request.', { cause: signal.reason }));
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** GETs JSON, or POSTs `body` as JSON. Rejects with the provider's error for an error status, with UPSTREAM_MALFORMED for a body that is not JSON. */
async function askJson(upstream: Upstream, provider: Provider, call: AdapterCall, url: URL, body: unknown): Promise<unknown> {
  return (await asked(upstream, provider, call, url, body)).json(readerOf(provider, call));
}

/** The same, with the headers of the answer. */
async function asked(upstream: Upstream, provider: Provider, call: AdapterCall, url: URL, body: unknown): Promise<BodyCollector> {
  const accept = 'application/json';
  const answer = new BodyCollector(body === undefined ? ANSWER_LIMITS.list : ANSWER_LIMITS.whole);
  if (body === undefined) await send(upstream, provider, call, { method: 'GET', url, headers: { accept } }, answer);
  else
    await sendWritten(upstream, provider, call, { method: 'POST', url, headers: { accept, 'content-type': accept } }, toJsonBytes(body, turnOf(call)), answer);
  if (answer.isError) throw toError(provider, call, answer.answer());
  return answer;
}
