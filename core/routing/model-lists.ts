// The model ids of providers that have no curated list, such as those of a local daemon, or whose credentials must be searched. Each list is asked for at most once at a time and kept for a
// short time. A provider that can't be reached has no models.

/** A model that was pulled a moment ago is found soon. */
const KEEP_MS = 30_000;
/** A daemon that was started a moment ago is found soon. */
const KEEP_FAILURE_MS = 5000;

/** What the lists work with. */
export interface ModelListsOptions {
  /** The model ids of an adapter. May reject. */
  load(adapter: string): Promise<readonly string[]>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

interface Known {
  readonly models: readonly string[];
  readonly until: number;
}

/** The live lists, by adapter. */
export class ModelLists {
  readonly #options: ModelListsOptions;
  readonly #known = new Map<string, Known>();
  readonly #asked = new Map<string, Promise<readonly string[]>>();

  constructor(options: ModelListsOptions) {
    this.#options = options;
  }

  /** The list if it is known and new enough. */
  fresh(adapter: string): readonly string[] | undefined {
    const known = this.#known.get(adapter);
    return known !== undefined && known.until > this.#options.now() ? known.models : undefined;
  }

  /** The list, which is asked for if it is too old. Empty if the provider can't be asked. */
  async of(adapter: string): Promise<readonly string[]> {
    const fresh = this.fresh(adapter);
    if (fresh !== undefined) return fresh;
    const asked = this.#asked.get(adapter) ?? this.#ask(adapter);
    this.#asked.set(adapter, asked);
    return asked;
  }

  async #ask(adapter: string): Promise<readonly string[]> {
    let known: Omit<Known, 'until'> & { readonly keepMs: number };
    try {
      known = { models: await this.#options.load(adapter), keepMs: KEEP_MS };
    } catch {
      // No daemon runs, or the provider has no key: the name may still be resolved in another way, and the call itself says what is wrong.
      known = { models: [], keepMs: KEEP_FAILURE_MS };
    }
    this.#known.set(adapter, { models: known.models, until: this.#options.now() + known.keepMs });
    this.#asked.delete(adapter);
    return known.models;
  }
}
