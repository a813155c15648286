// models.json of the workspace: read again when it changes, and changed by one writer.
//
// last-good: a damaged file never counts as an empty one. The last good content stays in use, and the bus reports the damage. If there never was good
//   content, only provider/model has a meaning: every other name is refused with an error that names the file, but not its path, which applications must not see.
import { join } from 'node:path';
import { parseBytes } from '../base/strict-json.ts';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError } from '../errors.ts';
import { type FileState, FreshFile } from '../store/files/fresh-file.ts';
import { type AdapterIdOf, EMPTY_TABLE, type ModelsDocument, type ModelTable, parseModelTable } from './model-table.ts';

/** The name of the file in a workspace. */
export const MODELS_FILE = 'models.json';

/** What the file works with. */
export interface ModelsFileOptions {
  readonly workspace: string;
  readonly bus: CoreBus;
  readonly adapterIds: readonly string[];
  readonly adapterIdOf: AdapterIdOf;
  /** Monotonic milliseconds. */
  readonly now?: (() => number) | undefined;
}

interface Good {
  readonly document: ModelsDocument;
  readonly table: ModelTable;
}

/** The aliases and the default provider of a workspace. */
export class ModelsFile {
  readonly #options: ModelsFileOptions;
  readonly #file: FreshFile;
  #good: Good | undefined;
  #fault: string | undefined;

  constructor(options: ModelsFileOptions) {
    this.#options = options;
    this.#file = new FreshFile(join(options.workspace, MODELS_FILE), (state) => this.#take(state), options.now);
  }

  /** The present content. The same object until it changes. Throws WORKSPACE_DAMAGED if the file was never good (last-good). */
  table(): ModelTable {
    return this.#current().table;
  }

  /** The present content; undefined if the file was never good (last-good). */
  lastGood(): ModelTable | undefined {
    this.#file.refresh();
    return this.#good?.table;
  }

  /** The document as it is written. Throws as `table` does. */
  document(): ModelsDocument {
    return this.#current().document;
  }

  /** What is wrong with the file now; undefined if nothing is. */
  fault(): string | undefined {
    this.#file.refresh();
    return this.#fault;
  }

  /** Sets an alias, or removes it with `undefined`. Resolves with false if there was none to remove. Throws INVALID_REQUEST, or WORKSPACE_DAMAGED for a file that can't be read. */
  async setAlias(name: string, targets: readonly string[] | undefined): Promise<boolean> {
    return this.#change((document) => {
      const { [name]: _old, ...others } = document.aliases ?? {};
      if (targets === undefined && !Object.hasOwn(document.aliases ?? {}, name)) return undefined;
      const [first, ...more] = targets ?? [];
      const aliases = first === undefined ? others : { ...document.aliases, [name]: more.length === 0 ? first : [first, ...more] };
      return { ...document, aliases };
    });
  }

  /** Sets the default provider, or removes it with `undefined`. Throws as `setAlias` does. */
  async setDefault(provider: string | undefined): Promise<void> {
    await this.#change(({ defaultProvider: _old, ...others }) => (provider === undefined ? others : { defaultProvider: provider, ...others }));
  }

  /** False if there is nothing to change. */
  async #change(change: (document: ModelsDocument) => ModelsDocument | undefined): Promise<boolean> {
    let isChanged = false;
    await this.#file.rewrite(() => {
      if (this.#fault !== undefined) throw this.#damage(); // overwriting a file that can't be read would lose its content
      const next = change(this.#good?.document ?? {});
      isChanged = next !== undefined;
      if (next === undefined) return undefined;
      parseModelTable(next, this.#options.adapterIdOf, this.#options.adapterIds);
      return `${JSON.stringify(next, null, 2)}\n`;
    });
    return isChanged;
  }

  #current(): Good {
    this.#file.refresh();
    if (this.#good === undefined) throw this.#damage();
    return this.#good;
  }

  #damage(): BlockhouseError {
    return new BlockhouseError('WORKSPACE_DAMAGED', `${MODELS_FILE} of the workspace can't be used: ${this.#fault}. Repair it or remove it.`);
  }

  #take(state: FileState): void {
    const { adapterIdOf, adapterIds, bus } = this.#options;
    try {
      this.#good = parseModels(state, adapterIdOf, adapterIds);
      this.#fault = undefined;
    } catch (error) {
      this.#fault = (error as Error).message;
      bus.emit('models.damaged', { file: this.#file.path, reason: this.#fault });
    }
  }
}

/** Reads the file as it was found. Throws an Error that says what is wrong, without a full stop. */
export function parseModels(state: FileState, adapterIdOf: AdapterIdOf, adapterIds: readonly string[]): { document: ModelsDocument; table: ModelTable } {
  if (state.kind === 'missing') return { document: {}, table: EMPTY_TABLE };
  if (state.kind === 'unreadable') throw new Error(state.reason);
  const document = parseBytes(Buffer.from(state.text));
  try {
    return { document: document as ModelsDocument, table: parseModelTable(document, adapterIdOf, adapterIds) };
  } catch (error) {
    throw new Error((error as Error).message.replace(/\.$/, ''), { cause: error });
  }
}
