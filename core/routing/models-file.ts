// models.json of the workspace.
//
// last-good: a damaged file never counts as an empty one. The last good content stays in use, and the bus reports the damage. If there never was good
//   content, only provider/model has a meaning: every other name is refused with an error that names the file, but not its path, which applications must not see.
// may-come-back: a connection comes and goes with auth.json. A name that leads to one that is not there is an error of that name alone, and only when it is used. What
//   is written here over the API must lead to something that is there.
import { isDeepStrictEqual } from 'node:util';
import { parseBytes } from '../base/strict-json.ts';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError } from '../errors.ts';
import type { Setting, SettingCodec, SettingState, SettingStore } from '../store/port.ts';
import type { FallbackClass } from '../gateway/fallback-classes.ts';
import {
  type AdapterIdOf,
  type AliasTarget,
  type AliasValue,
  EMPTY_TABLE,
  type ModelsDocument,
  type ModelTable,
  parseAlias,
  parseModelTable,
  parseProvider,
} from './model-table.ts';

/** The name of the file in a workspace. */
export const MODELS_FILE = 'models.json';

interface Models {
  readonly document: ModelsDocument;
  readonly table: ModelTable;
}

/** The aliases and the default provider of a workspace. */
export class ModelsFile {
  readonly #codec: ModelsCodec;
  readonly #setting: Setting<Models>;

  constructor(settings: SettingStore, codec: ModelsCodec, bus: CoreBus) {
    this.#codec = codec;
    this.#setting = settings.open('models', codec, ({ fault }) => {
      if (fault !== undefined) bus.emit('models.damaged', { file: this.#setting.place, reason: fault });
    });
  }

  /** The present content. The same object until it changes. Throws WORKSPACE_DAMAGED if the file was never good (last-good). */
  table(): ModelTable {
    return this.#current().table;
  }

  /** The present content; undefined if the file was never good (last-good). */
  lastGood(): ModelTable | undefined {
    return this.#setting.now().good?.table;
  }

  /** The document as it is written. Throws as `table` does. */
  document(): ModelsDocument {
    return this.#current().document;
  }

  /** What is wrong with the file now; undefined if nothing is. */
  fault(): string | undefined {
    return this.#setting.now().fault;
  }

  /** Sets an alias, or removes it with `undefined`. Resolves with false if there was none to remove. Throws INVALID_REQUEST, or WORKSPACE_DAMAGED for a file that can't be read. */
  async setAlias(name: string, targets: readonly AliasTarget[] | undefined, on?: readonly FallbackClass[]): Promise<boolean> {
    if (targets !== undefined) this.#codec.checkAlias(name, targets); // may-come-back
    return this.#change((document) => {
      const { [name]: _old, ...others } = document.aliases ?? {};
      if (targets === undefined && !Object.hasOwn(document.aliases ?? {}, name)) return undefined;
      const aliases = targets === undefined ? others : { ...document.aliases, [name]: shortest(targets, on) };
      return { ...document, aliases };
    });
  }

  /** Sets the default provider, or removes it with `undefined`. Throws as `setAlias` does. */
  async setDefault(provider: string | undefined): Promise<void> {
    if (provider !== undefined) this.#codec.checkProvider(provider); // may-come-back
    await this.#change(({ defaultProvider: _old, ...others }) => (provider === undefined ? others : { defaultProvider: provider, ...others }));
  }

  /** What would not be adopted, because there is another alias or default provider. Throws as `table` does. */
  conflicting({ aliases = {}, defaultProvider }: ModelsDocument): { readonly aliases: readonly string[]; readonly defaultProvider: boolean } {
    const document = this.document();
    return {
      aliases: Object.keys(aliases).filter(
        (name) => Object.hasOwn(document.aliases ?? {}, name) && !isDeepStrictEqual(document.aliases?.[name], aliases[name]),
      ),
      defaultProvider: defaultProvider !== undefined && document.defaultProvider !== undefined && document.defaultProvider !== defaultProvider,
    };
  }

  /** Adds aliases and a default provider, in one write; what is there stays, unless `replaces`. Throws as `setAlias` does; a target may be a connection that is not there yet. */
  async adopt({ aliases = {}, defaultProvider }: ModelsDocument, replaces: boolean): Promise<void> {
    await this.#change((document) => {
      const others = document.aliases ?? {};
      const next = {
        ...document,
        ...(defaultProvider !== undefined && (replaces || document.defaultProvider === undefined) && { defaultProvider }),
        ...(Object.keys(aliases).length > 0 && { aliases: replaces ? { ...others, ...aliases } : { ...aliases, ...others } }),
      };
      return isDeepStrictEqual(next, document) ? undefined : next;
    });
  }

  /** False if there is nothing to change. */
  async #change(change: (document: ModelsDocument) => ModelsDocument | undefined): Promise<boolean> {
    return this.#setting.update((state) => {
      if (state.fault !== undefined) throw damage(state); // overwriting what can't be read would lose it
      const next = change(state.good?.document ?? {});
      return next && this.#codec.read(next);
    });
  }

  #current(): Models {
    const state = this.#setting.now();
    if (state.good === undefined) throw damage(state);
    return state.good;
  }
}

/** In its shortest form. */
function shortest(targets: readonly AliasTarget[], on: readonly FallbackClass[] | undefined): AliasValue {
  const [first] = targets;
  if (on !== undefined) return { targets, on };
  return targets.length === 1 && typeof first === 'string' ? first : targets;
}

function damage({ fault }: SettingState<Models>): BlockhouseError {
  return new BlockhouseError('WORKSPACE_DAMAGED', `${MODELS_FILE} of the workspace can't be used: ${fault}. Repair it or remove it.`);
}

/** How models.json is stored. */
export interface ModelsCodec extends SettingCodec<Models> {
  /** Throws INVALID_REQUEST naming the field. */
  read(document: unknown): Models;
  /** Throws INVALID_REQUEST for an alias that leads to nothing that is there now. */
  checkAlias(name: string, targets: readonly AliasTarget[]): void;
  /** Throws INVALID_REQUEST for what is no provider now. */
  checkProvider(name: string): void;
}

/** The codec for these providers. `mayBe`: what may be the name of a connection, whether there is one now or not (may-come-back). */
export function modelsCodec(adapterIdOf: AdapterIdOf, adapterIds: readonly string[], mayBe: (name: string) => boolean = () => false): ModelsCodec {
  const idOf: AdapterIdOf = (name) => adapterIdOf(name) ?? (mayBe(name) ? name : undefined);
  const read = (document: unknown): Models => ({ document: document as ModelsDocument, table: parseModelTable(document, idOf, adapterIds) });
  return {
    read,
    checkAlias: (name, targets) => void parseAlias(name, targets, adapterIdOf, adapterIds),
    checkProvider: (name) => void parseProvider(name, 'defaultProvider', adapterIdOf, adapterIds),
    parse: (text) => (text === undefined ? { document: {}, table: EMPTY_TABLE } : read(parseBytes(Buffer.from(text)))),
    format: ({ document }) => `${JSON.stringify(document, null, 2)}\n`,
  };
}
