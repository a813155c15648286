// The prices of a workspace as people see and change them: those of the entries in auth.json, of prices.json, and of the price data.
//
// own-first: what a person has written wins over every list, so `set` writes the entry of the connection, and `update` leaves the entries alone.
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { CredentialStore, EntryFields } from '../auth/credentials.ts';
import type { PriceFile } from '../auth/price-file.ts';
import { isObject } from '../base/json.ts';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import type { Adapter } from '../ports.ts';
import { SetPrice } from '../schemas/prices.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { ModelFacts, PriceList, ShownPrice, Usage } from '../types.ts';
import type { Gateway } from './gateway.ts';
import type { PriceBook, PriceUpdate } from './books.ts';
import type { PricedModel, Prices } from './pricing.ts';
import { readPublished } from './published-prices.ts';

/** What the store works with. */
export interface PriceStoreOptions {
  readonly gateway: Pick<Gateway, 'adapter' | 'adapterIdOf' | 'connectionStore' | 'priceOf' | 'statedWindow'>;
  readonly credentials: CredentialStore;
  readonly file: PriceFile;
  readonly data: Prices;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

const check: Validator<SetPrice> = compile(SetPrice);
const MAX_MODEL = 256;

/** The prices. */
export class PriceStore implements PriceBook {
  readonly #options: PriceStoreOptions;

  constructor(options: PriceStoreOptions) {
    this.#options = options;
  }

  /** The effective price of each model that an entry or prices.json names, by name; with `model`, of that one, and with `usage` what a call costs that has used as much. Throws WORKSPACE_DAMAGED, INVALID_REQUEST and CONNECTION_NOT_FOUND. */
  async list(model?: string, usage?: Usage): Promise<PriceList> {
    const { source = null, models } = this.#options.file.document();
    const names = model === undefined ? [...new Set([...this.#named(), ...Object.keys(models)])].sort() : [this.#split(model).name];
    const prices = await Promise.all(names.map((name) => this.#shown(name, usage)));
    return { prices, source };
  }

  /** Writes the price into the entry of its connection. Rejects with INVALID_REQUEST naming the field, and CONNECTION_NOT_FOUND. */
  async set(model: string, body: unknown): Promise<ShownPrice> {
    check(body);
    const { price } = body;
    if (price === undefined) throw invalidRequest('price', 'is required');
    if (typeof price === 'string') await this.#assertKnown(price);
    const { connection, id, name } = this.#split(model);
    await this.#change(connection, id, (facts) => ({ ...facts, price }));
    return this.#shown(name);
  }

  /** Removes the price from the entry of its connection; false if there was none. Rejects as `set` does. */
  async remove(model: string): Promise<boolean> {
    const { connection, id } = this.#split(model);
    let had = false;
    await this.#change(connection, id, ({ price, ...facts }) => {
      had = price !== undefined;
      return facts;
    });
    return had;
  }

  /** What a file would change in prices.json. Throws INVALID_REQUEST for one that can't be used, and WORKSPACE_DAMAGED. */
  update(path: string, bytes: Uint8Array): PriceUpdate {
    const { models: before } = this.#options.file.document();
    const at = new Date(this.#options.now());
    let published: ReturnType<typeof readPublished>;
    try {
      published = readPublished(bytes, (provider) => this.#namesFor(provider), at);
    } catch (error) {
      throw invalidRequest('', `${basename(path)} can't be used: ${(error as Error).message}.`);
    }
    const { models, skipped } = published;
    const names = Object.keys(models).sort();
    const source = { file: basename(path).slice(0, MAX_MODEL), sha256: createHash('sha256').update(bytes).digest('hex'), date: at.toISOString() };
    return {
      document: { source, models },
      added: names.filter((name) => !Object.hasOwn(before, name)),
      changed: names.filter((name) => Object.hasOwn(before, name) && !isDeepStrictEqual(before[name], models[name])),
      gone: Object.keys(before).filter((name) => !Object.hasOwn(models, name)),
      skipped,
    };
  }

  /** Writes prices.json. Rejects with WORKSPACE_DAMAGED for one that can't be read. */
  async replace({ document }: PriceUpdate): Promise<void> {
    await this.#options.file.replace(document);
  }

  /** own-first. */
  async #change(connection: string, id: string, change: (facts: ModelFacts) => ModelFacts): Promise<void> {
    await this.#options.credentials.update(connection, (before: EntryFields = {}) => {
      const models = isObject(before['models']) ? (before['models'] as Record<string, ModelFacts>) : {};
      const { [id]: old = {}, ...others } = models;
      const facts = change(old);
      const next = Object.keys(facts).length === 0 ? others : { ...models, [id]: facts };
      return { models: Object.keys(next).length === 0 ? null : next };
    });
  }

  /** The connections and adapters whose prices this provider of the price data has. */
  #namesFor(provider: string): string[] {
    const { gateway } = this.#options;
    const presets = new Map(gateway.connectionStore.presets().map(({ name, prices }) => [name, prices]));
    const named = gateway.connectionStore.list().filter(({ name, preset }) => (preset === null ? pricesAs(gateway, name) : presets.get(preset)) === provider);
    return named.map(({ name }) => name);
  }

  /** Every model that an entry names; what stands for several, only if it has a price. */
  #named(): string[] {
    return this.#options.gateway.connectionStore.list().flatMap(({ name, models }) => {
      const ids = Object.keys(models).filter((id) => !id.endsWith('*') || models[id]?.price !== undefined);
      return ids.map((id) => `${name}/${id}`);
    });
  }

  async #shown(name: string, usage?: Usage): Promise<ShownPrice> {
    const { connection, id } = this.#split(name);
    const known = this.#options.gateway.priceOf({ provider: connection, model: id });
    const stated = this.#options.gateway.statedWindow(connection, id);
    if (known === undefined)
      return { model: name, from: null, price: null, like: null, ...(stated !== undefined && { contextWindow: stated }), ...(usage && { costUsd: null }) };
    const { from, priced } = known;
    const contextWindow = stated ?? (await this.#options.data.contextWindow(priced.provider, priced.model)) ?? undefined;
    const price = await this.#options.data.rates(priced);
    const isKnown = price !== null || from === 'provider' || (await this.#options.data.knows(priced.provider, priced.model));
    return {
      model: name,
      from: isKnown ? from : null,
      price,
      like: from === 'own' ? likeOf(priced) : null,
      ...(contextWindow !== undefined && { contextWindow }),
      ...(usage && { costUsd: await this.#options.data.price({ ...priced, usage }) }),
    };
  }

  /** Throws INVALID_REQUEST for no name of a model, and CONNECTION_NOT_FOUND. */
  #split(model: string): { readonly connection: string; readonly id: string; readonly name: string } {
    const slash = model.indexOf('/');
    const id = model.slice(slash + 1);
    if (slash < 1 || id === '' || id.length > MAX_MODEL) throw invalidRequest('model', 'must be connection/model');
    if (id.slice(0, -1).includes('*')) throw invalidRequest('model', 'may have one *, at its end');
    const connection = this.#options.gateway.adapterIdOf(model.slice(0, slash));
    if (connection === undefined)
      throw new BlockhouseError(
        'CONNECTION_NOT_FOUND',
        'The name before the slash is neither that of a provider nor of a connection of auth.json; `blockhouse auth set <id>` adds one.',
      );
    return { connection, id, name: `${connection}/${id}` };
  }

  /** True if the price data have a price of provider/model. */
  isKnown(name: string): Promise<boolean> {
    const slash = name.indexOf('/');
    return this.#options.data.knows(name.slice(0, slash), name.slice(slash + 1));
  }

  async #assertKnown(price: string): Promise<void> {
    if (!(await this.isKnown(price))) throw invalidRequest('price', 'names no model that the price data have; it is provider/model');
  }
}

function pricesAs(gateway: PriceStoreOptions['gateway'], name: string): string | undefined {
  const adapter: Adapter = gateway.adapter(name);
  return adapter.connection === undefined ? adapter.pricesAs : undefined;
}

function likeOf({ provider, model, rates }: PricedModel): string | null {
  return rates !== undefined || provider === 'free' ? null : `${provider}/${model}`;
}
