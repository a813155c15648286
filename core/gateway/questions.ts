// What is asked of providers besides calls of models: lists, probes, the size of a context.
//
// in-line: What a key asks of a provider besides its calls takes a place there as they do, and needs room under its caps. The questions of the owner are few,
//   and don't wait for calls.
// one-probe: what keys ask at the same time of a provider is one probe, so that a client that probes in a loop has no long list read again and again. The owner, who may just have mended
//   something, has a probe of their own.
import { assertOpen, never } from '../base/abort.ts';
import type { CoreBus } from '../bus.ts';
import { invalidRequest, toBlockhouseError } from '../errors.ts';
import type { Adapter } from '../ports.ts';
import { type ModelList, VerifyRequest, type VerifyResult } from '../schemas/adapter.ts';
import type { ChatConfig } from '../schemas/chat.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { ClientAccounts } from './account.ts';
import type { CallOptions } from './call-options.ts';
import type { CallSettings } from './call-settings.ts';
import { keyCaller } from './calls/call.ts';
import { type KeyState, keyFaultOf } from './connections/key-state.ts';
import { type AskedCall, type Asks, offeredIds, ServedModels } from './connections/served-models.ts';
import type { Destinations } from './destinations.ts';
import type { AdapterRegistry } from './registry.ts';
import { SharedAnswers } from './shared-answers.ts';

/** What questions are asked with. */
export interface QuestionsOptions {
  readonly registry: AdapterRegistry;
  readonly settings: CallSettings;
  readonly destinations: Destinations;
  readonly bus: CoreBus;
  readonly accounts?: ClientAccounts | undefined;
  /** Fires when the gateway closes. */
  readonly closing: AbortSignal;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

/** Who asks for the size of a context, and with which settings. */
export type ContextOptions = Pick<CallOptions, 'signal' | 'key' | 'askedAs'> & { readonly config?: ChatConfig | undefined };

/** Of a provider's list of models: the longest that are known have some hundreds. */
const MAX_NAMES = 5000;
const MAX_NAME_CHARACTERS = 256;
/** So short that a person who has just added a model finds it. */
const KEEP_LIST_MS = 2000;
const checkVerify: Validator<VerifyRequest> = compile(VerifyRequest);

/** The questions of one gateway. */
export class Questions {
  readonly #options: QuestionsOptions;
  readonly #registry: AdapterRegistry;
  readonly #settings: CallSettings;
  readonly #served: ServedModels;
  readonly #lists: SharedAnswers<readonly string[]>;
  readonly #probes: SharedAnswers<string>;
  /** What lists show of a connection, and of what it was made. */
  readonly #shown = new WeakMap<Adapter, { readonly served: unknown; readonly endpoint: unknown; readonly ids: readonly string[] }>();
  /** The adapters whose list of models was cut, and it was told. */
  readonly #cutLists = new Set<string>();

  constructor(options: QuestionsOptions) {
    this.#options = options;
    this.#registry = options.registry;
    this.#settings = options.settings;
    this.#served = new ServedModels(options.now);
    this.#lists = new SharedAnswers(options.now, KEEP_LIST_MS);
    this.#probes = new SharedAnswers(options.now, 0);
  }

  /** The model ids of an adapter. */
  async models(name: string, options: CallOptions = {}): Promise<ModelList> {
    const adapter = this.#registry.inUrl(name);
    const { connection, curatedModels } = adapter;
    const asked =
      connection === undefined && curatedModels !== undefined ? curatedModels : await this.ask(adapter, options, () => this.#list(adapter, options));
    return { provider: adapter.id, models: [...asked], count: asked.length };
  }

  async #list(adapter: Adapter, { signal = never() }: CallOptions): Promise<readonly string[]> {
    const isConnection = adapter.connection !== undefined;
    if (isConnection) await this.#settings.ready(adapter);
    const call = this.#checkedCall(adapter, signal);
    return this.#lists.of(call.settings, signal, async (all) => {
      const shared = { ...call, signal: all };
      if (!isConnection) return this.#bounded(adapter, await adapter.listModels(shared));
      const served = await askWithKeys(shared, async (each) => (await adapter.listServed?.(each)) ?? []);
      return this.#bounded(adapter, offeredIds(call.settings.endpoint, served));
    });
  }

  /** The model ids that lists show of a connection, from what is known of its server; without a key, what the entry says. The same object until it changes. Throws ADAPTER_NOT_FOUND, and ADAPTER_NOT_CONFIGURED for a wrong entry. */
  async offered(name: string): Promise<readonly string[]> {
    const adapter = this.#registry.inUrl(name);
    const endpoint = this.#settings.endpointOf(adapter);
    const ready = async () => this.#settings.ready(adapter);
    const served = await this.#served.of(adapter, ready, (signal) => this.configuredCall(adapter, undefined, signal), askWithKeys);
    const shown = this.#shown.get(adapter);
    if (shown !== undefined && shown.served === served && shown.endpoint === endpoint) return shown.ids;
    const ids = this.#bounded(adapter, offeredIds(endpoint, served));
    this.#shown.set(adapter, { served, endpoint, ids });
    return ids;
  }

  /** How much a model can read, by the entry of auth.json or the list of its server; undefined where neither says it. Must not throw for settings that can't be used. */
  statedWindow(name: string, model: string): number | undefined {
    try {
      const adapter = this.#registry.inUrl(name);
      return this.#settings.endpointOf(adapter)?.factsOf(model)?.contextWindow ?? this.#served.windowOf(adapter, model);
    } catch (error) {
      if (toBlockhouseError(error).code === 'INTERNAL_ERROR') throw error;
      return undefined;
    }
  }

  /** Whether a model gets images, as far as its provider and its connection say. Must not throw for settings that can't be used. */
  takesImages(name: string, model: string): boolean {
    try {
      const adapter = this.#registry.inUrl(name);
      if (adapter.supports?.parts?.includes('image') !== true) return false;
      const endpoint = this.#settings.endpointOf(adapter);
      return (endpoint?.factsOf(model)?.images ?? endpoint?.quirks.images) !== false;
    } catch (error) {
      if (toBlockhouseError(error).code === 'INTERNAL_ERROR') throw error;
      return false;
    }
  }

  /**
   * The most tokens that a prompt and its answer may have together; undefined where that is not known. What stands in the way of the question
   * rejects the call that follows it, and not this.
   */
  async contextTokens(name: string, model: string, { config, signal = never(), key, askedAs }: ContextOptions): Promise<number | undefined> {
    const adapter = this.known(name);
    if (adapter?.contextTokens === undefined) return undefined;
    return this.ask(adapter, { signal, key, askedAs, isRequest: false }, () => this.#contextTokens(adapter, model, config, signal), model);
  }

  /** Undefined for a name of nothing, and for a connection whose entry is wrong. */
  known(name: string): Adapter | undefined {
    try {
      return this.#registry.idOf(name) === undefined ? undefined : this.#registry.inUrl(name);
    } catch (error) {
      if (toBlockhouseError(error).code !== 'ADAPTER_NOT_CONFIGURED') throw error;
      return undefined;
    }
  }

  async #contextTokens(adapter: Adapter, model: string, config: ChatConfig | undefined, signal: AbortSignal): Promise<number | undefined> {
    try {
      await this.#settings.ready(adapter);
      return await adapter.contextTokens?.(this.configuredCall(adapter, config, signal), model);
    } catch (error) {
      if (toBlockhouseError(error).code === 'INTERNAL_ERROR') throw error;
      return undefined;
    }
  }

  /** in-line. */
  async ask<T>(
    adapter: Adapter,
    { key, askedAs, signal = never(), isRequest = true }: Pick<CallOptions, 'signal' | 'key' | 'askedAs'> & { readonly isRequest?: boolean },
    question: () => Promise<T>,
    model?: string,
  ): Promise<T> {
    if (key === undefined) return question();
    const places = this.#options.accounts?.check({ key, askedAs, adapterId: adapter.id, model }, isRequest);
    return this.#options.destinations.enter(adapter, undefined).queue.run(question, keyCaller(key), signal, undefined, places);
  }

  /** The first names of a list, which are more than a person reads; a list that is cut is told once. */
  #bounded({ id }: Adapter, names: readonly string[]): readonly string[] {
    const kept = names.filter((name) => name.length <= MAX_NAME_CHARACTERS).slice(0, MAX_NAMES);
    if (kept.length < names.length && !this.#cutLists.has(id)) {
      this.#cutLists.add(id);
      const error = `It has ${names.length} names, of which ${kept.length} are offered: the first ${MAX_NAMES} of at most ${MAX_NAME_CHARACTERS} characters.`;
      this.#options.bus.emit('workspace.fault', { what: `the list of models of ${id}`, error });
    }
    return kept;
  }

  /** Probes credentials or reachability without an inference. A failed probe is an answer with `ok: false` and not an error. Why it failed, and where the provider is, only the owner reads. */
  async verify(name: string, body: unknown, options: CallOptions = {}): Promise<VerifyResult> {
    const adapter = this.#registry.inUrl(name);
    checkVerify(body);
    if (body.provider !== undefined && this.#registry.inBody(body.provider, 'provider') !== adapter) {
      throw invalidRequest('provider', `must be ${adapter.id}, the provider in the URL`);
    }
    const { signal = never(), key } = options;
    const probe = async (): Promise<VerifyResult> => {
      try {
        await this.#settings.ready(adapter);
        const call = this.configuredCall(adapter, body.config, signal);
        const verify = (each: AskedCall) => askWithKeys(each, (asked) => adapter.verify(asked));
        const detail = await (key === undefined ? verify(call) : this.#probes.of(call.settings, signal, (all) => verify({ ...call, signal: all }))); // one-probe
        return { provider: adapter.id, ok: true, detail: key === undefined ? detail : 'The provider answers.' };
      } catch (error) {
        const failure = toBlockhouseError(error);
        const { code, message } = failure;
        if (code === 'INVALID_REQUEST' || code === 'INTERNAL_ERROR' || code === 'CANCELLED') throw failure;
        return { provider: adapter.id, ok: false, detail: key === undefined ? message : `The check of the provider failed (${code}).` };
      }
    };
    return this.ask(adapter, { key, signal }, probe);
  }

  /** With a key that can be used, if there are several. Throws ADAPTER_NOT_CONFIGURED, SHUTTING_DOWN (closed-is-closed) or INVALID_REQUEST. */
  configuredCall(adapter: Adapter, config: ChatConfig | undefined, signal: AbortSignal): AskedCall {
    assertOpen(this.#options.closing);
    const call = this.#settings.configured(adapter, config, signal);
    const [ready] = call.keys?.ring.byReadiness() ?? [];
    if (ready !== undefined && call.keys !== undefined) call.settings = call.keys.settingsOf(ready);
    return call;
  }

  /** Like `configuredCall`, but a credential may be missing. */
  #checkedCall(adapter: Adapter, signal: AbortSignal): AskedCall {
    assertOpen(this.#options.closing);
    return this.#settings.checked(adapter, undefined, signal);
  }
}

/** With one key after the other, if there are several and the server refuses them. */
const askWithKeys: Asks = (call, question) => {
  const { keys } = call;
  const [first, ...others] = keys?.ring.byReadiness() ?? [];
  if (keys === undefined || first === undefined) return question(call);
  const ask = (state: KeyState) => question({ ...call, settings: keys.settingsOf(state) });
  const askNext = (state: KeyState) => (error: unknown) => {
    if (keyFaultOf(toBlockhouseError(error)) === undefined) throw error;
    return ask(state);
  };
  return others.reduce((answer, state) => answer.catch(askNext(state)), ask(first));
};
