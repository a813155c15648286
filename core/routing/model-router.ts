// Finds the provider and the model that a client's model name means. The first way that fits wins: an alias of models.json, provider/model, a model of a
// provider's list, the prefix of the name, the default provider.
import { BlockhouseError, invalidRequest } from '../errors.ts';
import type { Adapter } from '../ports.ts';
import { ModelLists } from './model-lists.ts';
import { type AdapterIdOf, EMPTY_TABLE, type ModelTable } from './model-table.ts';
import type { ModelsFile } from './models-file.ts';
import { type ResolvedModel, resolveByPrefix, resolveNamed } from './resolve-model.ts';

/** As in `/v1/chat`. */
const MAX_NAME_CHARACTERS = 2048;

/** What a router works with. */
export interface ModelRouterOptions {
  readonly adapters: readonly Adapter[];
  readonly adapterIdOf: AdapterIdOf;
  /** Undefined without a workspace. */
  readonly file: ModelsFile | undefined;
  /** The model ids of an adapter that must be asked for them; none if it finds no credential. May reject. `signal` says that nobody waits any more. */
  fetchModels(adapter: string, signal: AbortSignal): Promise<readonly string[]>;
  /** True if the adapter could be called now, as far as its settings tell. */
  isConfigured(adapter: string): boolean;
  /** True if only a search tells whether it has a credential. */
  mustSearch(adapter: string): boolean;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** The names of the connections; a bare name never leads to one, except by an alias or as the default provider. */
  connections?(): readonly string[];
  /** The model ids that a connection offers. May reject. */
  offeredBy?(connection: string): Promise<readonly string[]>;
}

/** One name that clients may send. */
export interface OfferedModel {
  readonly id: string;
  /** The provider that answers first. */
  readonly adapter: string;
}

/** Resolves model names. */
export class ModelRouter {
  readonly #options: ModelRouterOptions;
  readonly #lists: ModelLists;
  #offered: { readonly of: readonly unknown[]; readonly list: readonly OfferedModel[] } | undefined;

  constructor(options: ModelRouterOptions) {
    this.#options = options;
    this.#lists = new ModelLists({ load: (adapter, signal) => options.fetchModels(adapter, signal), now: options.now });
  }

  /** Aliases and settings as they are now. Throws WORKSPACE_DAMAGED if models.json was never good. */
  table(): ModelTable {
    return this.#options.file?.table() ?? EMPTY_TABLE;
  }

  /** True if requests to the adapter are translated although it speaks their protocol. */
  isTranslated(adapter: string): boolean {
    return this.#lastGood()?.translated.has(adapter) === true;
  }

  /** What an alias or provider/model means; undefined for other names. Throws INVALID_REQUEST for a name that is longer than any. */
  named(name: string): ResolvedModel | undefined {
    if (name.length > MAX_NAME_CHARACTERS) throw invalidRequest('model', `must be a name of at most ${MAX_NAME_CHARACTERS} characters`);
    return resolveNamed(name, this.#lastGood() ?? EMPTY_TABLE, this.#options.adapterIdOf);
  }

  /** What a name means. Asks a local daemon for its models if the name needs it. Rejects with INVALID_REQUEST, MODEL_NOT_FOUND, WORKSPACE_DAMAGED. */
  async resolve(name: string): Promise<ResolvedModel> {
    const named = this.named(name);
    if (named !== undefined) return named;
    const table = this.table();
    const resolved = (await this.#inLists(name)) ?? resolveByPrefix(name, this.#options.adapters);
    if (resolved !== undefined) return resolved;
    if (table.defaultProvider !== undefined) return { by: 'default', targets: [{ adapter: table.defaultProvider, model: name }] };
    throw notFound(name, this.#options.adapters);
  }

  /** Every name that is offered: the aliases that are no patterns, and provider/model for each model of each adapter that could be called now. The same object until it changes. */
  async offered(): Promise<readonly OfferedModel[]> {
    const { adapters, isConfigured } = this.#options;
    const table = this.table();
    const { connections = () => [], offeredBy = async () => [] } = this.#options;
    const ofAdapters = adapters.filter(({ id }) => isConfigured(id)).map(async (adapter) => ({ id: adapter.id, models: await this.#modelsOf(adapter) }));
    const ofConnections = connections()
      .filter((id) => isConfigured(id))
      .map(async (id) => ({ id, models: await offeredBy(id) }));
    const lists = await Promise.all([...ofAdapters, ...ofConnections]);
    const of = [table, ...lists.flatMap(({ id, models }) => [id, models])];
    if (this.#offered?.of.length !== of.length || !of.every((part, index) => part === this.#offered?.of[index]))
      this.#offered = { of, list: allNames(table, lists) };
    return this.#offered.list;
  }

  #lastGood(): ModelTable | undefined {
    const { file } = this.#options;
    return file === undefined ? EMPTY_TABLE : file.lastGood();
  }

  async #inLists(name: string): Promise<ResolvedModel | undefined> {
    for (const adapter of this.#options.adapters) {
      if (adapter.curatedModels?.includes(name) === true) return { by: 'list', targets: [{ adapter: adapter.id, model: name }] };
    }
    for (const { id, curatedModels } of this.#options.adapters) {
      if (curatedModels !== undefined || !this.#options.isConfigured(id)) continue;
      const models = this.#lists.fresh(id) ?? (await this.#lists.of(id));
      // A local daemon lists a model that was pulled without a tag under the tag latest.
      if (models.includes(name) || models.includes(`${name}:latest`)) return { by: 'list', targets: [{ adapter: id, model: name }] };
    }
    return undefined;
  }

  async #modelsOf({ id, curatedModels }: Adapter): Promise<readonly string[]> {
    return curatedModels === undefined || this.#options.mustSearch(id) ? this.#lists.of(id) : curatedModels;
  }
}

function allNames({ aliases }: ModelTable, lists: readonly { readonly id: string; readonly models: readonly string[] }[]): OfferedModel[] {
  const ofAliases = [...aliases.values()].flatMap(({ name, targets: [first] }) => (first === undefined ? [] : [{ id: name, adapter: first.adapter }]));
  return [...ofAliases, ...lists.flatMap(({ id, models }) => models.map((model) => ({ id: `${id}/${model}`, adapter: id })))];
}

function notFound(name: string, adapters: readonly Adapter[]): BlockhouseError {
  const shown = JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
  return new BlockhouseError(
    'MODEL_NOT_FOUND',
    `No provider has a model ${shown}. Write provider/model, give the name an alias in models.json (\`blockhouse alias set\`), or set a defaultProvider there. The providers are ${adapters.map(({ id }) => id).join(', ')}, and the connections of auth.json.`,
  );
}
