// The gateway: chat requests, model lists and probes for all adapters. A request is checked here, then attempts.ts makes it. The streamed and the whole
// form are the same sequence of events.
//
// checked-first: A request that can't succeed is refused before it waits for a place.
// closed-is-closed: After `close` every request ends in SHUTTING_DOWN, including those that wait for a place or for their next attempt. When `close`
//   resolves, each of them has been settled.
import { setMaxListeners } from 'node:events';
import type { CredentialStore } from '../auth/credentials.ts';
import { KeyCommands } from '../auth/key-command.ts';
import { PresetFile } from '../auth/preset-file.ts';
import type { FiledPrices } from '../auth/price-file.ts';
import type { Environment } from '../auth/settings.ts';
import { assertOpen, never } from '../base/abort.ts';
import { LinkedList } from '../base/linked-list.ts';
import type { Writable } from '../base/writable.ts';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError, toBlockhouseError } from '../errors.ts';
import type { Adapter, ContentTap, ForwardedRequest, ForwardTarget, StreamSink, TokenCount, UpstreamTimeouts } from '../ports.ts';
import type { AdapterInfo, AdapterStatus, ModelList, ShownSetting, VerifyResult } from '../schemas/adapter.ts';
import { type ChatConfig, type ChatDone, ChatRequest, type ChatResponse, type Warning } from '../schemas/chat.ts';
import { EmbedRequest, type EmbedResponse } from '../schemas/embed.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { ClientAccounts } from './account.ts';
import { adapterStatus, mustSearch, type StatusOptions } from './adapter-status.ts';
import { Attempts, type AttemptsOptions } from './attempts.ts';
import type { CallOptions } from './call-options.ts';
import { assertTakesBaseURL, CallSettings } from './call-settings.ts';
import { Chat } from './calls/chat.ts';
import type { ChatResult } from './calls/chat-attempt.ts';
import { assertEmbeds, Embed } from './calls/embed.ts';
import { Forward } from './calls/forward.ts';
import { ConnectionStore } from './connections/connection-store.ts';
import { Connections, presetsOf } from './connections/connections.ts';
import { KeyRings } from './connections/key-rings.ts';
import { Destinations } from './destinations.ts';
import { parseBaseURL } from './egress.ts';
import { assertFewHops, serviceOrigins } from './hops.ts';
import { type CallToPrice, type KnownPrice, priceOf } from './known-price.ts';
import type { CallState, GatewayLoad, LiveCall } from './live.ts';
import type { OwnAddresses } from './own-addresses.ts';
import type { PricedModel } from './pricing.ts';
import { type ContextOptions, Questions } from './questions.ts';
import type { QueueLimits } from './queue.ts';
import { AdapterRegistry, adapterInfo } from './registry.ts';
import { shownSettings } from './shown-settings.ts';
import { promptFor, withinFacts } from './support.ts';
import { countTokens } from './token-count.ts';

/** What a gateway works with. */
export interface GatewayOptions extends Pick<AttemptsOptions, 'retries' | 'tracesProviders' | 'now' | 'random'> {
  readonly adapters: readonly Adapter[];
  readonly credentials: CredentialStore | undefined;
  readonly env: Environment;
  /** The folder with presets.json; undefined for none. */
  readonly workspace?: string | undefined;
  /** Presets that are connections without an entry in auth.json. */
  readonly connections?: readonly string[];
  readonly bus: CoreBus;
  readonly timeouts: Partial<UpstreamTimeouts>;
  /** For each destination. */
  readonly queue: QueueLimits;
  readonly allowedOrigins: ReadonlySet<string>;
  /** The account of the calls of clients; undefined where there is none. */
  readonly accounts?: ClientAccounts | undefined;
  /** Finds the prices of prices.json; undefined without a workspace. */
  readonly filedPrices?: FiledPrices | undefined;
  /** Where this process serves the gateway; no call goes there. */
  readonly ownAddresses?: OwnAddresses;
  readonly newRequestId: () => string;
  /** Reads prompts and answers; undefined for nobody. */
  readonly contentTap?: ContentTap | undefined;
}

/** What can be said of an adapter before it is called. */
export interface AdapterReadiness {
  /** The adapter's own id, also where an alias was given. */
  readonly id: string;
  /** What a call would be refused with at once; undefined when it may be made. */
  readonly missing: BlockhouseError | undefined;
}

/** From the end of a connection to the end of its call it is two or three; a reader that is slow to take its last part may add some. */
const TURNS_TO_END = 20;
const NO_WARNINGS: readonly Warning[] = [];
const checkChat: Validator<ChatRequest> = compile(ChatRequest);
const checkEmbed: Validator<EmbedRequest> = compile(EmbedRequest);

/** One gateway to all adapters. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #registry: AdapterRegistry;
  /** The named upstreams besides the adapters. */
  readonly connections: Connections;
  /** The same, as people see and change them. */
  readonly connectionStore: ConnectionStore;
  readonly #settings: CallSettings;
  readonly #destinations: Destinations;
  readonly #live = new LinkedList<LiveCall>();
  readonly #closing = new AbortController();
  readonly #attemptsOptions: AttemptsOptions;
  readonly #questions: Questions;
  #closed: Promise<unknown> | undefined;

  constructor(options: GatewayOptions) {
    const { adapters, bus, now, accounts, ownAddresses: { instance } = {} } = options;
    this.#options = options;
    this.#settings = new CallSettings({ ...options, commands: new KeyCommands(now), rings: new KeyRings({ bus, now }), services: serviceOrigins(adapters) });
    const presets = new PresetFile(options.workspace, presetsOf(adapters), now);
    this.connections = new Connections({ adapters, credentials: options.credentials, presets, names: options.connections ?? [] });
    this.#registry = new AdapterRegistry(adapters, this.connections);
    this.connectionStore = new ConnectionStore({
      ...options,
      adapters: this.#registry.list(),
      connections: this.connections,
      presets,
      settings: this.#settings,
      load: (name) => this.load(name),
    });
    this.#destinations = new Destinations(adapters, {
      ...options,
      connection: (adapter) => this.#ofConnection(adapter),
      isConnection: (name) => this.connections.has(name),
    });
    this.#questions = new Questions({
      ...options,
      registry: this.#registry,
      settings: this.#settings,
      destinations: this.#destinations,
      closing: this.#closing.signal,
    });
    setMaxListeners(0, this.#closing.signal); // one for each request that waits for its next attempt
    this.#attemptsOptions = { ...options, settings: this.#settings, closing: this.#closing.signal, live: this.#live, accounts, instance };
  }

  /** The ids of the adapters with a provider, in the order of their registration. */
  adapterIds(): string[] {
    return this.#registry.ids();
  }

  /** The adapters, and the connections whose entry can be used, in order: each has its own line of calls and its own figures. */
  upstreams(): Adapter[] {
    return [...this.#registry.list(), ...this.connections.names().flatMap((name) => this.#questions.known(name) ?? [])];
  }

  /** The id of the adapter with this id or alias; undefined if there is none. */
  adapterIdOf(name: string): string | undefined {
    return this.#registry.idOf(name);
  }

  /** The metadata of each adapter for callers. */
  adapters(): AdapterInfo[] {
    return this.#registry.list().map(adapterInfo);
  }

  /** One adapter by its id or an alias. Throws ADAPTER_NOT_FOUND. */
  adapter(name: string): Adapter {
    return this.#registry.inUrl(name);
  }

  /** Whether each adapter can be used at this moment, in the order of their registration. Throws ADAPTER_NOT_FOUND. */
  status({ signal = never(), only, searches = true }: StatusOptions = {}): Promise<AdapterStatus[]> {
    const adapters = only === undefined ? this.#registry.list() : [this.#registry.inUrl(only)];
    return Promise.all(adapters.map((adapter) => adapterStatus(adapter, () => this.#settings.checked(adapter, undefined, signal), searches)));
  }

  /** The calls under way, the newest first. */
  live(): CallState[] {
    return [...this.#live].map((call) => call.state());
  }

  /** Stops reading on the calls of this id that their callers leave or have left; false if there are none. */
  stopReading(requestId: string): boolean {
    return [...this.#live].filter((call) => call.requestId === requestId && call.stopReading()).length > 0;
  }

  /** How busy a provider is, where it is configured, and whether it is called at all. Throws ADAPTER_NOT_FOUND. */
  load(name: string): GatewayLoad {
    const adapter = this.#registry.inUrl(name);
    const { queue, breaker, counts } = this.#destinations.enter(adapter, undefined);
    return {
      ...queue.load,
      limits: queue.limits,
      breaker: breaker.state,
      paused: breaker.paused,
      counts: { ...counts },
      missing: this.readiness(adapter.id, undefined, 'adapter').missing?.message,
    };
  }

  /** What auth.json and the environment set, secrets masked. */
  settings(): ShownSetting[] {
    return shownSettings(this.upstreams(), this.#options.credentials, this.#options.env);
  }

  /** Whether an adapter could be called with these overrides; calls nobody. Throws INVALID_REQUEST naming `field` for an unknown adapter. */
  readiness(name: string, config: ChatConfig | undefined, field: string): AdapterReadiness {
    let id = name;
    try {
      const adapter = this.#registry.inBody(name, field);
      id = adapter.id;
      this.#questions.configuredCall(adapter, config, never());
      return { id, missing: undefined };
    } catch (error) {
      if (this.#registry.idOf(name) === undefined) throw error;
      return { id, missing: toBlockhouseError(error) };
    }
  }

  /** The names in the price data of the model that a call reaches; undefined if its price can't be known (priceOf). */
  pricedAs(call: CallToPrice): PricedModel | undefined {
    return this.priceOf(call)?.priced;
  }

  /** The same, with where the price comes from. A call that could not be made (an unknown adapter, settings that can't be used) has none, and says itself what is wrong. */
  priceOf(call: CallToPrice): KnownPrice | undefined {
    try {
      const adapter = this.#registry.inBody(call.provider, 'adapter');
      return priceOf(adapter, this.#settings.checked(adapter, call.config, never()).settings, call, this.#options.filedPrices);
    } catch (error) {
      if (toBlockhouseError(error).code === 'INTERNAL_ERROR') throw error;
      return undefined;
    }
  }

  /** True if only a search, as `status` makes one, tells whether an adapter has a credential. Throws for settings that can't be used. */
  mustSearch(name: string): boolean {
    const adapter = this.#registry.inUrl(name);
    return mustSearch(adapter, this.#settings.stored(adapter));
  }

  /** Throws INVALID_REQUEST naming `field` for a base URL that could not be used with an adapter, whatever keys and permissions there are. */
  checkBaseURL(name: string, baseURL: string, field: string): void {
    assertTakesBaseURL(this.adapter(name), field);
    parseBaseURL(baseURL, field);
  }

  /** A whole answer. Rejects with a BlockhouseError. */
  chat(request: unknown, options: CallOptions = {}): Promise<ChatResponse> {
    return this.#run(request, undefined, options, toResponse);
  }

  /** Writes an answer into `sink` while it comes, and resolves with its end. Rejects with a BlockhouseError. */
  pipe(request: unknown, sink: StreamSink, options: CallOptions = {}): Promise<ChatDone> {
    return this.#run(request, sink, options, ({ done }) => done);
  }

  /**
   * What a request loses on its way to a provider that speaks the protocol of this path itself, as it is configured now; undefined for one that does not, or would not
   * understand this request. Throws what a call would throw at once.
   */
  lane(name: string, path: string, model: string, fields: Readonly<Record<string, unknown>>): readonly Warning[] | undefined {
    const adapter = this.#registry.inBody(name, 'adapter');
    const settings = this.#settings.stored(adapter);
    if (adapter.protocol?.(settings) !== path) return undefined;
    const { endpoint } = settings;
    if (endpoint === undefined) return NO_WARNINGS;
    if (adapter.mustTranslate?.(endpoint, model, fields) === true) return undefined;
    return adapter.forwardWarnings?.(endpoint, fields) ?? NO_WARNINGS;
  }

  /** Sends a request on in the provider's own protocol, and its answer to `target` as it comes. Rejects with a BlockhouseError. */
  forward(name: string, model: string, request: ForwardedRequest, target: ForwardTarget, options: CallOptions = {}): Promise<void> {
    try {
      const adapter = this.#registry.inBody(name, 'adapter');
      assertOpen(this.#closing.signal);
      assertFewHops(options.headers);
      this.#settings.addressOf(adapter, undefined); // checked-first
      const requestId = options.requestId ?? this.#options.newRequestId();
      const call = new Forward({ adapter, model, request, target, signal: options.signal ?? never(), requestId, options, tap: this.#options.contentTap });
      return new Attempts(call, this.#destinations.enter(adapter, undefined), this.#attemptsOptions).run(() => undefined);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The model ids of an adapter. */
  models(name: string, options?: CallOptions): Promise<ModelList> {
    return this.#questions.models(name, options);
  }

  /** See `Questions.offered`. */
  offered(name: string): Promise<readonly string[]> {
    return this.#questions.offered(name);
  }

  /** See `Questions.statedWindow`. */
  statedWindow(name: string, model: string): number | undefined {
    return this.#questions.statedWindow(name, model);
  }

  /** See `Questions.takesImages`. */
  readonly takesImages = (name: string, model: string): boolean => this.#questions.takesImages(name, model);

  /** See `Questions.contextTokens`. */
  contextTokens(name: string, model: string, options: ContextOptions): Promise<number | undefined> {
    return this.#questions.contextTokens(name, model, options);
  }

  /** See `Questions.verify`. */
  verify(name: string, body: unknown, options?: CallOptions): Promise<VerifyResult> {
    return this.#questions.verify(name, body, options);
  }

  /** One vector for each input. Rejects with a BlockhouseError. */
  async embed(request: unknown, options: CallOptions = {}): Promise<EmbedResponse> {
    checkEmbed(request);
    const adapter = this.#registry.inBody(request.adapter, 'adapter');
    assertEmbeds(adapter, request);
    assertFewHops(options.headers);
    assertOpen(this.#closing.signal);
    this.#settings.addressOf(adapter, undefined); // checked-first
    const requestId = options.requestId ?? this.#options.newRequestId();
    const call = new Embed({ adapter, request, signal: options.signal ?? never(), requestId, options });
    await new Attempts(call, this.#destinations.enter(adapter, undefined), this.#attemptsOptions).run(() => undefined);
    const { vectors, used = { inputTokens: 0, outputTokens: 0, totalTokens: 0 } } = call;
    return { provider: adapter.id, model: request.model, vectors, usage: used };
  }

  /** The tokens of a chat request, without an inference. It costs nothing, but a key that may not make the request may not have it counted. Rejects with a BlockhouseError. */
  async countTokens(request: unknown, options: CallOptions = {}): Promise<TokenCount> {
    checkChat(request);
    const adapter = this.#registry.inBody(request.adapter, 'adapter');
    const prompt = promptFor(request, adapter);
    const { signal = never(), key, askedAs } = options;
    await options.turn?.();
    const count = async () => {
      await this.#settings.ready(adapter);
      return countTokens(adapter, () => this.#questions.configuredCall(adapter, request.config, signal), request, prompt);
    };
    return this.#questions.ask(adapter, { key, askedAs, signal }, count, request.model);
  }

  /** Loads what the first requests need, one piece in each turn of the event loop: all of it at once would hold up every open stream. */
  async prepare(): Promise<void> {
    checkChat.prepare();
    for (const adapter of this.#registry.all) await adapter.prepare?.();
  }

  /** Ends every request and closes the adapters. A second call waits for the first. */
  async close(): Promise<void> {
    this.#closing.abort(new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.')); // closed-is-closed
    this.#closed ??= Promise.all(this.#registry.all.map((adapter) => adapter.close())).then(() => this.#ended());
    await this.#closed;
  }

  /** Adapters end their calls when they close, and the calls settle a few turns later. What has come and is still parsed has no connection that ends; it counts by its size. */
  async #ended(): Promise<void> {
    for (const call of [...this.#live]) call.stopReading(this.#closing.signal.reason);
    for (let turn = 0; turn < TURNS_TO_END && this.#live.size > 0; turn += 1) await new Promise(setImmediate);
    for (const call of [...this.#live]) call.abandon();
  }

  /** A connection that can't be called has the limits of the server: its calls fail before they wait. */
  #ofConnection(adapter: Adapter): { readonly limits: QueueLimits; readonly place: string | undefined } {
    const { queue } = this.#options;
    try {
      const { limits = {} } = this.#settings.endpointOf(adapter) ?? {};
      return {
        limits: { concurrency: Math.min(limits.inFlight ?? queue.concurrency, this.#settings.placesOf(adapter)), waiting: limits.waiting ?? queue.waiting },
        place: this.#settings.placeOf(adapter),
      };
    } catch (error) {
      if (toBlockhouseError(error).code === 'INTERNAL_ERROR') throw error;
      return { limits: queue, place: undefined };
    }
  }

  /** checked-first. Not an async function: one that returns a promise costs three turns more than the promise itself. */
  #run<T>(body: unknown, sink: StreamSink | undefined, options: CallOptions, resultOf: (answered: ChatResult, chat: Chat) => T): Promise<T> {
    try {
      checkChat(body);
      assertFewHops(options.headers);
      const adapter = this.#registry.inBody(body.adapter, 'adapter');
      const asked = promptFor(body, adapter, options.leavesTokenLimit);
      assertOpen(this.#closing.signal);
      const { address, endpoint } = this.#settings.placeFor(adapter, body.config);
      const prompt = endpoint === undefined ? asked : withinFacts(asked, body, endpoint);
      const requestId = options.requestId ?? this.#options.newRequestId();
      const chat = new Chat({ request: body, adapter, prompt, signal: options.signal ?? never(), requestId, sink, options, tap: this.#options.contentTap });
      const run = (): Promise<T> =>
        new Attempts(chat, this.#destinations.enter(adapter, address), this.#attemptsOptions).run((answered) => resultOf(answered, chat));
      return options.turn === undefined ? run() : options.turn().then(run);
    } catch (error) {
      return Promise.reject(error);
    }
  }
}

/** Field by field: this runs for every answer, and taking the rest of an object costs as much as all of the others. */
function toResponse({ done, content }: ChatResult, { adapter, model }: Chat): ChatResponse {
  const message: Writable<ChatResponse['message']> = { role: 'assistant', content };
  if (done.toolCalls !== undefined) message.toolCalls = done.toolCalls;
  if (done.providerMetadata !== undefined) message.providerMetadata = done.providerMetadata;
  const response: Writable<ChatResponse> = { provider: adapter.id, model, message, usage: done.usage, stopReason: done.stopReason };
  if (done.stopSequence !== undefined) response.stopSequence = done.stopSequence;
  if (done.logprobs !== undefined) response.logprobs = done.logprobs;
  if (done.warnings !== undefined) response.warnings = done.warnings;
  return response;
}
