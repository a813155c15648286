// The gateway: one chat request through validation, queue, attempts and fold. Both forms, streamed and whole,
// are the same sequence of events.
//
// W1 A request that can't succeed is refused before it takes a place in the queue.
// W2 A wait for a repetition never outlasts the time until the stream opens by itself: the failure still gets its status.
// W3 After the sink has opened, an attempt is never repeated.
// W4 An aborted signal ends every phase: waiting, attempt, backoff.
// W5 Keys are resolved for each attempt, so that a rotated key serves the next one.
// W6 After `close` every request ends in SHUTTING_DOWN, those too that wait for a place or for a repetition.
// W7 A provider that fails call after call is left alone for a while (breaker.ts). A request that names an address of its own neither counts
//    there nor is held up by it: it says nothing of the provider. Nor does it take from, or add to, the repetitions of the others.
import { setMaxListeners } from 'node:events';
import type { CredentialStore } from '../auth/credentials.ts';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError, invalidRequest, toBlockhouseError, withUsage } from '../errors.ts';
import type { Adapter, AdapterCall, StreamSink, UpstreamTimeouts } from '../ports.ts';
import { type AdapterInfo, type ModelList, VerifyRequest, type VerifyResult } from '../schemas/adapter.ts';
import { type ChatConfig, type ChatDone, ChatRequest, type ChatResponse, type Usage } from '../schemas/chat.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import { type AcceptedChat, type AnsweredChat, Attempts, sleep, sumOf } from './attempts.ts';
import { Breaker } from './breaker.ts';
import { Calls } from './calls.ts';
import { type Prompt, toPrompt } from './prompt.ts';
import { AdapterQueue, type QueueLimits } from './queue.ts';
import { AdapterRegistry, adapterInfo } from './registry.ts';
import { RetryBudget, retryDelayMs } from './retry.ts';
import type { Environment } from './settings.ts';

export interface GatewayOptions {
  readonly adapters: readonly Adapter[];
  readonly credentials: CredentialStore | undefined;
  readonly env: Environment;
  readonly bus: CoreBus;
  readonly timeouts: Partial<UpstreamTimeouts>;
  readonly queue: QueueLimits;
  readonly allowedOrigins: ReadonlySet<string>;
  /** Repetitions of a failed attempt at most; 0 for none. */
  readonly retries: number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly random: () => number;
  readonly newRequestId: () => string;
}

export interface CallOptions {
  /** Abort it when the caller leaves. */
  readonly signal?: AbortSignal | undefined;
  readonly requestId?: string | undefined;
  /** Called when the request has its turn and is about to be made, once. What it throws is the failure, and nothing is made. */
  onTurn?(): void;
}

/** How the calls to one place have gone (W7). */
interface Account {
  readonly breaker: Breaker | undefined;
  readonly budget: RetryBudget;
}

interface Lane {
  readonly queue: AdapterQueue;
  /** Of the provider where it is configured to be. */
  readonly provider: Account;
  /** Of all the addresses that requests name themselves, together. */
  readonly elsewhere: Account;
}

/** A signal that nobody fires. One for each request: a shared one would gather the listeners of all of them. */
const never = (): AbortSignal => new AbortController().signal;

export class Gateway {
  readonly #options: GatewayOptions;
  readonly #registry: AdapterRegistry;
  readonly #lanes = new Map<string, Lane>();
  readonly #checkChat: Validator<ChatRequest> = compile(ChatRequest);
  readonly #checkVerify: Validator<VerifyRequest> = compile(VerifyRequest);
  readonly #calls: Calls;
  readonly #closing = new AbortController();
  #closed: Promise<unknown> | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#calls = new Calls(options);
    setMaxListeners(0, this.#closing.signal); // one for each request that waits for a repetition
    this.#registry = new AdapterRegistry(options.adapters);
    for (const adapter of options.adapters) {
      const breaker = new Breaker(adapter.displayName, options.now, {
        opened: (fact) => options.bus.emit('adapter.paused', { adapter: adapter.id, ...fact }),
        closed: () => options.bus.emit('adapter.recovered', { adapter: adapter.id }),
      });
      this.#lanes.set(adapter.id, {
        queue: new AdapterQueue(options.queue),
        provider: { breaker, budget: new RetryBudget(options.now) },
        elsewhere: { breaker: undefined, budget: new RetryBudget(options.now) },
      });
    }
  }

  adapterIds(): string[] {
    return this.#registry.ids();
  }

  adapters(): AdapterInfo[] {
    return this.#registry.list().map(adapterInfo);
  }

  /** Metadata of one adapter. Throws ADAPTER_NOT_FOUND. */
  adapter(name: string): Adapter {
    return this.#registry.inUrl(name);
  }

  /**
   * How an adapter stands with these overrides, before any call: its own id, and whether it goes to the provider itself rather than to another
   * address. Throws INVALID_REQUEST naming `field` for an unknown adapter, or what a call would be refused with at once.
   */
  stand(
    name: string,
    config: ChatConfig | undefined,
    field: string,
  ): { readonly id: string; readonly missing: BlockhouseError | undefined; readonly isOwnHost: boolean } {
    const adapter = this.#registry.inBody(name, field);
    try {
      const { sources } = this.#configuredCall(adapter, config, never()).settings;
      return { id: adapter.id, missing: undefined, isOwnHost: (sources['baseURL'] ?? 'default') === 'default' };
    } catch (error) {
      return { id: adapter.id, missing: toBlockhouseError(error), isOwnHost: false };
    }
  }

  /** A whole answer. Rejects with a BlockhouseError. */
  async chat(request: unknown, options: CallOptions = {}): Promise<ChatResponse> {
    const accepted = this.#accept(request, undefined, options);
    return this.#run(accepted, (answered) => toResponse(accepted, answered), options);
  }

  /** Writes an answer into `sink` while it comes and resolves with its end. Rejects with a BlockhouseError. */
  async pipe(request: unknown, sink: StreamSink, options: CallOptions = {}): Promise<ChatDone> {
    return this.#run(this.#accept(request, sink, options), doneOf, options);
  }

  /** Model ids of an adapter. */
  async models(name: string, options: CallOptions = {}): Promise<ModelList> {
    const adapter = this.#registry.inUrl(name);
    const models = [...(adapter.curatedModels ?? (await adapter.listModels(this.#checkedCall(adapter, undefined, options.signal ?? never()))))];
    return { provider: adapter.id, models, count: models.length };
  }

  /**
   * The most tokens that a prompt and its answer may have together; undefined where that is not known. What stands in the way
   * of the question rejects the call that follows it, and not this.
   */
  async contextTokens(
    name: string,
    model: string,
    { config, signal = never() }: { readonly config?: ChatConfig | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<number | undefined> {
    try {
      const adapter = this.#registry.inBody(name, 'adapter');
      return await adapter.contextTokens?.(this.#configuredCall(adapter, config, signal), model);
    } catch (error) {
      if (toBlockhouseError(error).code === 'INTERNAL_ERROR') throw error;
      return undefined;
    }
  }

  /** Probes credentials or reachability without an inference. A failed probe is an answer with `ok: false`, not an error. */
  async verify(name: string, body: unknown, options: CallOptions = {}): Promise<VerifyResult> {
    const adapter = this.#registry.inUrl(name);
    this.#checkVerify(body);
    if (body.provider !== undefined && this.#registry.inBody(body.provider, 'provider') !== adapter) {
      throw invalidRequest('provider', `contradicts the URL, which names ${adapter.id}`);
    }
    const signal = options.signal ?? never();
    try {
      return { provider: adapter.id, ok: true, detail: await adapter.verify(this.#configuredCall(adapter, body.config, signal)) };
    } catch (error) {
      const failure = toBlockhouseError(error);
      if (failure.code === 'INVALID_REQUEST' || failure.code === 'INTERNAL_ERROR' || failure.code === 'CANCELLED') throw failure;
      return { provider: adapter.id, ok: false, detail: failure.message };
    }
  }

  /** Loads what the first requests need, a piece a turn: all at once, with the first body, it would hold up every open stream. */
  async prepare(): Promise<void> {
    this.#checkChat.prepare();
    for (const adapter of this.#registry.list()) await adapter.prepare?.();
  }

  /** W6. A second call waits for the first. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#closed ??= Promise.all(this.#registry.list().map((adapter) => adapter.close()));
    await this.#closed;
  }

  /** W1. */
  #accept(body: unknown, sink: StreamSink | undefined, options: CallOptions): AcceptedChat {
    this.#checkChat(body);
    const adapter = this.#registry.inBody(body.adapter, 'adapter');
    const prompt = withUnusedFields(toPrompt(body), body.config, adapter);
    const signal = options.signal ?? never();
    this.#assertOpen();
    this.#calls.assertConfigured(adapter, body.config);
    return { request: body, adapter, prompt, signal, requestId: options.requestId ?? this.#options.newRequestId(), sink };
  }

  #run<T>(accepted: AcceptedChat, resultOf: (answered: AnsweredChat) => T, options: CallOptions): Promise<T> {
    const { adapter, request, requestId, signal } = accepted;
    const attempts = new Attempts(accepted, this.#options.now);
    const lane = this.#lane(adapter);
    const account = request.config?.baseURL === undefined ? lane.provider : lane.elsewhere; // W7
    this.#options.bus.emit('chat.started', { requestId, adapter: adapter.id, model: request.model, stream: accepted.sink !== undefined });
    const begin = (): Promise<AnsweredChat> => {
      options.onTurn?.();
      account.budget.deposit();
      return this.#attemptUntilDone(accepted, attempts, account, 0);
    };
    return lane.queue.run(begin, signal).then(
      (answered) => {
        this.#tellEnd(accepted, attempts, sumOf(attempts.lostUsage, answered.done.usage), undefined);
        return resultOf(answered);
      },
      (error: unknown) => {
        const failure = withUsage(toBlockhouseError(error), attempts.lostUsage);
        attempts.end(failure);
        this.#tellEnd(accepted, attempts, failure.usage, failure.code);
        throw failure;
      },
    );
  }

  #tellEnd({ adapter, request, requestId }: AcceptedChat, attempts: Attempts, usage: Usage | undefined, code: BlockhouseError['code'] | undefined): void {
    const { startedAt, firstTextAt } = attempts;
    this.#options.bus.emit('chat.finished', {
      requestId,
      adapter: adapter.id,
      model: request.model,
      usage,
      code,
      attempts: attempts.count,
      durationMs: this.#options.now() - startedAt,
      firstTextMs: firstTextAt === undefined ? undefined : firstTextAt - startedAt,
    });
  }

  /** Not a loop that waits: a function that waits costs a stream more memory than a promise does. */
  #attemptUntilDone(accepted: AcceptedChat, attempts: Attempts, account: Account, retry: number): Promise<AnsweredChat> {
    return this.#attempt(accepted, attempts, account.breaker).catch(async (error: unknown) => {
      await this.#untilRepeated(accepted, error, account, retry);
      return this.#attemptUntilDone(accepted, attempts, account, retry + 1);
    });
  }

  /** Resolves when the time for another attempt has come. Rejects with the failure where there is to be none. */
  async #untilRepeated(
    { adapter, request, requestId, signal, sink }: AcceptedChat,
    error: unknown,
    { breaker, budget }: Account,
    retry: number,
  ): Promise<void> {
    const failure = signal.aborted ? new BlockhouseError('CANCELLED', 'The caller left.', { cause: error }) : toBlockhouseError(error);
    const final = sink?.opened === true || retry >= this.#options.retries || breaker?.isOpen === true; // W3, W7
    const wanted = final ? undefined : retryDelayMs(failure, retry, this.#options.random);
    const delayMs = wanted !== undefined && wanted < (sink?.opensInMs ?? Number.POSITIVE_INFINITY) ? wanted : undefined; // W2
    if (delayMs === undefined || failure.code === 'CANCELLED' || !budget.withdraw()) throw failure;
    this.#options.bus.emit('chat.retried', {
      requestId,
      adapter: adapter.id,
      model: request.model,
      attempt: retry + 1,
      delayMs,
      code: failure.code,
      error: failure.message,
    });
    await sleep(delayMs, signal, this.#closing.signal);
    // A keep-alive comment may have opened the stream in the meantime.
    if (sink?.opened) throw failure;
  }

  /** W7. */
  async #attempt({ adapter, request, signal }: AcceptedChat, attempts: Attempts, breaker: Breaker | undefined): Promise<AnsweredChat> {
    const call = this.#configuredCall(adapter, request.config, signal);
    return attempts.make(call, breaker?.admit());
  }

  #lane(adapter: Adapter): Lane {
    const lane = this.#lanes.get(adapter.id);
    if (lane === undefined) throw new Error(`no lane for ${adapter.id}`);
    return lane;
  }

  /** Throws ADAPTER_NOT_CONFIGURED, and what `#checkedCall` throws. */
  #configuredCall(adapter: Adapter, config: ChatConfig | undefined, signal: AbortSignal): AdapterCall {
    this.#assertOpen();
    return this.#calls.configured(adapter, config, signal);
  }

  /** Throws SHUTTING_DOWN, INVALID_REQUEST or, for a bad stored URL, ADAPTER_NOT_CONFIGURED. */
  #checkedCall(adapter: Adapter, config: ChatConfig | undefined, signal: AbortSignal): AdapterCall {
    this.#assertOpen();
    return this.#calls.checked(adapter, config, signal);
  }

  /** W6. */
  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.', { retryable: false });
  }
}

const doneOf = ({ done }: AnsweredChat): ChatDone => done;

/** Field by field: this runs for every answer, and taking the rest of an object costs as much as all of the others. */
function toResponse({ adapter, request }: AcceptedChat, { done, content }: AnsweredChat): ChatResponse {
  const message: ChatResponse['message'] = { role: 'assistant', content };
  if (done.toolCalls !== undefined) message.toolCalls = done.toolCalls;
  if (done.providerMetadata !== undefined) message.providerMetadata = done.providerMetadata;
  const response: ChatResponse = { provider: adapter.id, model: request.model, message, usage: done.usage, stopReason: done.stopReason };
  if (done.warnings !== undefined) response.warnings = done.warnings;
  return response;
}

const UNUSED_FIELDS = ['region', 'apiKey', 'accessKeyId', 'secretAccessKey', 'sessionToken'] as const;

/** Fields that mean nothing to this adapter are named, not dropped silently. `baseURL` is refused instead: it says where data goes. */
function withUnusedFields(prompt: Prompt, config: ChatConfig | undefined, adapter: Adapter): Prompt {
  if (config === undefined) return prompt;
  const unused = UNUSED_FIELDS.filter((name) => config[name] !== undefined && adapter.settings[name] === undefined);
  if (unused.length === 0) return prompt;
  return {
    ...prompt,
    warnings: [
      ...prompt.warnings,
      ...unused.map((name) => ({ field: `config.${name}`, message: `${adapter.displayName} has no use for it; it was left out.` })),
    ],
  };
}
